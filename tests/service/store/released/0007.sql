-- A database as the release before numbered SQL left it: an account, a key, three generations.
BEGIN TRANSACTION;

CREATE TABLE accounts (
    id TEXT NOT NULL,
    name TEXT NOT NULL,
    email TEXT NOT NULL,
    balance BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    charged BIGINT DEFAULT 0 NOT NULL,
    refunded BIGINT DEFAULT 0 NOT NULL,
    upload_bytes BIGINT DEFAULT 0 NOT NULL,
    sign_outs BIGINT DEFAULT 0 NOT NULL,
    PRIMARY KEY (id),
    CONSTRAINT balance_is_never_negative CHECK (balance >= 0)
);
INSERT INTO accounts VALUES('acc_01M8AGH1BBC31FAPGGAK7GG018','Ada','ada@example.org',9940,1790000000000,90,30,0,0);

CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL PRIMARY KEY);
INSERT INTO alembic_version VALUES('0007');

CREATE TABLE audit (
    id TEXT NOT NULL,
    actor TEXT NOT NULL,
    act TEXT NOT NULL,
    subject TEXT NOT NULL,
    details TEXT,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (id)
);
INSERT INTO audit VALUES('aud_01M8AGH1BBC31FAPGGAK7GG019','service','account.created','acc_01M8AGH1BBC31FAPGGAK7GG018','{"name":"Ada"}',1790000000000);
INSERT INTO audit VALUES('aud_01M8AGH1BBC31FAPGGAK7GG01C','service','credits.granted','acc_01M8AGH1BBC31FAPGGAK7GG018','{"credits":"10"}',1790000000000);
INSERT INTO audit VALUES('aud_01M8AGH1BBC31FAPGGAK7GG01E','service','key.created','key_01M8AGH1BBC31FAPGGAK7GG01D','{"account":"acc_01M8AGH1BBC31FAPGGAK7GG018","name":"k","prefix":"cs_live_l5cb","scopes":"read","cap":"9"}',1790000000000);

CREATE TABLE checks (
    name TEXT NOT NULL,
    at BIGINT NOT NULL,
    PRIMARY KEY (name)
);

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
    queue_round BIGINT DEFAULT 0 NOT NULL,
    owner TEXT,
    lease_until BIGINT,
    error TEXT,
    error_code TEXT,
    output TEXT,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    started_at BIGINT,
    completed_at BIGINT,
    outputs_deleted_at BIGINT,
    PRIMARY KEY (id),
    FOREIGN KEY(account_id) REFERENCES accounts (id)
);
INSERT INTO generations VALUES('gen_01M8AGH1BBC31FAPGGAK7GG01F','acc_01M8AGH1BBC31FAPGGAK7GG018','key_01M8AGH1BBC31FAPGGAK7GG01D','failed','image','text-to-image','scene-fast','Painted Scene Fast','a lake','{"aspect_ratio":"1:1","size":768,"family":"auto","palette":"auto","format":"jpeg","quality":92,"seed":3672949493}','{}',3672949493,30,30,0.0,1,0,0,NULL,NULL,'no','worker_lost',NULL,1790000000000,1790000000001,1790000000000,1790000000001,NULL);
INSERT INTO generations VALUES('gen_01M8AGH1BBC31FAPGGAK7GG01H','acc_01M8AGH1BBC31FAPGGAK7GG018','key_01M8AGH1BBC31FAPGGAK7GG01D','completed','image','text-to-image','scene-fast','Painted Scene Fast','a lake','{"aspect_ratio":"1:1","size":768,"family":"auto","palette":"auto","format":"jpeg","quality":92,"seed":1452091649}','{}',1452091649,30,0,1.0,1,0,1,NULL,NULL,NULL,NULL,'{"key":"o/1","sha256":"x"}',1790000000000,1790000000002,1790000000000,1790000000002,NULL);
INSERT INTO generations VALUES('gen_01M8AGH1BBC31FAPGGAK7GG01K','acc_01M8AGH1BBC31FAPGGAK7GG018','key_01M8AGH1BBC31FAPGGAK7GG01D','queued','image','text-to-image','scene-fast','Painted Scene Fast','a lake','{"aspect_ratio":"1:1","size":768,"family":"auto","palette":"auto","format":"jpeg","quality":92,"seed":1435544622}','{}',1435544622,30,0,0.0,0,0,2,NULL,NULL,NULL,NULL,NULL,1790000000000,1790000000000,NULL,NULL,NULL);
CREATE INDEX generations_by_account ON generations (account_id, id);
CREATE INDEX generations_by_model ON generations (model_id, id);
CREATE INDEX generations_by_model_and_state ON generations (account_id, model_id, state, asset_type, id);
CREATE INDEX generations_by_state ON generations (account_id, state, asset_type, id);
CREATE INDEX generations_queued ON generations (queue_round, id, model_id) WHERE state = 'queued';
CREATE INDEX generations_running ON generations (lease_until) WHERE state = 'running';

CREATE TABLE idempotency (
    account_id TEXT NOT NULL,
    "key" TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    status INTEGER,
    headers TEXT,
    body TEXT,
    created_at BIGINT NOT NULL,
    owner TEXT,
    PRIMARY KEY (account_id, "key"),
    FOREIGN KEY(account_id) REFERENCES accounts (id)
);
CREATE INDEX idempotency_by_age ON idempotency (created_at);
CREATE INDEX idempotency_running ON idempotency (created_at) WHERE status IS NULL;

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
    spent BIGINT DEFAULT 0 NOT NULL,
    spent_since BIGINT DEFAULT 0 NOT NULL,
    PRIMARY KEY (id),
    FOREIGN KEY(account_id) REFERENCES accounts (id),
    UNIQUE (digest)
);
INSERT INTO keys VALUES('key_01M8AGH1BBC31FAPGGAK7GG01D','acc_01M8AGH1BBC31FAPGGAK7GG018','k','cs_live_l5cb','9382fe65e13d04cb5844e1486b073c9207c1f94173aba1a53ee5878c48d21fa6','read',9000,1790000000000,NULL,NULL,NULL,60,1788220800000);
CREATE INDEX keys_by_account ON keys (account_id, id);

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
    charged_after BIGINT DEFAULT 0 NOT NULL,
    refunded_after BIGINT DEFAULT 0 NOT NULL,
    PRIMARY KEY (id),
    CONSTRAINT paid_once UNIQUE (subject, kind),
    FOREIGN KEY(account_id) REFERENCES accounts (id)
);
INSERT INTO ledger VALUES('led_01M8AGH1BBC31FAPGGAK7GG01B','acc_01M8AGH1BBC31FAPGGAK7GG018','grant','grt_01M8AGH1BBC31FAPGGAK7GG01A',10000,10000,NULL,NULL,NULL,NULL,NULL,1790000000000,0,0);
INSERT INTO ledger VALUES('led_01M8AGH1BBC31FAPGGAK7GG01G','acc_01M8AGH1BBC31FAPGGAK7GG018','generation','gen_01M8AGH1BBC31FAPGGAK7GG01F',-30,9970,'gen_01M8AGH1BBC31FAPGGAK7GG01F','scene-fast','key_01M8AGH1BBC31FAPGGAK7GG01D','cs_live_l5cb',NULL,1790000000000,30,0);
INSERT INTO ledger VALUES('led_01M8AGH1BBC31FAPGGAK7GG01J','acc_01M8AGH1BBC31FAPGGAK7GG018','generation','gen_01M8AGH1BBC31FAPGGAK7GG01H',-30,9940,'gen_01M8AGH1BBC31FAPGGAK7GG01H','scene-fast','key_01M8AGH1BBC31FAPGGAK7GG01D','cs_live_l5cb',NULL,1790000000000,60,0);
INSERT INTO ledger VALUES('led_01M8AGH1BBC31FAPGGAK7GG01M','acc_01M8AGH1BBC31FAPGGAK7GG018','generation','gen_01M8AGH1BBC31FAPGGAK7GG01K',-30,9910,'gen_01M8AGH1BBC31FAPGGAK7GG01K','scene-fast','key_01M8AGH1BBC31FAPGGAK7GG01D','cs_live_l5cb',NULL,1790000000000,90,0);
INSERT INTO ledger VALUES('led_01M8AGH1BBC31FAPGGAK7GG01N','acc_01M8AGH1BBC31FAPGGAK7GG018','refund','gen_01M8AGH1BBC31FAPGGAK7GG01F',30,9940,'gen_01M8AGH1BBC31FAPGGAK7GG01F','scene-fast','key_01M8AGH1BBC31FAPGGAK7GG01D','cs_live_l5cb','{"reason":"no"}',1790000000001,90,30);
CREATE INDEX ledger_by_account ON ledger (account_id, id);

CREATE TABLE removals (
    "key" TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY ("key")
);

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

CREATE TABLE titles (
    id TEXT NOT NULL,
    account_id TEXT NOT NULL,
    topic TEXT NOT NULL,
    title TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (id),
    FOREIGN KEY(account_id) REFERENCES accounts (id)
);
CREATE INDEX titles_by_topic ON titles (account_id, topic, id);

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
CREATE INDEX uploads_waiting ON uploads (account_id, expires_at) WHERE state = 'waiting';

COMMIT TRANSACTION;
