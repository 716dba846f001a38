-- Files that no row refers to any more and that must still be removed.

-- name: add
-- Add a file; its row is deleted after the file.
INSERT INTO removals (key, created_at) VALUES (:key, :created_at) ON CONFLICT (key) DO NOTHING

-- name: some
-- Some of the files.
SELECT * FROM removals ORDER BY key LIMIT :most

-- name: done
-- Delete the row of a removed file.
DELETE FROM removals WHERE key = :key
