-- Accounts: each has a balance and totals that are always the sums of its ledger entries.

-- name: add
-- A new account without credits.
INSERT INTO accounts (
    id, name, email, balance, created_at, charged, refunded, upload_bytes, sign_outs
) VALUES (:id, :name, :email, 0, :created_at, 0, 0, 0, 0)

-- name: find
-- One account.
SELECT * FROM accounts WHERE id = :id

-- name: lock
-- Lock one account: other transactions that change or lock it wait for the end of this one.
UPDATE accounts SET name = name WHERE id = :id RETURNING id

-- name: all
-- Every account, oldest first.
SELECT * FROM accounts ORDER BY id

-- name: sign_out
-- Invalidate all signed URLs of an account.
UPDATE accounts SET sign_outs = sign_outs + 1 WHERE id = :id

-- name: of_file
-- The number of sign-outs of the account of a generation or an upload.
SELECT sign_outs FROM accounts WHERE id = (
    SELECT account_id FROM generations WHERE id = :id
    UNION ALL SELECT account_id FROM uploads WHERE id = :id
)

-- name: reserve
-- Reserve bytes for an upload; no row if the account would then store more than `most`.
UPDATE accounts SET upload_bytes = upload_bytes + :size
WHERE id = :id AND upload_bytes + :size <= :most
RETURNING upload_bytes

-- name: release
-- Release the bytes of a removed upload.
UPDATE accounts SET upload_bytes = upload_bytes - :size WHERE id = :id
