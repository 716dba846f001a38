-- Checks of the database itself, by their names.

-- name: find
-- When a check was made last.
SELECT * FROM checks WHERE name = :name

-- name: mark
-- Note when a check was made.
INSERT INTO checks (name, at) VALUES (:name, :at)
ON CONFLICT (name) DO UPDATE SET at = excluded.at
