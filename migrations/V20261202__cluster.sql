-- Which server owns which outlets, when several share this database (docs/cluster.md). An outlet's shard is its number mod 256.
CREATE TABLE node (
    idnode BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, -- another one for each start of a server
    name TEXT NOT NULL,
    version TEXT NOT NULL,
    started_at TIMESTAMPTZ NOT NULL,
    alive_until TIMESTAMPTZ NOT NULL, -- in a row of its own: a beat waits for no purchase that holds a fence
    late_since TIMESTAMPTZ NOT NULL, -- when a beat last found its own life over, at first when it came
    leaving BOOLEAN NOT NULL DEFAULT FALSE,
    -- Of its last beat: how long it took, and how far the database's clock was ahead of the server's.
    beat_ms FLOAT8 NOT NULL DEFAULT 0,
    clock_ms FLOAT8 NOT NULL DEFAULT 0
);

CREATE TABLE shard (
    idshard INTEGER PRIMARY KEY CHECK (idshard BETWEEN 0 AND 255),
    idnode BIGINT,
    epoch BIGINT NOT NULL DEFAULT 0
);
INSERT INTO shard (idshard) SELECT generate_series(0, 255);

-- The server that a machine's device is connected to, and that alone says when it is gone.
ALTER TABLE mesin ADD COLUMN link_node BIGINT;

-- What devices said to a server that does not own their machines, until the owner has read it.
CREATE TABLE device_word (
    id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    idmesin BIGINT NOT NULL,
    idoutlet BIGINT NOT NULL,
    word JSONB NOT NULL,
    heard_at TIMESTAMPTZ NOT NULL
);
