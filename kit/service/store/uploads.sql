-- Tickets, and the files that came for them.

-- name: add
-- A ticket; its file may come until it expires.
INSERT INTO uploads (
    id, account_id, model_id, kind, file_name, content_type, size_bytes, state, created_at,
    expires_at
) VALUES (
    :id, :account_id, :model_id, :kind, :file_name, :content_type, :size_bytes, 'waiting',
    :created_at, :expires_at
)
RETURNING *

-- name: find
-- One ticket or upload.
SELECT * FROM uploads WHERE id = :id

-- name: fill
-- Fill a waiting ticket; no row comes back when another file was there first.
UPDATE uploads
SET state = 'filled', sha256 = :sha256, duration_ms = :duration_ms, filled_at = :now,
    generation_id = :generation_id
WHERE id = :id AND state = 'waiting'
RETURNING id

-- name: use
-- Keep a file for a generation; no row comes back when it was swept away meanwhile.
UPDATE uploads SET used_at = :now WHERE id = :id RETURNING id

-- name: with_file
-- Those whose file is here, in the order of their ids.
SELECT * FROM uploads WHERE state = 'filled' AND id > :after ORDER BY id LIMIT :most

-- name: open
-- How many tickets of an account may still bring a file, and when the first of them ends.
SELECT count(*) AS tickets, min(expires_at) AS first FROM uploads
WHERE state = 'waiting' AND account_id = :account_id AND expires_at > :now

-- name: stale
-- Some that no generation was ever started with, made before a moment.
SELECT id FROM uploads WHERE used_at IS NULL AND created_at < :before LIMIT 100

-- name: old
-- Some that no generation was started with since a moment, though some were before.
SELECT id FROM uploads WHERE used_at < :before LIMIT 100

-- name: expired
-- Some tickets that no file can come for any more.
SELECT id FROM uploads WHERE state = 'waiting' AND expires_at < :before LIMIT 100

-- name: remove
-- Remove one that no generation uses, or that none was started with since a moment.
DELETE FROM uploads WHERE id = :id AND (used_at IS NULL OR used_at < :before)
RETURNING id, account_id, size_bytes
