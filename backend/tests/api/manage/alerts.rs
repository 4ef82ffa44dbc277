//! Alerts to staff's own browsers (docs/board.md).

use nyala_core::domain::id::OutletId;
use nyala_core::domain::role::Role;
use nyala_identity::staff::people::WorksFor;
use nyala_store::config::ServerSettings;
use serde_json::{Value, json};

use crate::cluster::{named, two_of};
use crate::ops::operator::Scope;
use crate::push::service::{Browser, PushService};
use crate::server::listener::raw;
use crate::support::arrange::receipt;
use crate::support::helpers::{Answer, TestApp};
use crate::support::shop::Shop;
use crate::till::rules::AtTill;

/// 10:00 in Jakarta: no quiet hours.
const MORNING: &str = "2026-11-23T10:00:00+07:00";

/// A member of staff with an own phone that receives alerts.
struct OnCall {
    who: AtTill,
    phone: Browser,
}

struct Alerted {
    service: PushService,
    app: TestApp,
    shop: Shop,
}

impl Alerted {
    async fn open() -> Self {
        let service = PushService::start();
        let app = service.setup().start().await;
        app.until_clock(MORNING);
        let shop = app.shop(600).await;
        Self { service, app, shop }
    }

    async fn on_call(&self, name: &str, role: Role, works_for: WorksFor) -> OnCall {
        let person = self.app.person(name, role, works_for, "246810").await;
        let who = self.app.at(&self.app.own_browser(person).await, person).await;
        let phone = self.service.browser(name);
        self.app.ask(&who, "push/langganan", &phone.body()).await.expect(200, "Pemberitahuan dinyalakan");
        OnCall { who, phone }
    }

    async fn kasir(&self, name: &str) -> OnCall {
        self.on_call(name, Role::Kasir, WorksFor::Outlet(self.shop.outlet.idoutlet)).await
    }

    async fn needs_staff(&self, yes: bool) {
        self.app.set(self.shop.idmesin, &format!("perlu_petugas = {yes}")).await;
        self.app.conditions_recorded().await;
    }

    /// What a phone was sent, in order.
    fn told(&self, of: &OnCall) -> Vec<Value> {
        let path = of.phone.endpoint.strip_prefix(&self.service.origin).unwrap();
        self.service.given().iter().filter(|given| given.path == path).map(|given| of.phone.open(given)).collect()
    }

    fn titles(&self, of: &OnCall) -> Vec<String> {
        self.told(of).iter().map(|message| message["judul"].as_str().unwrap().to_owned()).collect()
    }

    /// Waits until this many alerts were begun, repeated, taken, gone or ended, as `condition` says, and all messages are sent.
    async fn until(&self, condition: &str, alerts: i64) {
        let count = format!("SELECT count(*) FROM alarm WHERE {condition}");
        self.app.eventually(&count, alerts).await;
        self.app.all_alerted().await;
    }

    async fn take(&self, of: &OnCall, message: &Value) -> Answer {
        self.app.by_cookie(&of.who.till.cookie, "perhatian/tangani", &json!({"tangani": message["tangani"]})).await
    }
}

impl TestApp {
    /// Puts the clock forward to an instant.
    fn until_clock(&self, at: &str) {
        let at = nyala_core::domain::timestamp::Timestamp::parse_rfc3339(at).unwrap();
        self.advance_s(self.now().ms_until(at).rem_euclid(86_400_000) / 1_000);
    }

    /// Waits until a count in the database is this.
    pub async fn eventually(&self, count: &str, expected: i64) {
        for _ in 0..3_000 {
            if self.insert(count, &[]).await == expected {
                return;
            }
            actix_web::rt::time::sleep(std::time::Duration::from_millis(10)).await;
        }
        panic!("{count} is not {expected} but {}", self.insert(count, &[]).await);
    }

    /// `POST /ops/v1/<call>` with only a browser's cookie.
    async fn by_cookie(&self, cookie: &str, call: &str, body: &Value) -> Answer {
        let body = body.to_string().into_bytes();
        self.call("POST", &format!("/ops/v1/{call}"), None, &[("Cookie", cookie)], Some(body)).await
    }
}

#[actix_web::test]
async fn an_alert_is_sent_once_repeated_once_taken_by_one_and_ends_with_an_all_clear() {
    let alerted = Alerted::open().await;
    let app = &alerted.app;
    let (rina, tono) = (alerted.kasir("Rina").await, alerted.kasir("Tono").await);
    alerted.needs_staff(true).await;
    alerted.until("mulai_at IS NOT NULL", 1).await;
    let message = alerted.told(&rina)[0].clone();
    let expected = json!({
        "judul": "Mesin 01 perlu petugas", "isi": "Laundry Melati, sejak 10.00", "tuju": "/kasir/perhatian",
        "tanda": message["tanda"], "tangani": message["tangani"],
    });
    assert_eq!(message, expected);
    assert_ne!(message["tangani"], alerted.told(&tono)[0]["tangani"], "each browser has its own secret");

    app.advance_s(14 * 60);
    app.conditions_recorded().await;
    assert_eq!(alerted.titles(&rina).len(), 1);
    app.advance_s(60);
    alerted.until("lagi_at IS NOT NULL", 1).await;
    app.advance_s(15 * 60);

    // The secret of the first message is too old, that of the second one is not.
    alerted.take(&tono, &alerted.told(&tono)[0]).await.expect(401, "kunci operator tidak berlaku");
    app.advance_s(-60);
    let second = alerted.told(&tono)[1].clone();
    assert_eq!(second["judul"], "Mesin 01 perlu petugas");
    alerted.take(&rina, &second).await.expect(401, "kunci operator tidak berlaku");
    let taken = alerted.take(&tono, &second).await.ok();
    assert_eq!((&taken["nama"], &taken["sejak"]), (&json!("Tono"), &json!(app.now())));
    alerted.take(&tono, &second).await.expect(401, "kunci operator tidak berlaku");
    alerted.take(&rina, &alerted.told(&rina)[1]).await.expect(409, "sudah ditangani orang lain");
    alerted.until("diambil_oleh IS NOT NULL", 1).await;
    assert_eq!(alerted.titles(&rina)[2], "Tono ke sana");
    assert_eq!(alerted.titles(&tono).len(), 2, "who has it knows");
    let page = raw(app, "GET", "/metrics", &[]).await.body;
    assert!(page.contains("nyala_attention{kind=\"perlu_petugas\"} 1"), "{page}");

    alerted.needs_staff(false).await;
    alerted.until("hilang_at IS NOT NULL", 1).await;
    // It comes back within ten minutes: the same alert.
    app.advance_s(9 * 60);
    alerted.needs_staff(true).await;
    alerted.until("hilang_at IS NULL", 1).await;
    alerted.needs_staff(false).await;
    alerted.until("hilang_at IS NOT NULL", 1).await;
    app.advance_s(10 * 60);
    alerted.until("beres_at IS NOT NULL", 1).await;
    let told = ["Mesin 01 perlu petugas", "Mesin 01 perlu petugas", "Tono ke sana", "Mesin 01 beres"];
    assert_eq!(alerted.titles(&rina), told);
    assert_eq!(alerted.titles(&tono), ["Mesin 01 perlu petugas", "Mesin 01 perlu petugas", "Mesin 01 beres"]);
    let last = alerted.told(&rina)[3].clone();
    assert_eq!((&last["isi"], &last["tangani"], &last["tanda"]), (&json!("Laundry Melati"), &Value::Null, &message["tanda"]));
    assert_eq!(app.audit_of("perhatian.tangani").await.len(), 1);

    app.advance_s(2 * 86_400);
    nyala_store::db::prune::prune(&app.state.store).await.unwrap();
    assert_eq!(app.insert("SELECT (SELECT count(*) FROM alarm) + (SELECT count(*) FROM alarm_kirim)", &[]).await, 0);
}

#[actix_web::test]
async fn among_several_servers_one_alerts() {
    let service = PushService::start();
    let (first, second) = two_of(|name| {
        let hosts = |config: &mut ServerSettings| config.push.hosts = vec!["127.0.0.1".to_owned()];
        named(name).with(hosts)
    })
    .await;
    let owner = first.owner().await;
    let person = first.person("Sari", Role::Owner, WorksFor::Owner(owner), "246810").await;
    let sari = first.at(&first.own_browser(person).await, person).await;
    second.ask(&sari, "push/langganan", &service.browser("Sari").body()).await.ok();
    // Several outlets, so that each server owns some.
    for n in 1..=6 {
        let outlet = first.outlet_of(owner, &format!("Laundry {n}")).await;
        let machine = first.machine(outlet, "M1").await;
        first.set(machine.idmesin, "perlu_petugas = TRUE").await;
    }
    for app in [&first, &second] {
        assert!(!app.state.machines.ownership().shards().unwrap().is_empty());
        app.eventually("SELECT count(*) FROM alarm", 6).await;
    }
    first.eventually("SELECT count(*) FROM alarm_kirim WHERE sent_at IS NOT NULL", 6).await;
    assert_eq!(service.given().len(), 6, "each once");
}

#[actix_web::test]
async fn a_device_that_comes_and_goes_alerts_once() {
    let alerted = Alerted::open().await;
    let (app, shop) = (&alerted.app, alerted.shop);
    app.machine(shop.outlet, "M2").await;
    let rina = alerted.kasir("Rina").await;
    for _ in 0..4 {
        app.set(shop.idmesin, "online = FALSE").await;
        app.conditions_recorded().await;
        app.advance_s(150);
        alerted.until("hilang_at IS NULL", 1).await;
        app.set(shop.idmesin, "online = TRUE").await;
        app.conditions_recorded().await;
        app.advance_s(40);
        alerted.until("hilang_at IS NOT NULL", 1).await;
    }
    assert_eq!(alerted.titles(&rina), ["Mesin 01 offline"]);
}

#[actix_web::test]
async fn quiet_hours_hold_back_all_but_red_and_what_still_lasts_comes_after_them() {
    let alerted = Alerted::open().await;
    let (app, shop) = (&alerted.app, alerted.shop);
    let (other, third) = (app.machine(shop.outlet, "M2").await, app.machine(shop.outlet, "M3").await);
    let rina = alerted.kasir("Rina").await;
    app.until_clock("2026-11-24T01:00:00+07:00");
    for idmesin in [other.idmesin, third.idmesin] {
        app.set(idmesin, "online = FALSE").await;
    }
    app.conditions_recorded().await;
    app.advance_s(120);
    alerted.until("jenis = 'offline'", 2).await;
    alerted.needs_staff(true).await;
    alerted.until("jenis = 'perlu_petugas'", 1).await;
    assert_eq!(alerted.titles(&rina), ["Mesin 01 perlu petugas"]);
    app.set(other.idmesin, "online = TRUE").await;
    app.conditions_recorded().await;
    app.advance_s(3_600);
    alerted.until("hilang_at IS NOT NULL", 1).await;
    app.until_clock("2026-11-24T07:00:00+07:00");
    alerted.until("beres_at IS NOT NULL", 1).await;
    let titles = alerted.titles(&rina);
    assert!(titles.contains(&"M3 offline".to_owned()), "{titles:?}");
    assert!(!titles.iter().any(|title| title.starts_with("M2")), "who was told nothing hears no end: {titles:?}");
}

#[actix_web::test]
async fn only_who_is_still_there_sees_the_outlet_and_wants_the_kind_is_told() {
    let alerted = Alerted::open().await;
    let (app, shop) = (&alerted.app, alerted.shop);
    let other = app.outlet("Mawar").await;
    let rina = alerted.kasir("Rina").await;
    let chosen = alerted.kasir("Tono").await;
    let gone = alerted.kasir("Budi").await;
    let paired_again = alerted.kasir("Wati").await;
    let stopped = alerted.kasir("Dewi").await;
    let foreign = alerted.on_call("Joko", Role::Kasir, WorksFor::Outlet(other.idoutlet)).await;
    let owner = alerted.on_call("Sari", Role::Owner, WorksFor::Owner(shop.outlet.idowner)).await;
    let without = json!({"jenis": ["offline", "shift"], "idoutlet": null, "senyap": null, "ringkasan": false});
    assert_eq!(app.ask(&chosen.who, "alarm", &without).await.ok(), without);
    app.ask(&stopped.who, "push/berhenti", &json!({"endpoint": stopped.phone.endpoint}))
        .await
        .expect(200, "Pemberitahuan dimatikan");
    app.db.execute("UPDATE kunci_operator SET revoked_at = $2 WHERE id = $1", &[&gone.who.person, &app.now()]).await.unwrap();
    let moved = "UPDATE perangkat SET token_hash = sha256('baru') WHERE id = $1";
    app.db.execute(moved, &[&paired_again.who.till.id]).await.unwrap();
    alerted.needs_staff(true).await;
    alerted.until("mulai_at IS NOT NULL", 1).await;
    for on_call in [&rina, &owner] {
        assert_eq!(alerted.titles(on_call), ["Mesin 01 perlu petugas"]);
    }
    for on_call in [&chosen, &gone, &paired_again, &stopped, &foreign] {
        assert_eq!(alerted.titles(on_call), [""; 0]);
    }
    // An owner alone hears of the backup.
    app.state.metrics.backup.health.record(false, app.now());
    app.advance_s(5 * 60);
    alerted.until("jenis = 'cadangan'", 2).await; // each owner's first outlet
    assert_eq!(alerted.titles(&owner), ["Mesin 01 perlu petugas", "Cadangan data tertinggal"]);
    assert_eq!(alerted.titles(&rina).len(), 1);
}

#[actix_web::test]
async fn a_supervisor_hears_of_a_complaint_at_once_and_an_owner_when_nobody_has_answered_it_for_two_hours() {
    let alerted = Alerted::open().await;
    let (app, shop) = (&alerted.app, alerted.shop);
    let rina = alerted.kasir("Rina").await;
    let hadi = alerted.on_call("Hadi", Role::Supervisor, WorksFor::Outlet(shop.outlet.idoutlet)).await;
    let sari = alerted.on_call("Sari", Role::Owner, WorksFor::Owner(shop.outlet.idowner)).await;
    let siti = app.register_customer("81234567890", "Siti", "Rahma").await;
    let epay = app.funded(&siti, shop.outlet, 50_000).await;
    let complain = async |n| {
        app.used(epay, &app.machine(shop.outlet, &format!("Cuci {n}")).await, &receipt(n)).await;
        let body = json!({"id": receipt(n), "alasan": "berhenti"});
        app.post("/scan/v1/transaksi/masalah", Some(&siti.token), &body).await.ok()["idkeluhan"].clone()
    };
    let answered = complain(1).await;
    complain(2).await;
    alerted.until("jenis = 'keluhan'", 2).await;
    let mut titles = alerted.titles(&hadi);
    titles.sort();
    assert_eq!(titles, ["Keluhan di Cuci 1", "Keluhan di Cuci 2"]);
    let secret = alerted.told(&hadi).into_iter().find(|message| message["judul"] == "Keluhan di Cuci 2").unwrap();
    assert_eq!(alerted.take(&hadi, &secret).await.ok()["nama"], "Hadi");
    app.ops(
        &app.key(Scope::Supervisor(shop.outlet.idoutlet)).await,
        &format!("keluhan/{answered}/tolak"),
        &json!({"kalimat": "Tidak"}),
    )
    .await
    .ok();
    alerted.until("hilang_at IS NOT NULL", 1).await;
    app.advance_s(2 * 3_600 - 1);
    app.conditions_recorded().await;
    app.all_alerted().await;
    assert_eq!(alerted.titles(&sari), [""; 0]);
    app.advance_s(1);
    app.eventually("SELECT count(*) FROM alarm_kirim WHERE sent_at IS NULL AND due_at IS NOT NULL", 0).await;
    assert_eq!(alerted.titles(&sari), ["Keluhan di Cuci 2"]);
    assert_eq!(alerted.titles(&rina), [""; 0], "a kasir answers none");
}

#[actix_web::test]
async fn who_asked_for_it_gets_the_figures_of_the_day_before_when_the_outlet_opens() {
    let alerted = Alerted::open().await;
    let (app, shop) = (&alerted.app, alerted.shop);
    let at = WorksFor::Outlet(shop.outlet.idoutlet);
    let hadi = alerted.on_call("Hadi", Role::Supervisor, at).await;
    let wati = alerted.on_call("Wati", Role::Supervisor, at).await;
    let rina = alerted.kasir("Rina").await;
    let wanted = json!({"jenis": [], "idoutlet": null, "senyap": null, "ringkasan": true});
    for who in [&hadi, &rina] {
        app.ask(&who.who, "alarm", &wanted).await.ok();
    }
    let siti = app.register_customer("81234567890", "Siti", "Rahma").await;
    let epay = app.funded(&siti, shop.outlet, 50_000).await;
    let machine = app.machine(shop.outlet, "M2").await;
    let bought = app.used(epay, &machine, "SLF000000000000001").await;
    app.refund(&bought, 2_500).await;
    let again = app.machine(shop.outlet, "M3").await;
    app.used(epay, &again, "SLF000000000000002").await;
    app.db.execute("UPDATE outlet SET jam_buka = 510", &[]).await.unwrap();
    app.until_clock("2026-11-24T08:29:00+07:00");
    app.conditions_recorded().await;
    app.advance_s(60);
    app.eventually("SELECT count(*) FROM alarm_kirim WHERE apa = 'ringkasan' AND sent_at IS NOT NULL", 1).await;
    let expected = json!({
        "judul": "Laundry Melati kemarin", "isi": "Rp 17.500, 2 siklus", "tuju": "/kasir/ringkasan",
        "tanda": alerted.told(&hadi)[0]["tanda"], "tangani": null,
    });
    assert_eq!(alerted.told(&hadi), [expected]);
    assert_eq!((alerted.told(&wati).len(), alerted.told(&rina).len()), (0, 0), "not asked for; not a kasir's");
    app.advance_s(24 * 3_600);
    app.eventually("SELECT count(*) FROM alarm_kirim WHERE apa = 'ringkasan' AND sent_at IS NOT NULL", 2).await;
    assert_eq!(alerted.told(&hadi)[1]["isi"], "Rp 0, 0 siklus");
}

#[actix_web::test]
async fn a_person_chooses_kinds_outlets_and_quiet_hours() {
    let app = TestApp::spawn().await;
    let outlet = app.outlet("Melati").await;
    let foreign = app.outlet("Mawar").await;
    let rina = app.kasir(outlet.idoutlet).await;
    let all = [
        "perlu_petugas",
        "ditutup_sistem",
        "tanpa_bayar",
        "outlet_putus",
        "belum_pasti",
        "ditolak",
        "tidak_jalan",
        "jalan_sendiri",
        "pindah",
        "keluhan",
        "qris",
        "offline",
        "shift",
        "cadangan",
        "papan_lama",
    ];
    let at_first = json!({"jenis": all, "idoutlet": null, "senyap": {"dari": "22:00", "sampai": "07:00"}, "ringkasan": false});
    assert_eq!(app.see(&rina, "alarm").await.ok(), at_first);
    let ids = |ids: &[OutletId]| json!(ids);
    let wanted = json!({
        "jenis": ["offline", "belum_pasti", "offline"], "idoutlet": ids(&[outlet.idoutlet, outlet.idoutlet]),
        "senyap": {"dari": "23:30", "sampai": "24:00"}, "ringkasan": true,
    });
    let stored = json!({
        "jenis": ["belum_pasti", "offline"], "idoutlet": ids(&[outlet.idoutlet]), "senyap": {"dari": "23:30", "sampai": "24:00"}, "ringkasan": true,
    });
    assert_eq!(app.ask(&rina, "alarm", &wanted).await.ok(), stored);
    assert_eq!(app.see(&rina, "alarm").await.ok(), stored);
    let quiet = "senyap harus dari 00:00 sampai 24:00, dengan dua jam yang berbeda";
    for (field, value, status, told) in [
        ("jenis", json!(["panas"]), 400, "jenis tidak dikenal"),
        ("idoutlet", ids(&[foreign.idoutlet]), 404, "outlet tidak ditemukan"),
        ("senyap", json!({"dari": "24:00", "sampai": "07:00"}), 400, quiet),
        ("senyap", json!({"dari": "07:00", "sampai": "07:00"}), 400, quiet),
        ("senyap", json!({"dari": "7", "sampai": "07:00"}), 400, quiet),
    ] {
        let mut bad = wanted.clone();
        bad[field] = value;
        app.ask(&rina, "alarm", &bad).await.expect(status, told);
    }
    assert_eq!(app.see(&rina, "alarm").await.ok(), stored);
    assert_eq!(app.audit_of("alarm.ubah").await, [stored]);
}

#[actix_web::test]
async fn only_an_own_browser_receives_alerts() {
    let alerted = Alerted::open().await;
    let (app, shop) = (&alerted.app, alerted.shop);
    let tablet = app.kasir(shop.outlet.idoutlet).await;
    let phone = alerted.service.browser("tablet");
    for answer in [
        app.see(&tablet, "push/kunci").await,
        app.ask(&tablet, "push/langganan", &phone.body()).await,
        app.ask(&tablet, "push/berhenti", &json!({"endpoint": phone.endpoint})).await,
    ] {
        answer.expect(403, "hanya di ponsel sendiri");
    }
    let rina = alerted.kasir("Rina").await;
    assert_eq!(app.see(&rina.who, "push/kunci").await.ok()["kunci"].as_str().unwrap().len(), 87);
    let bad = json!({"endpoint": "https://example.com/x", "p256dh": "", "auth": ""});
    assert_eq!(app.ask(&rina.who, "push/langganan", &bad).await.status, 400);
    // The same browser again has one subscription, and the key of a program none.
    app.ask(&rina.who, "push/langganan", &rina.phone.body()).await.ok();
    assert_eq!(app.insert("SELECT count(*) FROM langganan_petugas", &[]).await, 1);
    let key = app.key(Scope::Kasir(shop.outlet.idoutlet)).await;
    app.ops(&key, "push/langganan", &phone.body()).await.expect(403, "hanya dari perangkat kasir, bukan dengan kunci operator");
    app.by_cookie(&rina.who.till.cookie, "perhatian/tangani", &json!({"tangani": "1.x"}))
        .await
        .expect(401, "kunci operator tidak berlaku");
    app.by_cookie(&rina.who.till.cookie, "perhatian/tangani", &json!({"jenis": "offline"}))
        .await
        .expect(401, "kunci operator tidak berlaku");
}
