-- Generations wait in rounds, so that accounts take turns; what waits now is in the first round.

ALTER TABLE generations ADD COLUMN queue_round BIGINT DEFAULT 0 NOT NULL;
DROP INDEX generations_queued;
CREATE INDEX generations_queued ON generations (queue_round, id, model_id) WHERE state = 'queued';
