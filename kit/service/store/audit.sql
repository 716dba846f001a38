-- Administrative acts: rows are added, never changed.

-- name: add
-- An act with its subject and its actor.
INSERT INTO audit (id, actor, act, subject, details, created_at)
VALUES (:id, :actor, :act, :subject, :details, :created_at)

-- name: page
-- The rows before an id, newest first.
SELECT * FROM audit WHERE id < :before ORDER BY id DESC LIMIT :most
