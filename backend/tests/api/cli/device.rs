//! `nyala device`: keys of the machines' devices.

use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};

use super::beside;
use crate::devices::device_keys::{counts, mqtt_machine};
use crate::support::helpers::TestApp;

fn login(printed: &str) -> Value {
    assert_eq!(printed.lines().count(), 1, "{printed}");
    serde_json::from_str(printed).unwrap()
}

#[actix_web::test]
async fn a_key_is_printed_once_replaced_and_revoked() {
    let app = TestApp::spawn().await;
    let outlet = app.outlet("Melati").await;
    let id = mqtt_machine(&app, outlet, "Cuci 1").await;
    let (machine, sim) = (id.to_string(), app.machine(outlet, "Cuci 2").await.idmesin.to_string());

    beside(&app, &["device", "rotate", &machine]).refused("has no key that counts; `nyala device add");
    beside(&app, &["device", "revoke", &machine]).refused("has no key that counts");
    let first = login(&beside(&app, &["device", "add", &machine]).ok());
    let secret = first["secret"].as_str().unwrap();
    assert!(secret.len() == 32 && secret.bytes().all(|b| b.is_ascii_hexdigit()), "{first}");
    let login_json = json!({
        "user": machine, "secret": secret, "host": "127.0.0.1", "port": 1883, "idoutlet": outlet.idoutlet, "idmesin": id, "ca": null,
    });
    assert_eq!(first, login_json);
    beside(&app, &["device", "add", &machine]).refused("has a key; `nyala device rotate");
    let next = login(&beside(&app, &["device", "rotate", &machine]).ok());
    assert!(counts(&app, &first).await && counts(&app, &next).await);

    let list = beside(&app, &["device", "list"]).ok();
    assert!(list.contains(&format!("1\t{id}\t{}\tCuci 1\t", outlet.idoutlet)), "{list}");
    assert!(list.lines().count() == 3 && !list.contains(secret), "{list}");

    assert!(beside(&app, &["device", "revoke", &machine]).ok().ends_with("keys revoked: 2\n"));
    assert!(!counts(&app, &first).await && !counts(&app, &next).await);
    login(&beside(&app, &["device", "add", &machine]).ok());

    for call in ["add", "rotate"] {
        beside(&app, &["device", call, &sim]).refused("has the driver sim; only devices of machines with the driver mqtt log in");
        beside(&app, &["device", call, "99"]).refused("there is no machine 99");
    }
    beside(&app, &["device", "revoke", "99"]).refused("there is no machine 99");
    let object = format!("mesin:{id}");
    let audited = app.audited().await;
    assert!(audited.iter().all(|(_, actor, of)| actor == "cli" && *of == object), "{audited:?}");
    let actions: Vec<&str> = audited.iter().map(|(action, ..)| action.as_str()).collect();
    let (made, ended) = ("kunci_mesin.buat", "kunci_mesin.cabut");
    assert_eq!(actions, [made, made, ended, ended, made]);
    let nowhere = app.insert("SELECT count(*) FROM audit_log WHERE idoutlet IS NULL", &[]).await;
    assert_eq!(nowhere, 0, "each line says where");
}

#[actix_web::test]
async fn a_key_is_printed_with_the_servers_public_name() {
    let app = TestApp::spawn().await;
    let outlet = app.outlet("Melati").await;
    let machine = mqtt_machine(&app, outlet, "Cuci 1").await.to_string();
    let open = ["--set", "mqtt.host=0.0.0.0", "device", "add", &machine];
    beside(&app, &open).refused("mqtt.host = \"0.0.0.0\" would let secrets of devices cross the network in the clear");
    let anywhere = [["--set", "mqtt.tls=true"].as_slice(), &open].concat();
    beside(&app, &anywhere).refused("mqtt.public_host is not set");
    let named = [["--set", "mqtt.public_host=laundry.example", "--set", "mqtt.port=8883"].as_slice(), &anywhere].concat();
    let login_json = login(&beside(&app, &named).ok());
    assert_eq!((&login_json["host"], &login_json["port"]), (&json!("laundry.example"), &json!(8883)));
    assert!(login_json["ca"].as_str().is_some_and(|ca| ca.starts_with("-----BEGIN CERTIFICATE-----")), "{login_json}");
}

#[actix_web::test]
async fn an_outlets_keys_are_written_to_their_own_file() {
    let app = TestApp::spawn().await;
    let (outlet, other) = (app.outlet("Melati").await, app.outlet("Mawar").await);
    let mut machines = Vec::new();
    for name in ["Cuci 1", "Cuci 2", "Cuci 3"] {
        machines.push(mqtt_machine(&app, outlet, name).await);
    }
    app.machine(outlet, "Simulasi").await;
    mqtt_machine(&app, other, "Cuci 4").await;
    beside(&app, &["device", "add", &machines[1].to_string()]).ok();

    let file = app.state.config.data.dir.join("keys.csv");
    let (id, path) = (outlet.idoutlet.to_string(), file.display().to_string());
    let all = ["device", "add", "--outlet", &id, "--out", &path];
    std::fs::write(&file, "sudah ada").unwrap();
    beside(&app, &all).refused("is there already; no key was made");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "sudah ada");
    std::fs::remove_file(&file).unwrap();

    assert!(beside(&app, &all).ok().starts_with("2 keys are in "));
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    let text = std::fs::read_to_string(&file).unwrap();
    let mut lines = text.lines();
    assert_eq!(lines.next().unwrap(), "user,secret,host,port,idoutlet,idmesin,ca");
    for machine in [machines[0], machines[2]] {
        let fields: Vec<&str> = lines.next().unwrap().split(',').collect();
        let [user, secret, host, port, of, idmesin, ca] = fields[..] else { panic!("{text}") };
        assert_eq!(
            (user, host, port, of, idmesin, ca),
            (idmesin, "127.0.0.1", "1883", id.as_str(), machine.to_string().as_str(), "")
        );
        assert!(counts(&app, &json!({ "idmesin": machine, "secret": secret })).await);
    }
    assert_eq!(lines.next(), None, "one that has a key, a simulated one and another outlet's are left out");

    let again = file.with_file_name("again.csv").display().to_string();
    beside(&app, &["device", "add", "--outlet", &id, "--out", &again]).refused("no machine of the driver mqtt without a key");
    beside(&app, &["device", "add", "--outlet", "99", "--out", &again]).refused("there is no outlet 99");
    assert!(!std::path::Path::new(&again).exists());
    for half in [vec!["device", "add"], vec!["device", "add", "--outlet", &id], vec!["device", "add", "1", "--out", &again]] {
        assert_eq!(beside(&app, &half).code, 2, "{half:?}");
    }
}
