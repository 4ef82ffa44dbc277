//! A database of several hosts: the one that takes writes is found, whatever the others do.

use std::os::unix::net::UnixListener;

use nyala::db::pool;

use super::{PATIENCE, Site};
use crate::database::Database;

#[actix_web::test]
async fn a_host_that_takes_connections_and_says_nothing_is_passed_over() {
    let database = Database::create().await;
    let dir = database.scratch_dir();
    std::fs::create_dir_all(&dir).unwrap();
    let one = pool::connection(&database.url(), PATIENCE).unwrap();
    let port = one.get_ports().first().copied().unwrap_or(5432);
    // The path of a socket has at most 107 bytes.
    let mute = std::env::temp_dir().join(database.scratch_dir().file_name().unwrap());
    std::fs::create_dir_all(&mute).unwrap();
    let _listener = UnixListener::bind(mute.join(format!(".s.PGSQL.{port}"))).unwrap();
    let url = database.url().replacen("host=", &format!("host={},", mute.display()), 1);
    let mut site = Site::on(url, dir).await;
    site.start("").await;
    let key = site.root_key().await;
    site.outlet(&key).await;
    let _ = std::fs::remove_dir_all(mute);
}

#[actix_web::test]
async fn as_many_ports_as_hosts_or_one() {
    for (hosts, fits) in [("a,b,c port=1", true), ("a,b,c port=1,2,3", true), ("a,b,c port=1,2", false), ("a", true)] {
        assert_eq!(pool::connection(&format!("host={hosts} user=x"), PATIENCE).is_ok(), fits, "{hosts}");
    }
}
