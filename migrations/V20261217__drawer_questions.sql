-- How often a kasir was told, before any supervisor's PIN, whether the drawer holds an amount. It is limited: answers enough would
-- tell what should be in it before it is counted.
ALTER TABLE shift ADD COLUMN laci_ditanya SMALLINT NOT NULL DEFAULT 0 CHECK (laci_ditanya >= 0);
