//! docs/first-machine.md as a new user follows it: a shell gets its blocks of commands one after the other, below the test's own folder.
//! Steps in the app between them are done here over HTTP.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};

use actix_web::rt::task::spawn_blocking;
use actix_web::rt::time::{sleep, timeout};
use nyala_loadtest::local::free_port;
use serde_json::json;

use super::{LOOK_EVERY, PATIENCE, Site};

const PAGE: &str = include_str!("../../../../docs/first-machine.md");
/// Printed after each block, to mark its end.
const DONE: &str = "-- done --";

/// The second terminal. Its relay, its device and its variables persist from block to block.
struct Terminal {
    child: Child,
    stdin: ChildStdin,
    lines: Receiver<String>,
    folder: PathBuf,
}

impl Terminal {
    fn open(site: &Site, port: u16) -> Self {
        let folder = site.dir().join("checkout");
        let checkout = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
        let programs = Path::new(env!("CARGO_BIN_EXE_nyala")).parent().unwrap();
        std::fs::create_dir_all(folder.join("target")).unwrap();
        for (from, to) in [
            (checkout.join("config"), "config"),
            (checkout.join("backend"), "backend"),
            (checkout.join("Makefile"), "Makefile"),
            (programs.into(), "target/release"),
        ] {
            std::os::unix::fs::symlink(from, folder.join(to)).unwrap();
        }
        let mut shell = Command::new("bash");
        shell.arg("-s").current_dir(&folder).stdin(Stdio::piped()).stdout(Stdio::piped()).env("NYALA__DATA__DIR", site.dir());
        shell.env("DATABASE_URL", &site.url).env("NYALA__MQTT__PORT", port.to_string());
        let mut child = shell.spawn().expect("bash");
        let (tell, lines) = channel();
        let stdout = child.stdout.take().unwrap();
        std::thread::spawn(move || BufReader::new(stdout).lines().map_while(Result::ok).try_for_each(|line| tell.send(line)));
        let stdin = child.stdin.take().unwrap();
        let mut terminal = Self { child, stdin, lines, folder };
        terminal.paste("exec 2>&1; set -u");
        terminal
    }

    /// Runs a block to its end; returns its output.
    fn paste(&mut self, block: &str) -> Vec<String> {
        writeln!(self.stdin, "{block}\necho '{DONE}' $?").unwrap();
        let mut output = Vec::new();
        loop {
            let line = self.lines.recv_timeout(PATIENCE).unwrap_or_else(|e| panic!("{block}: {e}\n{}", output.join("\n")));
            match line.strip_prefix(DONE) {
                Some(code) => {
                    assert_eq!(code.trim(), "0", "{block}\n{}", output.join("\n"));
                    return output;
                }
                None => output.push(line),
            }
        }
    }

    /// Waits until the device prints this, in `said` or after it.
    fn until_printed(&mut self, what: &str, mut output: Vec<String>) {
        while !output.iter().any(|line| line.contains(what)) {
            output.push(self.lines.recv_timeout(PATIENCE).unwrap_or_else(|e| panic!("no `{what}`: {e}\n{}", output.join("\n"))));
        }
    }

    /// The machine that a file with a device's key is for.
    fn machine(&self, file: &str) -> i64 {
        let login: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(self.folder.join(file)).unwrap()).unwrap();
        login["idmesin"].as_i64().unwrap()
    }

    async fn until_relay(&self, is: &str) {
        let file = self.folder.join("mesin.relay");
        let there = async {
            while std::fs::read_to_string(&file).unwrap_or_default().trim() != is {
                sleep(LOOK_EVERY).await;
            }
        };
        timeout(PATIENCE, there).await.unwrap_or_else(|_| panic!("the relay does not become {is}"));
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // The device is its child.
        let _ = writeln!(self.stdin, "kill -9 $(jobs -p); exit");
        let _ = self.child.wait();
    }
}

/// The demo's customer buys a minute of the machine.
async fn buy(site: &Site, idmesin: i64, receipt: &str) {
    let login = json!({"country_code": "62", "telp": "81234567890", "password": "Rahasia123"});
    let token = site.ask("POST", "/scan/v1/auth/login", "", &login).await.unwrap().ok()["token"].as_str().unwrap().to_owned();
    let sql = "SELECT l.idlayanan, l.harga, l.idoutlet, c.idcustomer FROM mesin m JOIN layanan l USING (idoutlet) \
               JOIN customer c USING (idoutlet) WHERE m.idmesin = $1 AND l.durasi_s = 60";
    let row = site.db.query_one(sql, &[&idmesin]).await.unwrap();
    let (idlayanan, price, idoutlet, idcustomer): (i64, i64, i64, i64) = (row.get(0), row.get(1), row.get(2), row.get(3));
    let body = json!({
        "id": receipt, "idcustomer": idcustomer, "idmesin": idmesin, "idoutlet": idoutlet, "idsnap_layanan": idlayanan,
        "total": price, "grandtotal": price,
    });
    site.ask("POST", "/scan/v1/transaksi/create_snap_transaksi", &token, &body)
        .await
        .unwrap()
        .expect(200, "Mesin Berhasil dinyalakan");
}

/// Waits until the database says that this is so.
async fn until(site: &Site, sql: &str) {
    let is_so = async {
        while !site.db.query_one(sql, &[]).await.unwrap().get::<_, bool>(0) {
            sleep(LOOK_EVERY).await;
        }
    };
    timeout(PATIENCE, is_so).await.unwrap_or_else(|_| panic!("{sql} does not become true"));
}

#[actix_web::test]
async fn the_first_machine_washes_as_its_page_says() {
    let (mut site, port) = (Site::new().await, free_port().unwrap().to_string());
    site.start_with(&[("NYALA__DEV__SEED_DEMO", "true"), ("NYALA__MQTT__PORT", &port)]).await;
    let blocks: Vec<String> = PAGE.split("```sh\n").skip(1).map(|rest| rest.split("```").next().unwrap().to_owned()).collect();
    let [build, key, on, money, sticker, looks, plug, off, coin_key, coin_on, press, coin, coin_off] = &blocks[..] else {
        panic!("the page has other blocks: {blocks:?}")
    };
    let mut terminal = Terminal::open(&site, port.parse().unwrap());
    // A build may take long without output.
    let mut terminal = spawn_blocking({
        let (build, key, on) = (build.clone(), key.clone(), on.clone());
        move || {
            for block in [build, key, on] {
                terminal.paste(&block);
            }
            terminal
        }
    })
    .await
    .unwrap();
    let idmesin = terminal.machine("mesin.json");
    terminal.paste(money);
    terminal.paste(sticker);
    assert!(terminal.folder.join("stiker.png").is_file());
    terminal.until_relay("0").await;
    site.until_online(idmesin).await;
    buy(&site, idmesin, "SLF000000000000001").await;
    terminal.until_relay("1").await;
    assert!(terminal.paste(looks).iter().any(|line| line == "1"));
    // Power is lost in the run and comes back; it is the same run. The file still says 1, so the device's own output shows that it is
    // back.
    let output = terminal.paste(plug);
    terminal.until_printed("relay on", output);
    terminal.until_relay("1").await;
    let runs: i64 = site.db.query_one("SELECT count(*) FROM snap_transaksi WHERE state = 'RUNNING'", &[]).await.unwrap().get(0);
    assert_eq!(runs, 1);
    let output = terminal.paste(off);
    assert!(output.iter().any(|line| line == "0"), "{output:?}");

    terminal.paste(&coin_key.replace("127.0.0.1:8080", site.address()));
    let output = terminal.paste(coin_on);
    terminal.until_printed("connected", output);
    until(&site, "SELECT EXISTS (SELECT FROM perangkat_kini JOIN koin_seri USING (idmesin) WHERE 'pulse' = ANY(bisa))").await;
    buy(&site, terminal.machine("koin.json"), "SLF000000000000002").await;
    terminal.until_printed("pulses: 1", Vec::new());
    assert_eq!(std::fs::read_to_string(terminal.folder.join("mesin.pulsa")).unwrap().trim(), "0");
    terminal.paste(press);
    until(&site, "SELECT COALESCE(sense AND tambah_s > 0, FALSE) FROM snap_transaksi WHERE no_nota = 'SLF000000000000002'").await;
    terminal.paste(coin);
    until(&site, "SELECT jumlah = 1 FROM koin_seri").await;
    terminal.paste(coin_off);
    site.assert_sound().await;
}
