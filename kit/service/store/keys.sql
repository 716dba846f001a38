-- API keys, of which only an HMAC is kept.

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
-- The key of a request, and how often its account was signed out.
-- Not a join, which SQLite takes three times as long for: it plans it anew at each call.
SELECT *, (SELECT sign_outs FROM accounts WHERE accounts.id = keys.account_id) AS sign_outs
FROM keys WHERE digest = :digest

-- name: all
-- Every key, oldest first.
SELECT * FROM keys ORDER BY id

-- name: of_account
-- The keys of an account, oldest first.
SELECT * FROM keys WHERE account_id = :account_id ORDER BY id

-- name: active
-- How many keys of an account work just now.
SELECT count(*) AS active FROM keys
WHERE account_id = :account_id
    AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > :now)

-- name: revoke
-- Make a key useless; no row comes back when it was before.
UPDATE keys SET revoked_at = :now WHERE id = :id AND revoked_at IS NULL RETURNING id

-- name: touch
-- Note when a key was last used.
UPDATE keys SET last_used_at = :now WHERE id = :id

-- name: spend
-- Count what a key spends in a month that began then; no row comes back when its cap is below that.
-- A month that began after the latest one is of a clock that was ahead.
UPDATE keys SET
    spent = CASE WHEN spent_since BETWEEN :month AND :latest THEN spent ELSE 0 END + :amount,
    spent_since = CASE WHEN spent_since BETWEEN :month AND :latest THEN spent_since ELSE :month END
WHERE id = :id
    AND CASE WHEN spent_since BETWEEN :month AND :latest THEN spent ELSE 0 END + :amount <= cap
RETURNING spent

-- name: unspend
-- Take off what is given back.
UPDATE keys SET spent = spent - :amount WHERE id = :id
