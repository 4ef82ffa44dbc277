-- The newest migration that a program must know to work on this schema. Migrations add, and leave it as it is; one that takes away what the
-- release before has ceased to use raises it to that release's newest: so a program accepts the schema of the release after it, as servers
-- that are upgraded one after the other need (docs/decisions/0024-migrations-under-an-advisory-lock.md).
CREATE TABLE oldest_program (
    one BOOLEAN PRIMARY KEY DEFAULT TRUE CHECK (one),
    knows INTEGER NOT NULL
);
INSERT INTO oldest_program (knows) VALUES (20261204);
