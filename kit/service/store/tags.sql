-- Tags of generations, for the filter of the list.

-- name: add
-- One tag of a generation.
INSERT INTO tags (account_id, tag, generation_id) VALUES (:account_id, :tag, :generation_id)

-- name: page (postgresql)
-- The same as `page`, as a range of one index; each generation is found by its id.
SELECT found.* FROM tags, LATERAL (
    SELECT * FROM generations WHERE id = generation_id LIMIT 1
) AS found
WHERE tags.account_id LIKE regexp_replace(:account_id, '([\\%_])', '\\\1', 'g')
    AND tag LIKE regexp_replace(:tag, '([\\%_])', '\\\1', 'g')
    AND generation_id >= :after AND generation_id < :until
ORDER BY tags.account_id DESC, tag DESC, generation_id DESC LIMIT :most

-- name: page
-- An account's generations of a tag between two ids, newest first.
SELECT generations.* FROM tags JOIN generations ON id = generation_id
WHERE tags.account_id = :account_id AND tag = :tag
    AND generation_id >= :after AND generation_id < :until
ORDER BY generation_id DESC LIMIT :most
