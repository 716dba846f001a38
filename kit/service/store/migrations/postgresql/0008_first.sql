-- The tables: moments are milliseconds since 1970 UTC, credits whole 1/1000 credit, JSON is text.
-- What is compared and ordered by its bytes, as ids are, has the collation "C".

-- Who pays. Balance and totals are kept beside the ledger and are always its sums.
CREATE TABLE accounts (
    id text COLLATE "C" PRIMARY KEY,
    name text NOT NULL,
    email text NOT NULL,
    balance bigint NOT NULL,
    created_at bigint NOT NULL,
    charged bigint NOT NULL,
    refunded bigint NOT NULL,
    -- bytes of its uploads: of files that are kept, and of tickets that may still bring one
    upload_bytes bigint NOT NULL,
    -- how often all signed addresses were ended; each carries it in its signature
    sign_outs bigint NOT NULL,
    CONSTRAINT balance_is_never_negative CHECK (balance >= 0)
);

-- Secrets that act for an account, of which only an HMAC is kept. Scopes are separated by blanks,
-- a cap is millicredits in a calendar month, UTC. `spent` is what a key with a cap has spent in the
-- month that began at `spent_since`, less what was given back of it.
CREATE TABLE keys (
    id text COLLATE "C" PRIMARY KEY,
    account_id text COLLATE "C" NOT NULL REFERENCES accounts (id),
    name text NOT NULL,
    prefix text NOT NULL,
    digest text COLLATE "C" NOT NULL UNIQUE,
    scopes text NOT NULL,
    cap bigint,
    created_at bigint NOT NULL,
    expires_at bigint,
    last_used_at bigint,
    revoked_at bigint,
    spent bigint NOT NULL,
    spent_since bigint NOT NULL
);
CREATE INDEX keys_by_account ON keys (account_id, id);

-- Entries are added and never changed: grant, generation, title, script or refund. A subject has
-- one entry of a kind, so nothing is paid twice. Each has the account's totals after it.
CREATE TABLE ledger (
    id text COLLATE "C" PRIMARY KEY,
    account_id text COLLATE "C" NOT NULL REFERENCES accounts (id),
    kind text NOT NULL,
    subject text COLLATE "C" NOT NULL,
    millicredits bigint NOT NULL,
    balance_after bigint NOT NULL,
    generation_id text COLLATE "C",
    model_id text COLLATE "C",
    key_id text COLLATE "C",
    key_prefix text,
    details text,
    created_at bigint NOT NULL,
    charged_after bigint NOT NULL,
    refunded_after bigint NOT NULL,
    CONSTRAINT paid_once UNIQUE (subject, kind)
);
CREATE INDEX ledger_by_account ON ledger (account_id, id);

-- The orders, and at the same time the queue: `queued` and `running` are `processing` outside.
-- `attempt` fences what a worker may write; `losses` are attempts whose worker was lost. What waits
-- is claimed by rounds, and an account has one generation in each.
CREATE TABLE generations (
    id text COLLATE "C" PRIMARY KEY,
    account_id text COLLATE "C" NOT NULL REFERENCES accounts (id),
    key_id text COLLATE "C" NOT NULL,
    state text COLLATE "C" NOT NULL,
    asset_type text COLLATE "C" NOT NULL,
    generation_type text NOT NULL,
    model_id text COLLATE "C" NOT NULL,
    model_name text NOT NULL,
    prompt text NOT NULL,
    parameters text NOT NULL,
    media text NOT NULL,
    seed bigint NOT NULL,
    millicredits bigint NOT NULL,
    refunded bigint NOT NULL,
    progress double precision NOT NULL,
    attempt integer NOT NULL,
    losses integer NOT NULL,
    queue_round bigint NOT NULL,
    owner text COLLATE "C",
    lease_until bigint,
    error text,
    error_code text,
    output text,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    started_at bigint,
    completed_at bigint,
    outputs_deleted_at bigint
);
CREATE INDEX generations_by_account ON generations (account_id, id);
CREATE INDEX generations_by_state ON generations (account_id, state, asset_type, id);
CREATE INDEX generations_by_model_and_state
    ON generations (account_id, model_id, state, asset_type, id);
CREATE INDEX generations_by_model ON generations (model_id, id);
CREATE INDEX generations_queued ON generations (queue_round, id, model_id) WHERE state = 'queued';
CREATE INDEX generations_running ON generations (lease_until) WHERE state = 'running';

-- Tickets (`waiting`) and the files that came for them (`filled`).
CREATE TABLE uploads (
    id text COLLATE "C" PRIMARY KEY,
    account_id text COLLATE "C" NOT NULL REFERENCES accounts (id),
    model_id text COLLATE "C" NOT NULL,
    kind text NOT NULL,
    file_name text NOT NULL,
    content_type text NOT NULL,
    size_bytes bigint NOT NULL,
    state text COLLATE "C" NOT NULL,
    sha256 text,
    duration_ms bigint,
    created_at bigint NOT NULL,
    expires_at bigint NOT NULL,
    filled_at bigint,
    used_at bigint
);
CREATE INDEX uploads_unused ON uploads (used_at, created_at);
CREATE INDEX uploads_waiting ON uploads (account_id, expires_at) WHERE state = 'waiting';

-- Titles that an account was given, so that none comes twice.
CREATE TABLE titles (
    id text COLLATE "C" PRIMARY KEY,
    account_id text COLLATE "C" NOT NULL REFERENCES accounts (id),
    topic text COLLATE "C" NOT NULL,
    title text NOT NULL,
    created_at bigint NOT NULL
);
CREATE INDEX titles_by_topic ON titles (account_id, topic, id);

-- Delivered scripts.
CREATE TABLE scripts (
    id text COLLATE "C" PRIMARY KEY,
    account_id text COLLATE "C" NOT NULL REFERENCES accounts (id),
    batch_id text COLLATE "C" NOT NULL,
    topic text NOT NULL,
    title text NOT NULL,
    content text NOT NULL,
    duration_ms bigint NOT NULL,
    word_count integer NOT NULL,
    created_at bigint NOT NULL
);
CREATE INDEX scripts_by_account ON scripts (account_id, id);

-- Answers kept for replay. Without a status the first request is still running, in the run of the
-- service that is its owner.
CREATE TABLE idempotency (
    account_id text COLLATE "C" NOT NULL REFERENCES accounts (id),
    key text COLLATE "C" NOT NULL,
    fingerprint text NOT NULL,
    status integer,
    headers text,
    body text,
    created_at bigint NOT NULL,
    owner text COLLATE "C",
    PRIMARY KEY (account_id, key)
);
CREATE INDEX idempotency_by_age ON idempotency (created_at);
CREATE INDEX idempotency_running ON idempotency (created_at) WHERE status IS NULL;

-- Files that no row names any more; a line goes when its file is gone.
CREATE TABLE removals (
    key text COLLATE "C" PRIMARY KEY,
    created_at bigint NOT NULL
);

-- What was done to the service by hand or by its own rules. Lines are added and never changed.
CREATE TABLE audit (
    id text COLLATE "C" PRIMARY KEY,
    actor text NOT NULL,
    act text NOT NULL,
    subject text NOT NULL,
    details text,
    created_at bigint NOT NULL
);

-- When a check of the database was made last, by its name.
CREATE TABLE checks (
    name text COLLATE "C" PRIMARY KEY,
    at bigint NOT NULL
);

CREATE TABLE schema_version (number integer NOT NULL);
INSERT INTO schema_version VALUES (8);
