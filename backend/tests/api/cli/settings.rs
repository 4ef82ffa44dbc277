//! `nyala config check`, and settings that no command accepts.

use std::path::Path;
use std::process::Command;

use super::{CommandOutput, nyala};

#[actix_web::test]
async fn the_settings_are_printed_without_secrets() {
    let set = |args: &[&str]| -> CommandOutput { nyala().args(["config", "check"]).args(args).output().unwrap().into() };
    let printed = set(&["--set", "whatsapp.meta_access_token=sangat-rahasia", "--set", "http.port=8123"]).ok();
    assert!(
        printed.contains("meta_access_token = \"***\"") && printed.contains("port = 8123") && !printed.contains("sangat-rahasia"),
        "{printed}"
    );
    let url = nyala().env("DATABASE_URL", "postgres://u:kata-sandi@h/d").args(["config", "check"]).output().unwrap();
    assert!(!CommandOutput::from(url).ok().contains("kata-sandi"));
    let meta = [
        "--set",
        "whatsapp.meta_access_token=a",
        "--set",
        "whatsapp.meta_phone_number_id=1",
        "--set",
        "whatsapp.meta_template=kode",
    ];
    let production = [&["--set", "profile=production"], meta.as_slice()].concat();
    set(&production).ok();
    set(&[production.as_slice(), &["--set", "dev.routes=true"]].concat()).refused("dev.routes must be false");
    for host in ["127.0.0.1", "localhost", "push.example:443", "::1", "intranet", "push.localhost", "https://push.example"] {
        let named = format!("push.hosts={host}");
        set(&[production.as_slice(), &["--set", &named]].concat()).refused(&format!("push.hosts has \"{host}\""));
    }
    set(&[production.as_slice(), &["--set", "push.hosts=push.example.com"]].concat()).ok();
    set(&["--set", "profile=production"]).refused("meta_access_token");
    set(&["--set", "http.prot=1"]).refused("prot");
    set(&["--set", "http"]).refused("section.key=value");
    let nowhere =
        Command::new(env!("CARGO_BIN_EXE_nyala")).args(["config", "check", "--config-dir", "/dev/null"]).output().unwrap();
    CommandOutput::from(nowhere).refused("--config-dir");
}

#[actix_web::test]
async fn a_payment_provider_needs_its_keys_and_production_takes_no_simulated_one() {
    let check = |settings: &[&str]| -> CommandOutput {
        let set = settings.iter().flat_map(|setting| ["--set", *setting]);
        nyala().args(["config", "check"]).args(set).output().unwrap().into()
    };
    assert!(check(&[]).ok().contains("provider = \"simulated\""), "development pays without money");
    check(&["qris.provider=doku"]).refused("must be empty, \"midtrans\" or \"simulated\"");
    check(&["qris.provider=midtrans"]).refused("needs qris.midtrans_server_keys");
    let printed = check(&["qris.provider=midtrans", "qris.midtrans_server_keys=sangat-rahasia"]).ok();
    assert!(printed.contains("midtrans_server_keys = \"***\"") && !printed.contains("sangat-rahasia"), "{printed}");
    for keys in ["1=rahasia,rahasia2", "x=rahasia", "1=rahasia,2=rahasia"] {
        let refused = check(&["qris.provider=midtrans", &format!("qris.midtrans_server_keys={keys}")]);
        assert!(!refused.err.contains("rahasia"), "{refused:?}");
        refused.refused("qris.midtrans_server_keys");
    }
    check(&["qris.till_minutes=0"]).refused("qris.till_minutes = 0 must be 1 to 60");
    let production = |more: &[&str]| {
        let meta = [
            "profile=production",
            "whatsapp.meta_access_token=a",
            "whatsapp.meta_phone_number_id=1",
            "whatsapp.meta_template=kode",
        ];
        check(&[meta.as_slice(), more].concat())
    };
    production(&[]).ok();
    production(&["qris.provider=simulated"]).refused("qris.provider = \"simulated\" pays without money");
    production(&["qris.provider=midtrans"]).refused("needs qris.midtrans_server_keys");
    production(&["qris.provider=midtrans", "qris.midtrans_server_keys=a"]).ok();
    let clear = ["qris.provider=midtrans", "qris.midtrans_server_keys=a", "qris.midtrans_base_url=http://api.midtrans.com"];
    production(&clear).refused("must begin with https://");
}

#[actix_web::test]
async fn in_production_a_move_leaves_a_day_to_refuse() {
    let check = |settings: &[&str]| -> CommandOutput {
        let set = settings.iter().flat_map(|setting| ["--set", *setting]);
        nyala().args(["config", "check"]).args(set).output().unwrap().into()
    };
    let production = |wait_s: &str| {
        check(&[
            "profile=production",
            "whatsapp.meta_access_token=a",
            "whatsapp.meta_phone_number_id=1",
            "whatsapp.meta_template=kode",
            wait_s,
        ])
    };
    for short in ["move.wait_s=1", "move.wait_s=86399"] {
        production(short).refused("move.wait_s must be at least 86400");
        check(&[short]).ok();
    }
    assert!(production("move.wait_s=86400").ok().contains("wait_s = 86400"));
    production("move.wait_s=172800").ok();
    check(&["move.wait_s=0"]).refused("move.wait_s = 0 must be 1 to 2592000");
}

#[actix_web::test]
async fn a_missing_database_is_reported_in_one_line() {
    let answer = nyala().env("DATABASE_URL", "host=/dev/null user=nyala dbname=x").args(["audit", "verify"]).output().unwrap();
    CommandOutput::from(answer).refused("DATABASE_URL cannot be reached");
    let answer = nyala().env("DATABASE_URL", "nonsense nonsense").args(["key", "list"]).output().unwrap();
    CommandOutput::from(answer).refused("nyala: DATABASE_URL is no connection string");
    let answer = nyala()
        .env("DATABASE_URL", "host=/dev/null user=nyala dbname=x")
        .args(["serve", "--port", "0", "--set", "mqtt.port=0", "--set", "log.filter=warn"])
        .output()
        .unwrap();
    CommandOutput::from(answer).refused("DATABASE_URL cannot be reached");
}

#[actix_web::test]
async fn one_underscore_in_the_environment_is_refused_with_the_right_spelling() {
    let check =
        |name: &str, value: &str| CommandOutput::from(nyala().env(name, value).args(["config", "check"]).output().unwrap());
    for (name, right) in [
        ("NYALA_PROFILE", "write NYALA__PROFILE,"),
        ("NYALA_DATA", "write NYALA__DATA__DIR,"),
        ("NYALA_HTTP_PORT", "write NYALA__HTTP__PORT,"),
        ("NYALA__HTTP_PORT", "write NYALA__HTTP__PORT,"),
        ("NYALA_DEV__ROUTES", "write NYALA__DEV__ROUTES,"),
        ("NYALA_WHATSAPP_META_ACCESS_TOKEN", "write NYALA__WHATSAPP__META_ACCESS_TOKEN,"),
    ] {
        let answer = check(name, "sangat-rahasia");
        assert!(answer.err.contains(name) && !answer.err.contains("sangat-rahasia"), "{answer:?}");
        answer.refused(right);
    }
    for ours in ["NYALA_BIN", "NYALA_KEY", "NYALA_URL", "NYALA_SIM_SEED", "NYALA_SIM_SEEDS", "NYALA_TEST_DATABASE_URL"] {
        check(ours, "x").ok();
    }
}

#[actix_web::test]
async fn settings_that_cannot_be_are_refused_by_name() {
    let check = |set: &str| CommandOutput::from(nyala().args(["config", "check", "--set", set]).output().unwrap());
    for (set, printed) in [
        ("log.filter=[[", "log.filter"),
        ("push.contact=it@laundry.example", "push.contact = \"it@laundry.example\" must begin with mailto: or https://"),
        (
            "http.security_contact=security@laundry.example",
            "http.security_contact = \"security@laundry.example\" must begin with",
        ),
        (
            "http.security_contact=https://a.example/\nContact: mailto:x@b.example",
            "must begin with mailto: or https:// and have no blanks",
        ),
        ("auth.token_days=0", "auth.token_days"),
        ("auth.token_days=9223372036854775807", "auth.token_days"),
        ("http.max_connections=0", "http.max_connections"),
        ("http.drain_s=21", "http.drain_s"),
        ("database.lock_ms=0", "database.lock_ms"),
        ("database.lock_ms=30000", "database.lock_ms = 30000 must be below database.statement_ms = 30000"),
        ("database.statement_ms=2000", "database.lock_ms = 2500 must be below database.statement_ms = 2000"),
        ("http.host=0.0.0.0", "dev.allow_lan"),
        ("http.host=127.evil.example", "dev.allow_lan"),
        ("http.trusted_proxies=10.0.0.0/8,everybody", "`everybody` is no address or block of addresses such as 10.0.0.0/8"),
        ("http.allowed_origins=https://a.example,*", "`*` in http.allowed_origins names no origin"),
        ("http.allowed_origins=a.example", "`a.example` in http.allowed_origins is no origin"),
        ("http.allowed_origins=https://a.example/kasir", "`https://a.example/kasir` in http.allowed_origins has a path"),
    ] {
        check(set).refused(printed);
    }
    let shared = |connections: &str| {
        let args = ["config", "check", "--set", "http.workers=16", "--set", connections];
        CommandOutput::from(nyala().args(args).output().unwrap())
    };
    shared("database.connections=33").refused("database.connections = 33 is too few for 16 worker threads: at least 34");
    shared("database.connections=34").ok();
    shared("database.connections=0").ok();
    let lists = check("http.trusted_proxies=10.0.0.0/8, 127.0.0.1").ok();
    assert!(lists.contains("10.0.0.0/8") && lists.contains("127.0.0.1"), "{lists}");
    let env =
        |name: &str, value: &str| CommandOutput::from(nyala().env(name, value).args(["config", "check"]).output().unwrap()).ok();
    let lists = env("NYALA__HTTP__TRUSTED_PROXIES", "10.0.0.0/8, 127.0.0.1,");
    assert!(lists.contains("10.0.0.0/8") && lists.contains("127.0.0.1/32"), "{lists}");
    let origins = env("NYALA__HTTP__ALLOWED_ORIGINS", "https://A.example/, http://b.example:80 ,https://c.example:443");
    for origin in ["\"https://a.example\"", "\"http://b.example\"", "\"https://c.example\""] {
        assert!(origins.contains(origin), "{origins}");
    }
    let text = nyala().env("NYALA__WHATSAPP__META_PHONE_NUMBER_ID", "0123").args(["config", "check"]).output().unwrap();
    assert!(CommandOutput::from(text).ok().contains("\"0123\""), "a text stays what it is");
}

#[actix_web::test]
async fn settings_that_several_servers_cannot_share_are_refused_without_printing_a_password() {
    let check = |sets: &[&str]| {
        let shared = ["cluster.enabled=true", "cluster.name=n1", "database.url=postgres://db/nyala"];
        let sets = shared.iter().chain(sets).flat_map(|set| ["--set", *set]);
        CommandOutput::from(nyala().args(["config", "check"]).args(sets).output().unwrap())
    };
    check(&["cluster.nats_url="]).ok();
    let printed = check(&["cluster.nats_url=nats://nyala:rahasia@10.0.0.1:4222, tls://nats2:4222,nats3"]).ok();
    assert!(printed.contains("***") && !printed.contains("rahasia"), "{printed}");
    check(&["cluster.name=N1"]).refused("cluster.name = \"N1\" must be two of a-z and 0-9");
    check(&["database.url="]).refused("set DATABASE_URL");
    check(&["cluster.nats_url=nats://nats1:4222,http://u:rahasia@x"]).refused("cluster.nats_url: its address number 2 is none");
    check(&["cluster.nats_url=nats://u:rahasia@:x"]).refused("write nats://user:password@host:4222");
    check(&["cluster.nats_ca=/nowhere.pem"]).refused("cluster.nats_ca = \"/nowhere.pem\" is no file");
}

const BROKER: [&str; 3] = ["broker_url", "broker_password", "broker_ca"];

#[actix_web::test]
async fn an_empty_setting_of_the_broker_is_ignored_with_a_line() {
    let ignored = |key: &str| format!("mqtt.{key} is ignored: this setting was removed, and it is empty\n");
    // A file of an earlier version.
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(uuid::Uuid::new_v4().simple().to_string());
    std::fs::create_dir(&folder).unwrap();
    let default = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../config/default.toml")).unwrap();
    let before = BROKER.map(|key| format!("{key} = \"\"\n")).concat();
    std::fs::write(folder.join("default.toml"), default.replace("[mqtt]\n", &format!("[mqtt]\n{before}"))).unwrap();
    let mut check = Command::new(env!("CARGO_BIN_EXE_nyala"));
    let answer = CommandOutput::from(check.args(["config", "check", "--config-dir"]).arg(&folder).output().unwrap());
    std::fs::remove_dir_all(&folder).unwrap();
    assert_eq!((answer.code, answer.err), (0, BROKER.map(ignored).concat()));
    assert!(answer.out.contains("[mqtt]") && !answer.out.contains("broker"), "{}", answer.out);
    for key in BROKER {
        let variable = format!("NYALA__MQTT__{}", key.to_ascii_uppercase());
        let answer = CommandOutput::from(nyala().env(variable, " ").args(["config", "check"]).output().unwrap());
        assert_eq!((answer.code, answer.err), (0, ignored(key)));
    }
}

#[actix_web::test]
async fn a_setting_of_the_broker_that_is_set_refuses_the_start_with_the_way_over() {
    for key in BROKER {
        let (variable, set) = (format!("NYALA__MQTT__{}", key.to_ascii_uppercase()), format!("mqtt.{key}=mqtt://rahasia:1883"));
        for command in [vec!["serve", "--port", "0"], vec!["config", "check"]] {
            let by_variable = nyala().env(&variable, "mqtt://rahasia:1883").args(&command).output().unwrap();
            let by_flag = nyala().args(&command).args(["--set", &set]).output().unwrap();
            for answer in [by_variable, by_flag].map(CommandOutput::from) {
                assert!(
                    answer.err.contains("mqtt.public_host, mqtt.port) or the boards new keys (`nyala device rotate`)"),
                    "{answer:?}"
                );
                assert!(!answer.err.contains("rahasia"), "{answer:?}");
                answer.refused(&format!("mqtt.{key} is set, but devices no longer connect through a broker"));
            }
        }
    }
}
