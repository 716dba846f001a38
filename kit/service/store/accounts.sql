-- Accounts: who pays, with a balance and totals that are always the sums of the ledger.

-- name: add
-- A new account; what it has comes with its entries.
INSERT INTO accounts (
    id, name, email, balance, created_at, charged, refunded, upload_bytes, sign_outs
) VALUES (:id, :name, :email, 0, :created_at, 0, 0, 0, 0)

-- name: find
-- One account.
SELECT * FROM accounts WHERE id = :id

-- name: lock
-- One account; whoever else changes it or holds it waits for the end of this transaction.
UPDATE accounts SET name = name WHERE id = :id RETURNING id

-- name: all
-- Every account, oldest first.
SELECT * FROM accounts ORDER BY id

-- name: sign_out
-- End every signed address that an account was given.
UPDATE accounts SET sign_outs = sign_outs + 1 WHERE id = :id

-- name: of_file
-- How often the account of a generation or an upload was signed out.
SELECT sign_outs FROM accounts WHERE id = (
    SELECT account_id FROM generations WHERE id = :id
    UNION ALL SELECT account_id FROM uploads WHERE id = :id
)

-- name: reserve
-- Set bytes aside for an upload, unless the account would keep more than `most`: then no row comes.
UPDATE accounts SET upload_bytes = upload_bytes + :size
WHERE id = :id AND upload_bytes + :size <= :most
RETURNING upload_bytes

-- name: release
-- Give back the bytes of an upload that is gone.
UPDATE accounts SET upload_bytes = upload_bytes - :size WHERE id = :id
