-- The row by which the server sees whether the database takes writes (`/readyz`), and room that it asks for after one has failed.

CREATE TABLE write_probe (
    one BOOLEAN PRIMARY KEY DEFAULT TRUE CHECK (one),
    at TIMESTAMPTZ NOT NULL,
    room BYTEA
);
-- never compressed: its length is what it is for
ALTER TABLE write_probe ALTER COLUMN room SET STORAGE EXTERNAL;
