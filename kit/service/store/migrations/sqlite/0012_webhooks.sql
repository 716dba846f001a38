-- Who is told of the ends of generations, and what they are still to be told.

-- An endpoint of an account has an empty `generation_id`; that of one request has its generation's.
CREATE TABLE webhooks (
    id TEXT NOT NULL,
    account_id TEXT NOT NULL,
    generation_id TEXT NOT NULL,
    url TEXT NOT NULL,
    secret_number INTEGER NOT NULL,
    rotated_at BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    disabled_at BIGINT,
    PRIMARY KEY (id),
    FOREIGN KEY(account_id) REFERENCES accounts (id)
);
CREATE INDEX webhooks_by_generation ON webhooks (generation_id, account_id, id);

-- `pending`, then `delivered` or `failed`; the id begins with the generation's.
CREATE TABLE deliveries (
    id TEXT NOT NULL,
    webhook_id TEXT NOT NULL,
    account_id TEXT NOT NULL,
    generation_id TEXT NOT NULL,
    state TEXT NOT NULL,
    attempts INTEGER NOT NULL,
    due_at BIGINT NOT NULL,
    error TEXT,
    PRIMARY KEY (id),
    FOREIGN KEY(account_id) REFERENCES accounts (id)
);
CREATE INDEX deliveries_due ON deliveries (due_at) WHERE state = 'pending';
CREATE INDEX deliveries_pending ON deliveries (account_id) WHERE state = 'pending';
CREATE INDEX deliveries_by_webhook ON deliveries (webhook_id);
