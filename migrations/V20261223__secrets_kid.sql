-- Keys rotate (docs/decisions/0020-keys-lie-beside-the-data.md).

-- The keys of secrets.toml by their numbers. A file that lacks the newest one, or has another one of that number, is refused.
CREATE TABLE secrets_kid (
    installation BOOLEAN NOT NULL DEFAULT TRUE REFERENCES secrets_fingerprint ON DELETE CASCADE,
    what TEXT NOT NULL CHECK (what IN ('tokens', 'stickers', 'devices', 'pushes', 'pins')),
    kid INTEGER NOT NULL CHECK (kid > 0),
    fingerprint BYTEA NOT NULL CHECK (length(fingerprint) = 32),
    since TIMESTAMPTZ NOT NULL,
    retired_at TIMESTAMPTZ, -- nothing that it has signed is accepted any more
    PRIMARY KEY (what, kid)
);
-- Fingerprint of all keys that the server works with that is alone: a command that has changed the file waits for it.
ALTER TABLE secrets_fingerprint ADD COLUMN loaded BYTEA;
-- The good keys of a server by their numbers. A program from before this migration has the first ones.
ALTER TABLE node ADD COLUMN keys JSONB NOT NULL
    DEFAULT '{"tokens": ["1"], "stickers": ["1"], "devices": ["1"], "pushes": ["1"], "pins": ["1"]}';
-- The key that a browser has subscribed with: its push service takes messages of that one only.
ALTER TABLE langganan_push ADD COLUMN kid INTEGER NOT NULL DEFAULT 1;
