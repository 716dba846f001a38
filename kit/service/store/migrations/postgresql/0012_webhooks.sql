-- Who is told of the ends of generations, and what they are still to be told.

-- An endpoint of an account has an empty `generation_id`; that of one request has its generation's.
CREATE TABLE webhooks (
    id text COLLATE "C" NOT NULL,
    account_id text COLLATE "C" NOT NULL,
    generation_id text COLLATE "C" NOT NULL,
    url text NOT NULL,
    secret_number integer NOT NULL,
    rotated_at bigint NOT NULL,
    created_at bigint NOT NULL,
    disabled_at bigint,
    PRIMARY KEY (id),
    FOREIGN KEY (account_id) REFERENCES accounts (id)
);
CREATE INDEX webhooks_by_generation ON webhooks (generation_id, account_id, id);

-- `pending`, then `delivered` or `failed`; the id begins with the generation's.
CREATE TABLE deliveries (
    id text COLLATE "C" NOT NULL,
    webhook_id text COLLATE "C" NOT NULL,
    account_id text COLLATE "C" NOT NULL,
    generation_id text COLLATE "C" NOT NULL,
    state text COLLATE "C" NOT NULL,
    attempts integer NOT NULL,
    due_at bigint NOT NULL,
    error text,
    PRIMARY KEY (id),
    FOREIGN KEY (account_id) REFERENCES accounts (id)
);
CREATE INDEX deliveries_due ON deliveries (due_at) WHERE state = 'pending';
CREATE INDEX deliveries_pending ON deliveries (account_id) WHERE state = 'pending';
CREATE INDEX deliveries_by_webhook ON deliveries (webhook_id);
