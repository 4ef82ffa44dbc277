-- How to reach an owner. Nothing is sent there.
ALTER TABLE owner_usaha ADD COLUMN telp TEXT;
