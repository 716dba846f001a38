-- The credit ledger: entries are added, never changed.

-- name: enter (postgresql)
-- Change an account's balance and add an entry, as below.
WITH moved AS (
    UPDATE accounts
    SET balance = balance + :amount, charged = charged + :charged, refunded = refunded + :refunded
    WHERE id = :account_id AND balance + :amount >= 0
    RETURNING balance, charged, refunded
)
INSERT INTO ledger (
    id, account_id, kind, subject, millicredits, balance_after, generation_id, model_id, key_id,
    key_prefix, details, tags, created_at, charged_after, refunded_after
)
SELECT
    :id, :account_id, :kind, :subject, :amount, balance, :generation_id, :model_id, :key_id,
    :key_prefix, :details, :tags, :created_at, charged, refunded
FROM moved
RETURNING balance_after

-- name: enter
-- Change an account's balance by a signed amount and add an entry; no row if the balance would fall
-- below zero. `charged` and `refunded` are the parts of the amount that are a charge or a refund.
UPDATE accounts
SET balance = balance + :amount, charged = charged + :charged, refunded = refunded + :refunded
WHERE id = :account_id AND balance + :amount >= 0;
INSERT INTO ledger (
    id, account_id, kind, subject, millicredits, balance_after, generation_id, model_id, key_id,
    key_prefix, details, tags, created_at, charged_after, refunded_after
)
SELECT
    :id, :account_id, :kind, :subject, :amount, balance, :generation_id, :model_id, :key_id,
    :key_prefix, :details, :tags, :created_at, charged, refunded
FROM accounts WHERE id = :account_id AND changes() = 1
RETURNING balance_after

-- name: page
-- An account's entries before an id, newest first, as a range of one index.
SELECT * FROM ledger
WHERE (account_id, id) >= (:account_id, '') AND (account_id, id) < (:account_id, :before)
ORDER BY account_id DESC, id DESC LIMIT :most

-- name: totals_before
-- The totals after an account's last entries before an id, as a range of one index. They only grow,
-- and entries of the same time may not be in order.
SELECT
    coalesce(max(charged_after), 0) AS charged_after,
    coalesce(max(refunded_after), 0) AS refunded_after
FROM (
    SELECT charged_after, refunded_after FROM ledger
    WHERE (account_id, id) >= (:account_id, '') AND (account_id, id) < (:account_id, :before)
    ORDER BY account_id DESC, id DESC LIMIT 50
) AS span

-- name: sums
-- Sums of all accounts by kind between two ids, with the last id included.
SELECT kind, CAST(sum(millicredits) AS BIGINT) AS total, max(id) AS last
FROM (
    SELECT id, kind, millicredits FROM ledger
    WHERE id > :after AND id < :until ORDER BY id LIMIT :most
) AS span
GROUP BY kind

-- name: unbalanced
-- Accounts whose balance or totals are not the sums of their entries; there should be none.
SELECT * FROM (
    SELECT
        accounts.id, balance, charged, refunded,
        CAST(coalesce(sum(millicredits), 0) AS BIGINT) AS total,
        CAST(coalesce(sum(CASE WHEN millicredits < 0 THEN -millicredits ELSE 0 END), 0) AS BIGINT)
            AS debits,
        CAST(coalesce(sum(CASE WHEN kind = 'refund' THEN millicredits ELSE 0 END), 0) AS BIGINT)
            AS refunds
    FROM accounts LEFT JOIN ledger ON ledger.account_id = accounts.id
    GROUP BY accounts.id, balance, charged, refunded
) AS sums
WHERE balance <> total OR charged <> debits OR refunded <> refunds

-- name: broken
-- Balances that are the result of an entry but not continued by one, or the other way around. Each
-- entry continues from the balance of another, from 0 to the current balance; the order does not
-- matter, because two processes may write entries in another order than that of their ids.
SELECT account_id, value, sum(step) AS steps
FROM (
    SELECT id AS account_id, 0 AS value, 1 AS step FROM accounts
    UNION ALL SELECT account_id, balance_after, 1 FROM ledger
    UNION ALL SELECT account_id, balance_after - millicredits, -1 FROM ledger
    UNION ALL SELECT id, balance, -1 FROM accounts
) AS balances
GROUP BY account_id, value
HAVING sum(step) <> 0
ORDER BY account_id, value

-- name: mischarged
-- Generations whose charges or refunds differ from their row, and failed ones without a full
-- refund.
-- Sums come before the join; otherwise an account's entries would be read for each generation. No
-- order: to avoid a sort, PostgreSQL would compare each generation with each sum.
SELECT
    generations.id, generations.account_id, generations.millicredits, refunded, state,
    coalesce(sums.charged, 0) AS charged, coalesce(sums.given, 0) AS given
FROM generations LEFT JOIN (
    SELECT
        generation_id, account_id,
        CAST(sum(CASE WHEN kind = 'generation' THEN -millicredits ELSE 0 END) AS BIGINT)
            AS charged,
        CAST(sum(CASE WHEN kind = 'refund' THEN millicredits ELSE 0 END) AS BIGINT) AS given
    FROM ledger WHERE generation_id IS NOT NULL
    GROUP BY generation_id, account_id
) AS sums ON sums.generation_id = generations.id AND sums.account_id = generations.account_id
WHERE coalesce(sums.charged, 0) <> generations.millicredits
    OR coalesce(sums.given, 0) <> refunded
    OR (state = 'failed' AND refunded <> generations.millicredits)

-- name: unfounded
-- Entries whose subject does not exist or belongs to another account.
SELECT id, account_id, kind, subject FROM ledger
WHERE
    (kind IN ('generation', 'refund') AND NOT EXISTS (
        SELECT 1 FROM generations
        WHERE generations.id = ledger.generation_id AND generations.account_id = ledger.account_id
    ))
    OR (kind = 'title' AND NOT EXISTS (
        SELECT 1 FROM titles
        WHERE titles.id = ledger.subject AND titles.account_id = ledger.account_id
    ))
    OR (kind = 'script' AND subject NOT IN (SELECT batch_id FROM scripts))
ORDER BY id
