-- How long a server's messages to the others took when it last beat (docs/cluster.md, News); NULL: none came back, or it tells none.
ALTER TABLE node ADD COLUMN news_ms FLOAT8;
