-- Wrong passwords are counted in memory, before they are hashed: a row for each was work that an attacker could order.
DROP TABLE login_gagal;
