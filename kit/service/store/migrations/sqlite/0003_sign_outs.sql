-- Accounts count how often all their signed addresses were ended.

ALTER TABLE accounts ADD COLUMN sign_outs BIGINT DEFAULT 0 NOT NULL;
