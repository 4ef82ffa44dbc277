-- Has its one row when this database was served in production: development, which shows codes to whoever asks, refuses it then.
CREATE TABLE served_in_production (
    one BOOLEAN PRIMARY KEY DEFAULT TRUE CHECK (one),
    first_at TIMESTAMPTZ NOT NULL
);
