-- Times of checks of the database, by name.

-- name: find
-- The time of the last check.
SELECT * FROM checks WHERE name = :name

-- name: mark
-- Store the time of a check.
INSERT INTO checks (name, at) VALUES (:name, :at)
ON CONFLICT (name) DO UPDATE SET at = excluded.at
