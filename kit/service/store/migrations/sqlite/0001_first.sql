-- The tables: moments are milliseconds since 1970 UTC, credits whole 1/1000 credit, JSON is text.

-- Who pays. The balance is kept beside the ledger and is always the sum of its entries.
CREATE TABLE accounts (
    id TEXT NOT NULL,
    name TEXT NOT NULL,
    email TEXT NOT NULL,
    balance BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (id),
    CONSTRAINT balance_is_never_negative CHECK (balance >= 0)
);

-- The orders, and at the same time the queue: `queued` and `running` are `processing` outside.
-- `attempt` fences what a worker may write; `losses` are attempts whose worker was lost.
CREATE TABLE generations (
    id TEXT NOT NULL,
    account_id TEXT NOT NULL,
    key_id TEXT NOT NULL,
    state TEXT NOT NULL,
    asset_type TEXT NOT NULL,
    generation_type TEXT NOT NULL,
    model_id TEXT NOT NULL,
    model_name TEXT NOT NULL,
    prompt TEXT NOT NULL,
    parameters TEXT NOT NULL,
    media TEXT NOT NULL,
    seed BIGINT NOT NULL,
    millicredits BIGINT NOT NULL,
    refunded BIGINT NOT NULL,
    progress FLOAT NOT NULL,
    attempt INTEGER NOT NULL,
    losses INTEGER NOT NULL,
    owner TEXT,
    lease_until BIGINT,
    error TEXT,
    error_code TEXT,
    output TEXT,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    started_at BIGINT,
    completed_at BIGINT,
    PRIMARY KEY (id),
    FOREIGN KEY(account_id) REFERENCES accounts (id)
);
CREATE INDEX generations_by_account ON generations (account_id, id);
CREATE INDEX generations_by_model ON generations (model_id, id);
CREATE INDEX generations_by_state ON generations (account_id, state, id);
CREATE INDEX generations_queued ON generations (id) WHERE state = 'queued';
CREATE INDEX generations_running ON generations (lease_until) WHERE state = 'running';

-- Answers kept for replay. Without a status the first request is still running.
CREATE TABLE idempotency (
    account_id TEXT NOT NULL,
    "key" TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    status INTEGER,
    headers TEXT,
    body TEXT,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (account_id, "key"),
    FOREIGN KEY(account_id) REFERENCES accounts (id)
);
CREATE INDEX idempotency_by_age ON idempotency (created_at);

-- Secrets that act for an account, of which only an HMAC is kept. Scopes are separated by blanks,
-- a cap is millicredits in a calendar month, UTC.
CREATE TABLE keys (
    id TEXT NOT NULL,
    account_id TEXT NOT NULL,
    name TEXT NOT NULL,
    prefix TEXT NOT NULL,
    digest TEXT NOT NULL,
    scopes TEXT NOT NULL,
    cap BIGINT,
    created_at BIGINT NOT NULL,
    expires_at BIGINT,
    last_used_at BIGINT,
    revoked_at BIGINT,
    PRIMARY KEY (id),
    FOREIGN KEY(account_id) REFERENCES accounts (id),
    UNIQUE (digest)
);
CREATE INDEX keys_by_account ON keys (account_id, id);

-- Entries are added and never changed: grant, generation, title, script or refund. A subject has
-- one entry of a kind, so nothing is paid twice.
CREATE TABLE ledger (
    id TEXT NOT NULL,
    account_id TEXT NOT NULL,
    kind TEXT NOT NULL,
    subject TEXT NOT NULL,
    millicredits BIGINT NOT NULL,
    balance_after BIGINT NOT NULL,
    generation_id TEXT,
    model_id TEXT,
    key_id TEXT,
    key_prefix TEXT,
    details TEXT,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (id),
    FOREIGN KEY(account_id) REFERENCES accounts (id),
    CONSTRAINT paid_once UNIQUE (subject, kind)
);
CREATE INDEX ledger_by_account ON ledger (account_id, id);
CREATE INDEX ledger_by_key ON ledger (key_id, created_at);

-- Delivered scripts.
CREATE TABLE scripts (
    id TEXT NOT NULL,
    account_id TEXT NOT NULL,
    batch_id TEXT NOT NULL,
    topic TEXT NOT NULL,
    title TEXT NOT NULL,
    content TEXT NOT NULL,
    duration_ms BIGINT NOT NULL,
    word_count INTEGER NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (id),
    FOREIGN KEY(account_id) REFERENCES accounts (id)
);
CREATE INDEX scripts_by_account ON scripts (account_id, id);

-- Titles that an account was given, so that none comes twice.
CREATE TABLE titles (
    id TEXT NOT NULL,
    account_id TEXT NOT NULL,
    topic TEXT NOT NULL,
    title TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (id),
    FOREIGN KEY(account_id) REFERENCES accounts (id)
);
CREATE INDEX titles_by_topic ON titles (account_id, topic);

-- Tickets (`waiting`) and the files that came for them (`filled`).
CREATE TABLE uploads (
    id TEXT NOT NULL,
    account_id TEXT NOT NULL,
    model_id TEXT NOT NULL,
    kind TEXT NOT NULL,
    file_name TEXT NOT NULL,
    content_type TEXT NOT NULL,
    size_bytes BIGINT NOT NULL,
    state TEXT NOT NULL,
    sha256 TEXT,
    duration_ms BIGINT,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    filled_at BIGINT,
    used_at BIGINT,
    PRIMARY KEY (id),
    FOREIGN KEY(account_id) REFERENCES accounts (id)
);
CREATE INDEX uploads_unused ON uploads (used_at, created_at);
