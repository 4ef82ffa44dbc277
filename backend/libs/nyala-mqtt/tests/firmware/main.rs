//! Tests of `firmware/`: the Linux device as a process, against the server's side of this crate and through mosquitto.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that cannot go on fails")]

mod host;
mod peer;

use std::io::Write;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use self::host::{Host, PATIENCE, built, make, run_of};
use self::peer::{PULSES, Peer};

/// Number of power cuts in `make test`; `NYALA_FIRMWARE_ROUNDS` overrides it.
const ROUNDS: u32 = 30;
const LONG_S: u32 = 3_600;

fn listener() -> TcpListener {
    TcpListener::bind("127.0.0.1:0").unwrap()
}

fn direct(name: &str, program: &str) -> (Host, TcpListener) {
    let listener = listener();
    let host = Host::new(built(program, &[]), name, "127.0.0.1", listener.local_addr().unwrap().port(), None);
    (host, listener)
}

/// A command's id, different for each number.
fn id(number: u32) -> String {
    format!("7a000000-0000-4000-8000-0000{number:08x}")
}

fn last(cmd_id: &str, result: &str) -> Value {
    json!({ "cmd_id": cmd_id, "result": result })
}

#[test]
fn the_core_keeps_its_rules_here_and_on_the_processors_of_boards() {
    make("check", &[]);
    make("cross", &[]).lines().filter_map(|line| line.strip_prefix("SKIPPED: ")).for_each(skipped);
}

/// Sends a device the commands of a whole day.
fn a_day(host: &mut Host, mut peer: Peer, first: &Value) -> Peer {
    assert_eq!(
        (&first["online"], &first["epoch"], &first["last"], &first["run"]),
        (&json!(true), &json!(0), &Value::Null, &Value::Null)
    );
    assert!(!host.switches(), "the relay is off first");
    let (one, two) = (id(1), id(2));
    peer.says("start", &one, 1, 1);
    assert!(host.switches());
    let state = peer.receives("state");
    assert_eq!((&state["last"], run_of(&state)), (&last(&one, "started"), Some(one.as_str())));
    assert_eq!(peer.result(&one), "started");
    peer.says("start", &two, 2, LONG_S);
    assert_eq!(peer.result(&two), "refused");
    // The run ends without a command.
    assert!(!host.switches());
    assert_eq!(peer.receives("state")["run"], Value::Null);
    peer.says("start", &one, 1, 1);
    assert_eq!(peer.result(&one), "done");
    peer.says("start", &id(3), 1, LONG_S);
    assert_eq!(peer.result(&id(3)), "refused");
    peer.says("start", &id(4), 2, LONG_S);
    assert!(host.switches());
    assert_eq!(peer.result(&id(4)), "started");
    peer
}

#[test]
fn a_device_obeys_commands() {
    let (mut host, listener) = direct("told", "nyala-device");
    host.power_on(&[]);
    let mut peer = Peer::accept(&listener);
    let first = peer.meets();
    let gone = peer.will().clone();
    assert_eq!(gone, json!({ "online": false, "boot_id": first["boot_id"], "conn": 1 }));
    let mut peer = a_day(&mut host, peer, &first);
    host.ends();
    assert!(!host.switches(), "nobody would turn it off");
    assert_eq!(peer.rest().pop(), Some(gone));
    // The run resumes when the program starts again.
    host.power_on(&[]);
    let mut peer = Peer::accept(&listener);
    let state = peer.receives("state");
    assert_eq!(run_of(&state), Some(id(4).as_str()));
    assert!(state["boot_id"] != first["boot_id"] && state["conn"] == 1);
}

#[test]
fn a_line_that_breaks_is_followed_by_another() {
    let (mut host, listener) = direct("breaks", "nyala-device");
    host.power_on(&[]);
    let mut peer = Peer::accept(&listener);
    let first = peer.meets();
    peer.says("start", &id(1), 1, LONG_S);
    assert_eq!(peer.result(&id(1)), "started");
    drop(peer);
    let mut peer = Peer::accept(&listener);
    let state = peer.receives("state");
    assert_eq!((&state["boot_id"], &state["conn"], &state["seq"]), (&first["boot_id"], &json!(2), &json!(1)));
    assert_eq!(run_of(&state), Some(id(1).as_str()));
    assert_eq!(host.switched(), [false, true]);
}

#[test]
fn a_journal_belongs_to_one_device() {
    let (mut host, listener) = direct("one", "nyala-device");
    host.power_on(&[]);
    let _peer = Peer::accept(&listener);
    let arguments = ["--login", "login.json", "--journal", "journal", "--relay", "relay"];
    let other = Command::new(built("nyala-device", &[])).current_dir(host.folder()).args(arguments).output().unwrap();
    assert_eq!(other.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&other.stderr).contains("another process has it"));
    assert_eq!(host.switched(), [false], "the other has not touched it");
}

#[test]
fn a_start_waits_until_the_machine_says_that_it_runs() {
    let (mut host, listener) = direct("contact", "nyala-device");
    let contact = host.folder().join("runs");
    std::fs::write(&contact, "0\n").unwrap();
    host.power_on(&["--running-contact", "runs", "--running-seconds=1"]);
    let mut peer = Peer::accept(&listener);
    peer.meets();
    peer.says("start", &id(1), 1, LONG_S);
    assert_eq!(peer.result(&id(1)), "refused");
    assert_eq!(host.switched(), [false, true, false]);
    peer.says("start", &id(2), 2, LONG_S);
    assert!(host.switches());
    std::fs::write(&contact, "1\n").unwrap();
    assert_eq!(peer.result(&id(2)), "started");
}

#[test]
fn a_relay_may_be_a_command() {
    let listener = listener();
    let port = listener.local_addr().unwrap().port().to_string();
    let mut host = Host::new(built("nyala-device", &[]), "command", "127.0.0.1", 1, None);
    let login = ["--host=127.0.0.1", "--port", &port, "--relay=", "--relay-command", "echo $NYALA_RELAY >> relay"];
    // An empty option counts as not set.
    host.power_on(&login);
    let mut peer = Peer::accept(&listener);
    peer.meets();
    peer.says("start", &id(1), 1, LONG_S);
    assert_eq!(peer.result(&id(1)), "started");
    assert_eq!(host.switched(), [false, true]);
}

/// Order of journal, relay and message, whenever the power is cut.
#[test]
fn power_may_go_at_any_moment() {
    let rounds = std::env::var("NYALA_FIRMWARE_ROUNDS").map_or(ROUNDS, |n| n.parse().unwrap());
    let (mut host, listener) = direct("power", "sanitized/nyala-device");
    let (mut began, mut known_only, mut random) = (0, 0, 88_172_645_463_325_252_u64);
    for round in 0..rounds {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        let cmd_id = id(round);
        let epoch = round + 1;
        host.power_on(&[]);
        let mut peer = Peer::accept(&listener);
        let state = peer.meets();
        assert_eq!(state["run"], Value::Null, "{round}: the last round is over");
        assert_eq!(host.switched(), [false]);
        peer.says("start", &cmd_id, epoch, LONG_S);
        // At a random time between the command and the ack; each third time only after the relay.
        let waited = round % 3 == 0 && host.switches();
        let end = Instant::now() + Duration::from_micros(random % 6_000);
        while Instant::now() < end {
            std::hint::spin_loop();
        }
        let on = host.power_off() || waited;
        let known = host.journal_runs().is_some();
        assert!(known || !on);
        began += u32::from(on);
        known_only += u32::from(known && !on);

        host.power_on(&[]);
        let mut peer = Peer::accept(&listener);
        let state = peer.meets();
        let runs = run_of(&state) == Some(cmd_id.as_str());
        assert_eq!(runs, known, "{round}: {state}");
        assert_eq!(host.switched(), if known { vec![false, true] } else { vec![false] });
        if known {
            assert_eq!(
                (&state["last"], &state["run"]["sisa_s"], &state["epoch"]),
                (&last(&cmd_id, "started"), &json!(LONG_S), &json!(epoch))
            );
        }
        peer.says("start", &cmd_id, epoch, LONG_S);
        assert_eq!(peer.result(&cmd_id), "started");
        assert_eq!(host.switched(), if known { vec![] } else { vec![true] });
        peer.says("stop", &cmd_id, epoch, 0);
        assert_eq!(peer.result(&cmd_id), "done");
        peer.says("start", &cmd_id, epoch, LONG_S);
        assert_eq!(peer.result(&cmd_id), "done");
        assert!(!host.power_off());
    }
    println!("{rounds} rounds: power gone {began} times with the relay on, {known_only} times between journal and relay");
}

// --- machines that want coins: the pipe of the relay is their coin contact ---

const COINS: [&str; 2] = ["--relay=", "--pulse=relay"];

fn pulses_in(switched: &[bool]) -> usize {
    switched.iter().filter(|on| **on).count()
}

#[test]
fn a_machine_that_wants_coins_is_started_by_pulses() {
    let (mut host, listener) = direct("coins", "nyala-device");
    let (runs, coin) = (host.folder().join("runs"), host.folder().join("coin"));
    std::fs::write(&runs, "0\n").unwrap();
    std::fs::write(&coin, "0\n").unwrap();
    host.power_on(&[&COINS[..], &["--sense=runs", "--coin=coin"]].concat());
    let mut peer = Peer::accept(&listener);
    let first = peer.meets();
    assert_eq!((&first["can"], &first["sense"], &first["coins"]), (&json!(["pulse", "sense", "coin"]), &json!(false), &json!(0)));
    peer.says("start", &id(1), 1, LONG_S);
    assert_eq!(peer.result(&id(1)), "refused", "there is no relay");
    peer.says("pulse", &id(2), 1, LONG_S);
    assert_eq!(peer.result(&id(2)), "started");
    assert_eq!(pulses_in(&host.switched()), PULSES);
    peer.says("pulse", &id(2), 1, LONG_S);
    assert_eq!(peer.result(&id(2)), "started");
    std::fs::write(coin, "1\n").unwrap();
    assert_eq!(peer.receives("hb")["coins"], json!(1));
    std::fs::write(runs, "1\n").unwrap();
    let state = peer.receives("state");
    assert_eq!((&state["sense"], run_of(&state)), (&json!(true), Some(id(2).as_str())));
    assert!(host.switched().is_empty());
    // On SIGTERM the program first sends the remaining pulses.
    host.power_off();
    std::fs::remove_file(host.folder().join("journal")).unwrap();
    host.power_on(&COINS);
    let mut peer = Peer::accept(&listener);
    peer.meets();
    peer.says("pulse", &id(3), 1, LONG_S);
    while !host.switches() {}
    host.ends();
    assert_eq!(pulses_in(&host.switched()), PULSES - 1);
    host.power_on(&COINS);
    let mut peer = Peer::accept(&listener);
    assert_eq!(peer.meets()["last"], last(&id(3), "started"));
}

#[test]
fn power_may_go_at_any_moment_of_the_pulses() {
    let rounds = std::env::var("NYALA_FIRMWARE_ROUNDS").map_or(ROUNDS, |n| n.parse().unwrap());
    let (mut host, listener) = direct("pulses", "sanitized/nyala-device");
    let (mut cut, mut started, mut random) = (0, 0, 88_172_645_463_325_252_u64);
    for round in 0..rounds {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        let cmd_id = id(round);
        host.power_on(&COINS);
        let mut peer = Peer::accept(&listener);
        peer.meets();
        host.switched();
        peer.says("pulse", &cmd_id, 1, LONG_S);
        // At a random time around the pulses; each third time after the first one began.
        let waited = round % 3 == 0;
        while waited && !host.switches() {}
        let end = Instant::now() + Duration::from_micros(random % 16_000);
        while Instant::now() < end {
            std::hint::spin_loop();
        }
        host.power_off_keeping_switches();

        host.power_on(&COINS);
        let mut peer = Peer::accept(&listener);
        let before = peer.meets()["last"].clone();
        let mut sent = usize::from(waited) + pulses_in(&host.switched());
        peer.says("pulse", &cmd_id, 1, LONG_S);
        let ack = peer.ack(&cmd_id);
        let switched = host.switched();
        assert_ne!(switched.last(), Some(&true), "{round}: the contact is closed outside pulses");
        sent += pulses_in(&switched);
        assert!(sent <= PULSES, "{round}: {sent} pulses");
        match ack["result"].as_str() {
            Some("refused") => assert_eq!((&ack["why"], &before["why"]), (&json!("cut"), &json!("cut")), "{round}: {ack}"),
            result => assert_eq!((result, sent), (Some("started"), PULSES), "{round}: {ack}"),
        }
        if ack["result"] == "refused" {
            cut += 1
        } else {
            started += 1
        }
        host.power_off();
        std::fs::remove_file(host.folder().join("journal")).unwrap();
    }
    println!("{rounds} rounds: {cut} refused, {started} started");
}

// --- another implementation of MQTT ---

struct Broker(Child);

impl Drop for Broker {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// `N` different ports without a listener.
fn free_ports<const N: usize>() -> [u16; N] {
    [(); N].map(|()| listener()).map(|held| held.local_addr().unwrap().port())
}

/// Writes to standard error directly: the test harness hides the output of tests that pass.
fn skipped(why: &str) {
    let _ = writeln!(std::io::stderr(), "SKIPPED: {why}");
}

/// The path of mosquitto, which Debian puts where PATH does not lead every account.
fn mosquitto_program() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).chain(["/usr/sbin".into(), "/usr/local/sbin".into()]);
    folders.map(|folder| folder.join("mosquitto")).find(|program| program.is_file())
}

/// A broker of Debian; `None` where it is not installed.
fn mosquitto(folder: &Path, settings: &str, port: u16) -> Option<Broker> {
    let Some(path) = mosquitto_program() else {
        skipped("mosquitto is not here (make test-tools, or apt-get install mosquitto)");
        return None;
    };
    std::fs::write(folder.join("mosquitto.conf"), settings).unwrap();
    let process = Command::new(path).args(["-c", "mosquitto.conf"]).current_dir(folder).stderr(Stdio::null()).spawn().unwrap();
    let broker = Broker(process);
    let begun = Instant::now();
    while std::net::TcpStream::connect(("127.0.0.1", port)).is_err() {
        assert!(begun.elapsed() < PATIENCE, "mosquitto does not begin");
        std::thread::sleep(Duration::from_millis(10));
    }
    Some(broker)
}

#[test]
fn a_device_obeys_commands_through_mosquitto() {
    let [port] = free_ports();
    let mut host = Host::new(built("nyala-device", &[]), "mosquitto", "127.0.0.1", port, None);
    let settings = format!("listener {port} 127.0.0.1\nallow_anonymous true\n");
    let Some(_broker) = mosquitto(host.folder(), &settings, port) else { return };
    let mut peer = Peer::connect(port);
    host.power_on(&[]);
    let first = peer.meets();
    let mut peer = a_day(&mut host, peer, &first);
    // The broker publishes the will.
    host.power_off();
    let gone = std::iter::from_fn(|| Some(peer.receives("state"))).find(|state| state["online"] == false);
    assert_eq!(gone, Some(json!({ "online": false, "boot_id": first["boot_id"], "conn": 1 })));
}

#[test]
fn with_tls_only_the_servers_own_certificate_is_taken() {
    if !Path::new("/usr/include/mbedtls/ssl.h").exists() {
        skipped("mbedTLS is not installed (apt-get install libmbedtls-dev)");
        return;
    }
    let [port, tls, tls_at] = free_ports();
    let program = built("nyala-device-tls", &["TLS=1"]);
    let folder = Host::new(program.clone(), "tls-keys", "localhost", tls, None);
    certify(folder.folder());
    let ca = std::fs::read_to_string(folder.folder().join("ca.pem")).unwrap();
    let other = std::fs::read_to_string(folder.folder().join("other.pem")).unwrap();
    let settings = format!(
        "allow_anonymous true\nlistener {port} 127.0.0.1\nlistener {tls} 127.0.0.1\ncertfile localhost.pem\nkeyfile localhost.key\n\
         listener {tls_at} 127.0.0.1\ncertfile 127.0.0.1.pem\nkeyfile 127.0.0.1.key\n"
    );
    let Some(_broker) = mosquitto(folder.folder(), &settings, port) else { return };
    let mut peer = Peer::connect(port);

    // A wrong authority, and a name or address that is not in the certificate.
    let wrong =
        [("tls-other", "localhost", tls, &other), ("tls-name", "127.0.0.1", tls, &ca), ("tls-address", "localhost", tls_at, &ca)];
    for (name, at, tls, ca) in wrong {
        let host = Host::new(program.clone(), name, at, tls, Some(ca));
        let mut device = Command::new(&program)
            .current_dir(host.folder())
            .args(["--login", "login.json", "--journal", "journal", "--relay", "relay"])
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let printed = std::io::BufRead::lines(std::io::BufReader::new(device.stderr.take().unwrap())).map_while(Result::ok);
        let refused = printed.into_iter().take(5).find(|line| line.contains("the server's TLS: "));
        device.kill().unwrap();
        device.wait().unwrap();
        assert!(refused.is_some_and(|line| line.contains("X509 - Certificate verification failed")), "{name}");
    }

    let mut host = Host::new(program.clone(), "tls", "localhost", tls, Some(&ca));
    host.power_on(&[]);
    let first = peer.meets();
    a_day(&mut host, peer, &first);
    drop(host);

    let mut host = Host::new(program, "tls-at", "127.0.0.1", tls_at, Some(&ca));
    let mut peer = Peer::connect(port);
    host.power_on(&[]);
    let another = |state: &Value| state["online"] == true && state["last"] == Value::Null;
    while !another(&peer.receives("state")) {}
}

/// Two authorities, and two certificates of the first: for a name and for an address.
fn certify(folder: &Path) {
    const MAKE: &str = "
        for name in ca other; do
            openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout $name.key -out $name.pem -days 2 -subj /CN=$name
        done
        for name in DNS:localhost IP:127.0.0.1; do
            host=${name#*:}
            openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout $host.key -out $host.csr -subj /CN=$host
            echo subjectAltName=$name > names
            openssl x509 -req -in $host.csr -CA ca.pem -CAkey ca.key -CAcreateserial -out $host.pem -days 2 -extfile names
            # The account that mosquitto switches to reads them, too.
            chmod a+r $host.key $host.pem
        done
        chmod a+rx .";
    let made = Command::new("sh").args(["-ec", MAKE]).current_dir(folder).output().unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
}
