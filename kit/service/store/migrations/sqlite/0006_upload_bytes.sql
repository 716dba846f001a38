-- Accounts know how much their uploads take, and open tickets are counted.

ALTER TABLE accounts ADD COLUMN upload_bytes BIGINT DEFAULT 0 NOT NULL;

UPDATE accounts SET upload_bytes = coalesce((
    SELECT sum(size_bytes) FROM uploads WHERE uploads.account_id = accounts.id
), 0);

CREATE INDEX uploads_waiting ON uploads (account_id, expires_at) WHERE state = 'waiting';
