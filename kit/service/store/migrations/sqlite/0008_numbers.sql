-- The schema's number has a table of its own; releases before had one of Alembic's.

CREATE TABLE schema_version (number INTEGER NOT NULL);
INSERT INTO schema_version VALUES (8);
DROP TABLE IF EXISTS alembic_version;

-- Made anew after the others: SQLite would read an account's pages of a model by it, and so look at
-- all that other accounts have of it, where it was there before the index that is meant for them.
DROP INDEX generations_by_model;
CREATE INDEX generations_by_model ON generations (model_id, id);
