-- Tickets, and the files that were uploaded with them.

-- name: add
-- A ticket; it accepts a file until it expires.
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
-- Fill a waiting ticket; no row if it was filled before.
UPDATE uploads
SET state = 'filled', sha256 = :sha256, duration_ms = :duration_ms, filled_at = :now,
    generation_id = :generation_id
WHERE id = :id AND state = 'waiting'
RETURNING id

-- name: use
-- Mark a file as used by a generation; no row if it was removed meanwhile.
UPDATE uploads SET used_at = :now WHERE id = :id RETURNING id

-- name: with_file
-- Those with a file, in order of id.
SELECT * FROM uploads WHERE state = 'filled' AND id > :after ORDER BY id LIMIT :most

-- name: open
-- The number of open tickets of an account, and when the first of them expires.
SELECT count(*) AS tickets, min(expires_at) AS first FROM uploads
WHERE state = 'waiting' AND account_id = :account_id AND expires_at > :now

-- name: stale
-- Some that no generation has ever used, created before a time.
SELECT id FROM uploads WHERE used_at IS NULL AND created_at < :before LIMIT 100

-- name: old
-- Some that were used, but not since a time.
SELECT id FROM uploads WHERE used_at < :before LIMIT 100

-- name: expired
-- Some tickets that can no longer receive a file.
SELECT id FROM uploads WHERE state = 'waiting' AND expires_at < :before LIMIT 100

-- name: remove
-- Remove one that no generation has used, or none since a time.
DELETE FROM uploads WHERE id = :id AND (used_at IS NULL OR used_at < :before)
RETURNING id, account_id, size_bytes
