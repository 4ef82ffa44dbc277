-- What servers must agree on before they serve this database together, or one after the other.

-- The keys that it is served with (secrets.toml), by their fingerprint: a server with others is refused.
CREATE TABLE secrets_fingerprint (
    one BOOLEAN PRIMARY KEY DEFAULT TRUE CHECK (one),
    fingerprint BYTEA NOT NULL CHECK (length(fingerprint) = 32),
    first_at TIMESTAMPTZ NOT NULL
);
