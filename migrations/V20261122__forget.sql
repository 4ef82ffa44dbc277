-- What is forgotten after its time is found by these: remembered refusals after a day, used keys after thirty.

CREATE INDEX nota_ditolak_waktu ON nota (created_at) WHERE tolak IS NOT NULL;
CREATE INDEX idempotensi_waktu ON idempotensi (created_at);
CREATE INDEX login_gagal_waktu ON login_gagal (created_at);
