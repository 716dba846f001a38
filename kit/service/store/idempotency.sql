-- Answers that are kept for replay.

-- name: find
-- What is known of a request.
SELECT * FROM idempotency WHERE account_id = :account_id AND key = :key

-- name: add
-- A request with its answer, or without one while it runs; an old one under its key is forgotten.
INSERT INTO idempotency (account_id, key, fingerprint, status, headers, body, created_at, owner)
VALUES (:account_id, :key, :fingerprint, :status, :headers, :body, :created_at, :owner)
ON CONFLICT (account_id, key) DO UPDATE SET
    fingerprint = excluded.fingerprint,
    status = excluded.status,
    headers = excluded.headers,
    body = excluded.body,
    created_at = excluded.created_at,
    owner = excluded.owner

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
