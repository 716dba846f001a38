-- When the database was checked, and which run of the service works at a request.

CREATE TABLE checks (
    name TEXT NOT NULL,
    at BIGINT NOT NULL,
    PRIMARY KEY (name)
);
ALTER TABLE idempotency ADD COLUMN owner TEXT;
CREATE INDEX idempotency_running ON idempotency (created_at) WHERE status IS NULL;
