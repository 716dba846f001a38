-- Generations have tags, and so have the entries that they led to; a tag is written `key=value`.

ALTER TABLE generations ADD COLUMN tags text;
ALTER TABLE ledger ADD COLUMN tags text;

CREATE TABLE tags (
    account_id text COLLATE "C" NOT NULL REFERENCES accounts (id),
    tag text COLLATE "C" NOT NULL,
    generation_id text COLLATE "C" NOT NULL,
    PRIMARY KEY (account_id, tag, generation_id)
);
