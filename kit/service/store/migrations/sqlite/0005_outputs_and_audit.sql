-- Outputs can be deleted, and administrative acts are written down.

ALTER TABLE generations ADD COLUMN outputs_deleted_at BIGINT;

CREATE TABLE removals (
    "key" TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY ("key")
);

CREATE TABLE audit (
    id TEXT NOT NULL,
    actor TEXT NOT NULL,
    act TEXT NOT NULL,
    subject TEXT NOT NULL,
    details TEXT,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (id)
);
