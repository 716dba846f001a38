-- Answers that are kept for replay.

-- name: find
-- What is known of a request.
SELECT * FROM idempotency WHERE account_id = :account_id AND key = :key

-- name: begin
-- A request that runs; what its key stood for is forgotten when its time is over: then, and when
-- the key is new, a row comes back. Who asks for the same meanwhile waits for the end of this one.
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
-- The answer of a request that was running.
UPDATE idempotency SET status = :status, headers = :headers, body = :body
WHERE account_id = :account_id AND key = :key

-- name: release
-- Forget a request only while it has no answer: what was charged stays said.
DELETE FROM idempotency WHERE account_id = :account_id AND key = :key AND status IS NULL

-- name: prune
-- Forget answers that are older than a moment.
DELETE FROM idempotency WHERE created_at < :before

-- name: abandoned
-- Forget requests that were running when their process ended: a charge would have left an answer.
DELETE FROM idempotency WHERE status IS NULL AND created_at < :before

-- name: disowned
-- Forget requests that a run of the service was working at.
DELETE FROM idempotency WHERE status IS NULL AND owner = :owner

-- name: owners
-- The runs of the service that work at requests.
SELECT DISTINCT owner FROM idempotency WHERE status IS NULL
