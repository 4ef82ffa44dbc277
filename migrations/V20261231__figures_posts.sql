-- What reports read by outlet and time: in a migration of its own, so that no lock is held for longer than its index takes. `oldest_program` stays.
-- `make migration-locks` measured 840 ms on 1,000,000 rows.
CREATE INDEX ledger_post ON ledger_transfer (idoutlet, created_at, id) WHERE kind = 'post';
