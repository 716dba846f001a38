-- API keys; only their HMAC is stored.

-- name: add
-- A new key.
INSERT INTO keys (
    id, account_id, name, prefix, digest, scopes, cap, created_at, expires_at, spent, spent_since
) VALUES (
    :id, :account_id, :name, :prefix, :digest, :scopes, :cap, :created_at, :expires_at, 0, 0
)
RETURNING *

-- name: find
-- One key.
SELECT * FROM keys WHERE id = :id

-- name: by_digest
-- The key of a request, and the number of sign-outs of its account.
-- A join would take SQLite three times as long, because it is planned again for each call.
SELECT *, (SELECT sign_outs FROM accounts WHERE accounts.id = keys.account_id) AS sign_outs
FROM keys WHERE digest = :digest

-- name: all
-- Every key, oldest first.
SELECT * FROM keys ORDER BY id

-- name: of_account
-- The keys of an account, oldest first.
SELECT * FROM keys WHERE account_id = :account_id ORDER BY id

-- name: active
-- The number of valid keys of an account.
SELECT count(*) AS active FROM keys
WHERE account_id = :account_id
    AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > :now)

-- name: revoke
-- Revoke a key; no row if it was revoked before.
UPDATE keys SET revoked_at = :now WHERE id = :id AND revoked_at IS NULL RETURNING id

-- name: touch
-- Store the time of a key's last use.
UPDATE keys SET last_used_at = :now WHERE id = :id

-- name: spend
-- Add to the spending of a key in the month that began at `month`; no row if it exceeds the cap.
-- A stored month that began after `latest` comes from a clock that was ahead.
UPDATE keys SET
    spent = CASE WHEN spent_since BETWEEN :month AND :latest THEN spent ELSE 0 END + :amount,
    spent_since = CASE WHEN spent_since BETWEEN :month AND :latest THEN spent_since ELSE :month END
WHERE id = :id
    AND CASE WHEN spent_since BETWEEN :month AND :latest THEN spent ELSE 0 END + :amount <= cap
RETURNING spent

-- name: unspend
-- Subtract a refund.
UPDATE keys SET spent = spent - :amount WHERE id = :id
