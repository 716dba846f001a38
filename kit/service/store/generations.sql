-- Generations; the table is also the queue.
-- What a worker may write is fenced by the attempt that it claimed: a stale worker changes nothing.
-- States are literals where a partial index is to be used: a database must see the value for that.

-- name: add
-- A generation that waits, or that a worker has at once.
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
-- What tells whether an answer that was written before still holds.
SELECT id, state, updated_at, progress FROM generations
WHERE id = :id AND account_id = :account_id

-- name: result
-- What tells which files a generation has.
SELECT id, state, output, outputs_deleted_at FROM generations WHERE id = :id

-- name: rounds
-- The first round that something waits in, and those of an account's newest that wait, one of each
-- type; none where nothing waits.
SELECT
    (SELECT queue_round FROM generations WHERE state = 'queued' ORDER BY queue_round LIMIT 1)
        AS first,
    (SELECT queue_round FROM generations
        WHERE account_id = :account_id AND state = 'queued' AND asset_type = 'image'
        ORDER BY id DESC LIMIT 1) AS own_image,
    (SELECT queue_round FROM generations
        WHERE account_id = :account_id AND state = 'queued' AND asset_type = 'video'
        ORDER BY id DESC LIMIT 1) AS own_video

-- name: claim (postgresql)
-- Take up to `most` of the queue, but for those that another worker is taking.
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
-- Take the first of the queue, at most `most`, but for those of some models: a text of their ids,
-- each between commas. Where several services, or workers, have models of their own, only those of
-- the models that are served, unless they are stale: none may have theirs.
-- One and not several: a list of them costs SQLite a temporary table, four times the work.
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
-- Prolong a claim.
UPDATE generations SET lease_until = :lease_until
WHERE id = :id AND attempt = :attempt AND state = 'running'

-- name: report
-- Note how far an attempt is.
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
-- Fail an attempt; all of what it cost is to be given back.
UPDATE generations SET
    state = 'failed', error = :error, error_code = :error_code, refunded = millicredits,
    owner = NULL, lease_until = NULL, updated_at = :now, completed_at = :now
WHERE id = :id AND attempt = :attempt AND state = 'running'
RETURNING *

-- name: hand_back
-- Put one back at the head of the queue; `lost` is 1 when its worker vanished and 0 when it was
-- handed back. Its old round may be long past: those that came since would get ahead through it.
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
-- Running ones whose worker has not been heard of in time, or was when a clock was ahead.
SELECT id, attempt, losses, model_id FROM generations
WHERE state = 'running' AND lease_until NOT BETWEEN :now AND :latest LIMIT 100

-- name: cancel
-- Cancel one that waits (its credits come back) or one that runs (they do not).
UPDATE generations SET
    state = 'canceled', refunded = :refunded, owner = NULL, lease_until = NULL,
    updated_at = :now, completed_at = :now
WHERE id = :id AND account_id = :account_id AND state = :seen
RETURNING *

-- name: delete_outputs
-- Note that the files of one that is finished are deleted. What was written out of it before must
-- not hold any more, even if that was in the same millisecond.
UPDATE generations SET
    outputs_deleted_at = :now,
    updated_at = CASE WHEN updated_at < :now THEN :now ELSE updated_at + 1 END
WHERE id = :id AND output IS NOT NULL AND outputs_deleted_at IS NULL

-- name: oldest
-- All from an id on, oldest first: which of them are old and have files is looked at afterwards, so
-- that each page takes the same time.
SELECT id, state, output, created_at, outputs_deleted_at FROM generations
WHERE id > :after ORDER BY id LIMIT :most

-- name: with_output
-- Those that have files, in the order of their ids.
SELECT id, output FROM generations
WHERE output IS NOT NULL AND outputs_deleted_at IS NULL AND id > :after
ORDER BY id LIMIT :most

-- name: held
-- Which of a worker's claims still stand; those that are missing were canceled or taken away.
SELECT id, attempt, losses, model_id, progress FROM generations
WHERE state = 'running' AND owner = :owner

-- name: owners
-- The workers that have claims.
SELECT DISTINCT owner FROM generations WHERE state = 'running'

-- name: queued
-- How many wait.
SELECT count(*) AS number FROM generations WHERE state = 'queued'

-- name: running
-- How many are rendered.
SELECT count(*) AS number FROM generations WHERE state = 'running'

-- name: reserved
-- What is charged for those of an account that are not settled.
SELECT CAST(coalesce(sum(millicredits), 0) AS BIGINT) AS total FROM generations
WHERE account_id = :account_id AND state IN ('queued', 'running')

-- name: recent_charges
-- What the last hundred of a model were charged.
SELECT count(*) AS number, CAST(coalesce(sum(millicredits), 0) AS BIGINT) AS total
FROM (
    SELECT millicredits FROM generations
    WHERE (model_id, id) >= (:model_id, '') AND (model_id, id) < (:model_id, '~')
    ORDER BY model_id DESC, id DESC LIMIT 100
) AS newest

-- In PostgreSQL's own statements below, what is read is said as a range of one index, in its order:
-- so no other one can be taken, whatever the database expects of the values. LIKE without wildcards
-- finds as = does and leaves the whole order said; (a, b) >= (...) would end at another `a` alone.

-- name: run (postgresql)
-- The same as `run`.
SELECT * FROM generations
WHERE account_id LIKE regexp_replace(:account_id, '([\\%_])', '\\\1', 'g')
    AND id >= :after AND id < :until
ORDER BY account_id DESC, id DESC LIMIT :most

-- name: run
-- An account's generations between two ids. A page is merged from runs of one index, see
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
