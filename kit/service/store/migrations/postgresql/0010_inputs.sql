-- An upload may be the output of a generation; a start may ask for files that say nothing of it.

ALTER TABLE uploads ADD COLUMN generation_id text COLLATE "C";
ALTER TABLE generations ADD COLUMN file_metadata integer NOT NULL DEFAULT 1;
