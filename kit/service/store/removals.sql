-- Files that no row names any more and that are still to be removed.

-- name: add
-- One more; its line goes when its file is gone.
INSERT INTO removals (key, created_at) VALUES (:key, :created_at) ON CONFLICT (key) DO NOTHING

-- name: some
-- Some of them.
SELECT * FROM removals ORDER BY key LIMIT :most

-- name: done
-- Note that a file is gone.
DELETE FROM removals WHERE key = :key
