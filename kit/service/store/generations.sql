-- Generations; the table is also the queue.
-- Changes by a worker require the attempt that it claimed: a stale worker changes nothing.
-- States are literals for partial indexes: the database must see the value to use one.

-- name: add
-- A generation that is queued, or already claimed by a worker.
INSERT INTO generations (
    id, account_id, key_id, state, asset_type, generation_type, model_id, model_name, prompt,
    parameters, media, seed, millicredits, refunded, progress, attempt, losses, queue_round, owner,
    lease_until, error, error_code, output, created_at, updated_at, started_at, completed_at,
    outputs_deleted_at, tags, file_metadata
) VALUES (
    :id, :account_id, :key_id, :state, :asset_type, :generation_type, :model_id, :model_name,
    :prompt, :parameters, :media, :seed, :millicredits, :refunded, :progress, :attempt, :losses,
    :queue_round, :owner, :lease_until, :error, :error_code, :output, :created_at, :updated_at,
    :started_at, :completed_at, :outputs_deleted_at, :tags, :file_metadata
)

-- name: find
-- One generation of an account.
SELECT * FROM generations WHERE id = :id AND account_id = :account_id

-- name: version
-- The columns that show whether a cached response is still valid.
SELECT id, state, updated_at, progress FROM generations
WHERE id = :id AND account_id = :account_id

-- name: result
-- The columns that determine the files of a generation.
SELECT id, state, output, outputs_deleted_at FROM generations WHERE id = :id

-- name: rounds
-- The first round of the queue, that of an account's newest generation, and those of its newest
-- queued ones, one of each type.
SELECT
    (SELECT queue_round FROM generations WHERE state = 'queued' ORDER BY queue_round LIMIT 1)
        AS first,
    (SELECT queue_round FROM generations WHERE account_id = :account_id ORDER BY id DESC LIMIT 1)
        AS newest,
    (SELECT queue_round FROM generations
        WHERE account_id = :account_id AND state = 'queued' AND asset_type = 'image'
        ORDER BY id DESC LIMIT 1) AS own_image,
    (SELECT queue_round FROM generations
        WHERE account_id = :account_id AND state = 'queued' AND asset_type = 'video'
        ORDER BY id DESC LIMIT 1) AS own_video

-- name: claim (postgresql)
-- Claim up to `most` generations of the queue, skipping rows that another worker is claiming.
UPDATE generations SET
    state = 'running',
    attempt = attempt + 1,
    owner = :owner,
    lease_until = :lease_until,
    started_at = coalesce(started_at, :now),
    updated_at = :now
WHERE id = ANY(ARRAY(
    SELECT id FROM generations
    WHERE state = 'queued' AND strpos(:others, ',' || model_id || ',') = 0
        AND (:served = '' OR strpos(:served, ',' || model_id || ',') > 0 OR id < :stale)
    ORDER BY queue_round, id LIMIT :most
    FOR UPDATE SKIP LOCKED
))
RETURNING *

-- name: claim
-- Claim the first generation of the queue, at most `most`, skipping the models in `others`: text of
-- ids, each between commas. If services or workers have different models, claim only those in
-- `served`, or stale ones, whose model may exist nowhere.
-- Only one: claiming several would cost SQLite a temporary table, four times the work.
UPDATE generations SET
    state = 'running',
    attempt = attempt + 1,
    owner = :owner,
    lease_until = :lease_until,
    started_at = coalesce(started_at, :now),
    updated_at = :now
WHERE id = (
    SELECT id FROM generations
    WHERE state = 'queued' AND instr(:others, ',' || model_id || ',') = 0
        AND (:served = '' OR instr(:served, ',' || model_id || ',') > 0 OR id < :stale)
    ORDER BY queue_round, id LIMIT min(:most, 1)
)
RETURNING *

-- name: renew
-- Extend a claim.
UPDATE generations SET lease_until = :lease_until
WHERE id = :id AND attempt = :attempt AND state = 'running'

-- name: report
-- Store the progress of an attempt.
UPDATE generations SET progress = :progress, updated_at = :now
WHERE id = :id AND attempt = :attempt AND state = 'running'

-- name: complete
-- Complete an attempt with its output.
UPDATE generations SET
    state = 'completed', progress = 1.0, output = :output, owner = NULL, lease_until = NULL,
    updated_at = :now, completed_at = :now
WHERE id = :id AND attempt = :attempt AND state = 'running'
RETURNING *

-- name: fail
-- Fail an attempt; the full charge is refunded.
UPDATE generations SET
    state = 'failed', error = :error, error_code = :error_code, refunded = millicredits,
    owner = NULL, lease_until = NULL, updated_at = :now, completed_at = :now
WHERE id = :id AND attempt = :attempt AND state = 'running'
RETURNING *

-- name: hand_back
-- Return one to the head of the queue; `lost` is 1 if its worker was lost and 0 if it was released.
-- It gets the first queued round: with its old one, new generations could get ahead of others.
UPDATE generations SET
    state = 'queued', owner = NULL, lease_until = NULL, progress = 0.0, losses = losses + :lost,
    queue_round = coalesce((
        SELECT waiting.queue_round FROM generations AS waiting
        WHERE waiting.state = 'queued' ORDER BY waiting.queue_round LIMIT 1
    ), 0),
    updated_at = :now
WHERE id = :id AND attempt = :attempt AND state = 'running'
RETURNING id

-- name: lost
-- Running ones whose claim has expired, or was made by a clock that was ahead.
SELECT id, attempt, losses, model_id FROM generations
WHERE state = 'running' AND lease_until NOT BETWEEN :now AND :latest LIMIT 100

-- name: cancel
-- Cancel one that is queued (it is refunded) or running (it is not).
UPDATE generations SET
    state = 'canceled', refunded = :refunded, owner = NULL, lease_until = NULL,
    updated_at = :now, completed_at = :now
WHERE id = :id AND account_id = :account_id AND state = :seen
RETURNING *

-- name: delete_outputs
-- Mark the files of a finished one as deleted. The new version must differ, even in the same
-- millisecond, so that cached responses become invalid.
UPDATE generations SET
    outputs_deleted_at = :now,
    updated_at = CASE WHEN updated_at < :now THEN :now ELSE updated_at + 1 END
WHERE id = :id AND output IS NOT NULL AND outputs_deleted_at IS NULL

-- name: oldest
-- All from an id on, oldest first: age and files are checked by the caller, so that each page takes
-- the same time.
SELECT id, state, output, created_at, outputs_deleted_at FROM generations
WHERE id > :after ORDER BY id LIMIT :most

-- name: with_output
-- Those with files, in order of id.
SELECT id, output FROM generations
WHERE output IS NOT NULL AND outputs_deleted_at IS NULL AND id > :after
ORDER BY id LIMIT :most

-- name: held
-- The valid claims of a worker; missing ones were canceled or requeued.
SELECT id, attempt, losses, model_id, progress FROM generations
WHERE state = 'running' AND owner = :owner

-- name: owners
-- The workers with claims.
SELECT DISTINCT owner FROM generations WHERE state = 'running'

-- name: counts
-- The numbers of queued and running ones.
SELECT
    (SELECT count(*) FROM generations WHERE state = 'queued') AS queued,
    (SELECT count(*) FROM generations WHERE state = 'running') AS running

-- name: reserved
-- The sum of charges for unfinished ones of an account.
SELECT CAST(coalesce(sum(millicredits), 0) AS BIGINT) AS total FROM generations
WHERE account_id = :account_id AND state IN ('queued', 'running')

-- name: recent_charges
-- The number and sum of the last hundred charges of a model.
SELECT count(*) AS number, CAST(coalesce(sum(millicredits), 0) AS BIGINT) AS total
FROM (
    SELECT millicredits FROM generations
    WHERE (model_id, id) >= (:model_id, '') AND (model_id, id) < (:model_id, '~')
    ORDER BY model_id DESC, id DESC LIMIT 100
) AS newest

-- The PostgreSQL statements below read a range of one index in its order, and are written so that
-- the planner cannot choose another index, whatever it expects of the values. LIKE without
-- wildcards matches like = but keeps the order explicit; (a, b) >= (...) would end at another `a`.

-- name: run (postgresql)
-- The same as `run`.
SELECT * FROM generations
WHERE account_id LIKE regexp_replace(:account_id, '([\\%_])', '\\\1', 'g')
    AND id >= :after AND id < :until
ORDER BY account_id DESC, id DESC LIMIT :most

-- name: run
-- An account's generations between two ids. A page is merged from ranges of one index, see
-- `kit.service.store.statements.merge`.
SELECT * FROM generations WHERE account_id = :account_id AND id >= :after AND id < :until

-- name: run_of_state (postgresql)
-- The same as `run_of_state`.
SELECT * FROM generations
WHERE account_id LIKE regexp_replace(:account_id, '([\\%_])', '\\\1', 'g')
    AND state LIKE :state AND asset_type LIKE :asset_type AND id >= :after AND id < :until
ORDER BY account_id DESC, state DESC, asset_type DESC, id DESC LIMIT :most

-- name: run_of_state
-- Those of a state and a type.
SELECT * FROM generations
WHERE account_id = :account_id AND state = :state AND asset_type = :asset_type
    AND id >= :after AND id < :until

-- name: run_of_model (postgresql)
-- The same as `run_of_model`.
SELECT * FROM generations
WHERE account_id LIKE regexp_replace(:account_id, '([\\%_])', '\\\1', 'g')
    AND model_id LIKE regexp_replace(:model_id, '([\\%_])', '\\\1', 'g')
    AND state LIKE :state AND asset_type LIKE :asset_type AND id >= :after AND id < :until
ORDER BY account_id DESC, model_id DESC, state DESC, asset_type DESC, id DESC LIMIT :most

-- name: run_of_model
-- Those of a model, a state and a type.
SELECT * FROM generations
WHERE account_id = :account_id AND model_id = :model_id AND state = :state
    AND asset_type = :asset_type AND id >= :after AND id < :until
