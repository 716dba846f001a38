-- Reads that do not grow with the history: running totals, and an index for every filter.

ALTER TABLE accounts ADD COLUMN charged BIGINT DEFAULT 0 NOT NULL;
ALTER TABLE accounts ADD COLUMN refunded BIGINT DEFAULT 0 NOT NULL;
ALTER TABLE keys ADD COLUMN spent BIGINT DEFAULT 0 NOT NULL;
ALTER TABLE keys ADD COLUMN spent_since BIGINT DEFAULT 0 NOT NULL;
ALTER TABLE ledger ADD COLUMN charged_after BIGINT DEFAULT 0 NOT NULL;
ALTER TABLE ledger ADD COLUMN refunded_after BIGINT DEFAULT 0 NOT NULL;

UPDATE ledger SET charged_after = totals.charged, refunded_after = totals.refunded
FROM (
    SELECT
        id,
        sum(CASE WHEN millicredits < 0 THEN -millicredits ELSE 0 END)
            OVER (PARTITION BY account_id ORDER BY id) AS charged,
        sum(CASE WHEN kind = 'refund' THEN millicredits ELSE 0 END)
            OVER (PARTITION BY account_id ORDER BY id) AS refunded
    FROM ledger
) AS totals
WHERE totals.id = ledger.id;

UPDATE accounts SET charged = totals.charged, refunded = totals.refunded
FROM (
    SELECT account_id, max(charged_after) AS charged, max(refunded_after) AS refunded
    FROM ledger GROUP BY account_id
) AS totals
WHERE totals.account_id = accounts.id;

-- What a key with a cap has spent in the month that it is, less what was given back of it; the ids
-- of what was started since then come after the month's first moment in the letters of an id.
UPDATE keys SET spent_since = month.since, spent = coalesce((
    SELECT -sum(millicredits) FROM ledger
    WHERE ledger.key_id = keys.id AND ledger.created_at >= month.since
        AND (kind <> 'refund' OR generation_id >= month.first)
), 0)
FROM (
    WITH
        now(since) AS (SELECT CAST(strftime('%s', 'now', 'start of month') AS INTEGER) * 1000),
        id(letters) AS (SELECT '0123456789ABCDEFGHJKMNPQRSTVWXYZ')
    SELECT since, 'gen_'
        || substr(letters, (since >> 45 & 31) + 1, 1) || substr(letters, (since >> 40 & 31) + 1, 1)
        || substr(letters, (since >> 35 & 31) + 1, 1) || substr(letters, (since >> 30 & 31) + 1, 1)
        || substr(letters, (since >> 25 & 31) + 1, 1) || substr(letters, (since >> 20 & 31) + 1, 1)
        || substr(letters, (since >> 15 & 31) + 1, 1) || substr(letters, (since >> 10 & 31) + 1, 1)
        || substr(letters, (since >> 5 & 31) + 1, 1) || substr(letters, (since & 31) + 1, 1) AS first
    FROM now, id
) AS month
WHERE cap IS NOT NULL;
DROP INDEX ledger_by_key;
DROP INDEX titles_by_topic;
CREATE INDEX titles_by_topic ON titles (account_id, topic, id);
DROP INDEX generations_by_state;
CREATE INDEX generations_by_state ON generations (account_id, state, asset_type, id);
CREATE INDEX generations_by_model_and_state
    ON generations (account_id, model_id, state, asset_type, id);
