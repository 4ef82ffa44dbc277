-- The newest migration that the program of a server knows; NULL: a program from before this column. What an older program cannot read is not
-- written while one lives (docs/decisions/0024-migrations-under-an-advisory-lock.md).
ALTER TABLE node ADD COLUMN knows INTEGER;
