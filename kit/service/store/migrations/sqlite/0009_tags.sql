-- Generations have tags, and so have the entries that they led to; a tag is written `key=value`.

ALTER TABLE generations ADD COLUMN tags TEXT;
ALTER TABLE ledger ADD COLUMN tags TEXT;

CREATE TABLE tags (
    account_id TEXT NOT NULL,
    tag TEXT NOT NULL,
    generation_id TEXT NOT NULL,
    PRIMARY KEY (account_id, tag, generation_id),
    FOREIGN KEY(account_id) REFERENCES accounts (id)
);
