-- Administrative acts: lines are added, never changed.

-- name: add
-- What was done, to what and by whom.
INSERT INTO audit (id, actor, act, subject, details, created_at)
VALUES (:id, :actor, :act, :subject, :details, :created_at)

-- name: page
-- The lines before an id, newest first.
SELECT * FROM audit WHERE id < :before ORDER BY id DESC LIMIT :most
