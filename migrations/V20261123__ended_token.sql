-- Tokens that their customers logged out with, until they would have run out anyway. `token` is what tells one from another:
-- the left half of a SHA-256 over its `jti`, or over the claims of one that is older than `jti`.
CREATE TABLE ended_token (
    id_customer_global BIGINT NOT NULL REFERENCES customer_global,
    token BYTEA NOT NULL CHECK (octet_length(token) = 16),
    expires_at TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (id_customer_global, token)
);
CREATE INDEX ended_token_until ON ended_token (expires_at);
