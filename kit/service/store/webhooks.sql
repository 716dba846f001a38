-- Webhooks for the ends of generations, and their deliveries.

-- name: add
-- A webhook of an account, or of one generation.
INSERT INTO webhooks (
    id, account_id, generation_id, url, secret_number, rotated_at, created_at
) VALUES (:id, :account_id, :generation_id, :url, 0, 0, :now)
RETURNING *

-- name: of_account
-- The endpoints of an account, oldest first.
SELECT * FROM webhooks WHERE generation_id = '' AND account_id = :account_id ORDER BY id

-- name: find
-- One webhook of an account.
SELECT * FROM webhooks WHERE id = :id AND account_id = :account_id

-- name: rotate
-- Increment the secret number of a webhook; for single requests, the first call adds the row.
INSERT INTO webhooks (id, account_id, generation_id, url, secret_number, rotated_at, created_at)
VALUES (:id, :account_id, 'requests', '', 1, :now, :now)
ON CONFLICT (id) DO UPDATE SET
    secret_number = webhooks.secret_number + 1, rotated_at = excluded.rotated_at
RETURNING *

-- name: disable
-- Disable a webhook whose receiver is permanently gone.
UPDATE webhooks SET disabled_at = :now WHERE id = :id AND disabled_at IS NULL

-- name: remove
-- Remove a webhook.
DELETE FROM webhooks WHERE id = :id

-- name: remove_deliveries
-- Remove the deliveries of a webhook.
DELETE FROM deliveries WHERE webhook_id = :id

-- name: announce
-- Queue the end of a generation for its webhooks; if an account has `most` pending ones, add it
-- as failed.
INSERT INTO deliveries (
    id, webhook_id, account_id, generation_id, state, attempts, due_at, error
)
SELECT
    CAST(:generation_id AS TEXT) || '_' || id, id, account_id, CAST(:generation_id AS TEXT),
    CASE WHEN waiting.number < CAST(:most AS BIGINT) THEN 'pending' ELSE 'failed' END,
    0, CAST(:now AS BIGINT),
    CASE WHEN waiting.number < CAST(:most AS BIGINT) THEN NULL ELSE 'too many were waiting' END
FROM webhooks, (
    SELECT count(*) AS number FROM (
        SELECT 1 AS one FROM deliveries
        WHERE account_id = :account_id AND state = 'pending' LIMIT :most
    ) AS found
) AS waiting
WHERE generation_id IN ('', :generation_id) AND account_id = :account_id AND disabled_at IS NULL

-- name: next
-- When the next delivery is due.
SELECT due_at FROM deliveries WHERE state = 'pending' ORDER BY due_at LIMIT 1

-- name: claim (postgresql)
-- The same as `claim`, skipping rows that another service is claiming.
UPDATE deliveries SET due_at = :lease_until, attempts = attempts + 1
WHERE id = ANY(ARRAY(
    SELECT id FROM deliveries
    WHERE state = 'pending' AND due_at <= :now
        AND strpos(:others, ',' || account_id || ',') = 0
    ORDER BY due_at LIMIT 1
    FOR UPDATE SKIP LOCKED
))
RETURNING *

-- name: claim
-- Claim the delivery that is due first, skipping some accounts; it is due again after the lease if
-- this service is lost.
UPDATE deliveries SET due_at = :lease_until, attempts = attempts + 1
WHERE id = (
    SELECT id FROM deliveries
    WHERE state = 'pending' AND due_at <= :now
        AND instr(:others, ',' || account_id || ',') = 0
    ORDER BY due_at LIMIT 1
)
RETURNING *

-- name: settle
-- Store the result of an attempt, unless another service has claimed it meanwhile.
UPDATE deliveries SET state = :state, due_at = :due_at, error = :error
WHERE id = :id AND attempts = :attempts AND state = 'pending'
RETURNING id

-- name: fail
-- Fail the pending deliveries of a webhook.
UPDATE deliveries SET state = 'failed', error = :error
WHERE webhook_id = :id AND state = 'pending'
RETURNING id

-- name: resend
-- Retry the failed deliveries of a webhook from the start.
UPDATE deliveries SET state = 'pending', attempts = 0, due_at = :now
WHERE webhook_id = :id AND state = 'failed'
RETURNING id

-- name: pending
-- The number of pending deliveries.
SELECT count(*) AS number FROM deliveries WHERE state = 'pending'

-- name: counts
-- The number of deliveries of a webhook by state.
SELECT state, count(*) AS number FROM deliveries WHERE webhook_id = :id GROUP BY state

-- name: recall
-- Make deliveries due that are scheduled later than any retry: a clock was ahead.
UPDATE deliveries SET due_at = :now WHERE state = 'pending' AND due_at > :latest

-- name: prune
-- Remove some deliveries of old generations.
DELETE FROM deliveries WHERE id < :before AND id <= coalesce((
    SELECT id FROM deliveries WHERE id < :before ORDER BY id LIMIT 1 OFFSET 999
), :before)
RETURNING 1 AS removed

-- name: prune_requests
-- Remove some webhooks of old generations.
DELETE FROM webhooks
WHERE generation_id >= 'gen_' AND generation_id < :before AND generation_id <= coalesce((
    SELECT generation_id FROM webhooks
    WHERE generation_id >= 'gen_' AND generation_id < :before
    ORDER BY generation_id LIMIT 1 OFFSET 999
), :before)
RETURNING 1 AS removed
