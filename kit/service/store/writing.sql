-- Delivered titles and scripts.

-- name: add_title
-- A title that was delivered to an account, so that it is not repeated.
INSERT INTO titles (id, account_id, topic, title, created_at)
VALUES (:id, :account_id, :topic, :title, :created_at)

-- name: add_script
-- A delivered script.
INSERT INTO scripts (
    id, account_id, batch_id, topic, title, content, duration_ms, word_count, created_at
) VALUES (
    :id, :account_id, :batch_id, :topic, :title, :content, :duration_ms, :word_count, :created_at
)

-- name: titles (postgresql)
-- The same as `titles`, as a range of one index.
SELECT title FROM titles
WHERE account_id LIKE regexp_replace(:account_id, '([\\%_])', '\\\1', 'g')
    AND topic LIKE regexp_replace(:topic, '([\\%_])', '\\\1', 'g')
ORDER BY account_id DESC, topic DESC, id DESC LIMIT :most

-- name: titles
-- The latest titles of a topic that were delivered to an account, newest first.
SELECT title FROM titles
WHERE account_id = :account_id AND topic = :topic
ORDER BY id DESC LIMIT :most
