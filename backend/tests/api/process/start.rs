//! What a start refuses, in one line that names what is wrong.

use std::net::TcpListener;

use super::Site;

#[actix_web::test]
async fn a_second_server_on_one_database_is_refused_and_a_lost_lock_ends_the_first() {
    let mut site = Site::new().await;
    site.start("").await;
    assert!(site.run(&["serve"]).await.unwrap_err().contains("another `nyala serve` already runs on this database"));
    // 0x4e59414c: the server's lock, held on a connection that does nothing else.
    const HOLDERS: &str = "SELECT pg_terminate_backend(pid) FROM pg_locks JOIN pg_database d ON d.oid = database
        WHERE locktype = 'advisory' AND d.datname = current_database()";
    site.db.query_one(HOLDERS, &[]).await.unwrap();
    assert_eq!(site.ended().await.code(), Some(1));
    assert!(site.log().contains("the server's lock was lost"), "{}", site.log());
}

#[actix_web::test]
async fn a_schema_newer_than_the_program_is_refused() {
    let site = Site::new().await;
    let newer = "INSERT INTO refinery_schema_history (version, name, applied_on, checksum)
        SELECT max(version) + 1, 'later', '2027-01-01T00:00:00Z', '1' FROM refinery_schema_history";
    site.db.execute(newer, &[]).await.unwrap();
    assert!(site.run(&["serve"]).await.unwrap_err().contains("newer than this program's"));
}

#[actix_web::test]
async fn lost_keys_are_not_replaced_while_stickers_hang_on_machines() {
    let mut site = Site::new().await;
    site.start("").await;
    site.shop(60).await;
    site.kill().await;
    let keys = site.dir.join("secrets.toml");
    std::fs::remove_file(&keys).unwrap();
    assert!(site.run(&["serve"]).await.unwrap_err().contains("secrets.toml"));
    assert!(!keys.exists(), "new ones would end every printed sticker");
}

#[actix_web::test]
async fn a_taken_port_names_the_setting() {
    let site = Site::new().await;
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let said = site.run(&["serve", "--port", &port]).await.unwrap_err();
    assert!(said.contains(&port) && said.contains("NYALA__HTTP__PORT"), "{said}");
}

/// What production needs besides.
const PRODUCTION: [&str; 4] =
    ["profile=production", "whatsapp.meta_phone_number_id=1", "whatsapp.meta_access_token=x", "whatsapp.meta_template=kode"];

/// What a command of the production profile says when it refuses.
async fn refused_in_production(site: &Site, command: &[&str]) -> String {
    let args: Vec<&str> = command.iter().copied().chain(PRODUCTION.into_iter().flat_map(|set| ["--set", set])).collect();
    site.run(&args).await.unwrap_err()
}

#[actix_web::test]
async fn production_sells_no_runs_of_simulated_machines() {
    let mut site = Site::new().await;
    site.start("").await;
    site.outlet(&site.root_key().await).await;
    site.kill().await;
    let said = refused_in_production(&site, &["serve"]).await;
    assert!(said.contains("simulated machines (driver sim)"), "{said}");
}

#[actix_web::test]
async fn production_takes_no_database_whose_passwords_everybody_knows() {
    let mut site = Site::new().await;
    site.start("").await;
    site.shop(60).await;
    site.kill().await;
    for (command, told) in
        [(&["serve"][..], "it has demo or load-test customers"), (&["seed", "--demo"], "the production profile refuses the demo")]
    {
        let said = refused_in_production(&site, command).await;
        assert!(said.contains(told), "{said}");
    }
}
