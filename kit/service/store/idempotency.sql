-- Stored responses of requests with an idempotency key.

-- name: find
-- The stored request of a key.
SELECT * FROM idempotency WHERE account_id = :account_id AND key = :key

-- name: begin
-- Mark a request as running, replacing an expired one; returns a row then and if the key is new.
-- A concurrent transaction for the same key waits for the end of this one.
INSERT INTO idempotency (account_id, key, fingerprint, created_at, owner)
VALUES (:account_id, :key, :fingerprint, :now, :owner)
ON CONFLICT (account_id, key) DO UPDATE SET
    fingerprint = excluded.fingerprint,
    status = NULL,
    headers = NULL,
    body = NULL,
    created_at = excluded.created_at,
    owner = excluded.owner
WHERE idempotency.created_at < :kept_since
    OR (idempotency.status IS NULL AND idempotency.created_at < :running_since)
RETURNING key

-- name: keep
-- Store the response of a running request.
UPDATE idempotency SET status = :status, headers = :headers, body = :body
WHERE account_id = :account_id AND key = :key

-- name: release
-- Remove a request only while it has no response: the record of a charge stays.
DELETE FROM idempotency WHERE account_id = :account_id AND key = :key AND status IS NULL

-- name: prune
-- Remove some responses that are older than a time.
DELETE FROM idempotency WHERE created_at < :before AND created_at <= coalesce((
    SELECT created_at FROM idempotency WHERE created_at < :before
    ORDER BY created_at LIMIT 1 OFFSET 999
), :before)
RETURNING 1 AS removed

-- name: abandoned
-- Remove requests that were running when their process ended: a charge would have left a response.
DELETE FROM idempotency WHERE status IS NULL AND created_at < :before

-- name: disowned
-- Remove the running requests of a service process.
DELETE FROM idempotency WHERE status IS NULL AND owner = :owner

-- name: owners
-- The service processes with running requests.
SELECT DISTINCT owner FROM idempotency WHERE status IS NULL
