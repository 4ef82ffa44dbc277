//! Which PostgreSQL: the one `DATABASE_URL` names, else the private embedded one (contract §5).
