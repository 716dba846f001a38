-- What the services that share a database have in common.

-- When each API key, by class of request, is back at its full allowance, in seconds since 1970.
-- A row a key and class; what a crash of the server takes is a minute's count.
CREATE UNLOGGED TABLE rate_limits (
    key text COLLATE "C" PRIMARY KEY,
    due double precision NOT NULL
) WITH (fillfactor = 50);

-- A fingerprint of the secret that keys are hashed with: a service with another one finds no key.
ALTER TABLE schema_version ADD COLUMN secret text;
