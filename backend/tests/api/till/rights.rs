//! The table of rights (docs/till.md, docs/contract.md §4), walked: every call below `/ops/v1`, with every role, as a key and at a till, and from
//! another outlet.

use nyala_core::domain::id::WalletId;
use nyala_core::domain::role::Role;
use nyala_identity::staff::people::WorksFor;
use serde_json::{Value, json};

use crate::devices::device_keys::mqtt_machine;
use crate::ops::operator::Scope;
use crate::support::arrange::{Outlet, receipt};
use crate::support::helpers::{Answer, TestApp};
use crate::till::rules::AtTill;

/// Who may make a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum May {
    /// Any person who is logged in at a till.
    AtTill,
    /// Any person who is logged in, also a technician.
    LoggedIn,
    /// A session or an API key of this role and above.
    From(Role),
    /// The same, and a technician's.
    TechnicianAndFrom(Role),
    /// A session or a key of a supervisor and above; a kasir's session with an approval.
    WithApproval,
    /// A session of a supervisor and above; a kasir's with an approval.
    WithApprovalAtTill,
    /// A session, or a key of a supervisor and above: a kasir sees the till's own shift.
    FromSupervisorOrAtTill,
    /// A session in a person's own browser, not at an outlet's till (`backend/tests/api/manage/alerts.rs`).
    InOwnBrowser,
}

/// The answer to another outlet's people: not found, or only their own data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Foreign {
    NotFound,
    /// The call names nothing of the outlet.
    OwnOnly,
}

struct Call {
    method: &'static str,
    path: &'static str,
    body: fn(&RightsShop) -> Value,
    may: May,
    foreign: Foreign,
}

struct RightsShop {
    app: TestApp,
    outlet: Outlet,
    customer: i64,
    idcustomer: WalletId,
    topup: i64,
    paket: i64,
    person: i64,
    browser: i64,
    /// The API key of a kasir.
    key: i64,
    machine: i64,
    service: i64,
    /// A machine whose device logs in with a key.
    washer: i64,
    complaint: i64,
    /// A bill of another till.
    bill: String,
}

fn nothing(_: &RightsShop) -> Value {
    json!({})
}

const fn call(method: &'static str, path: &'static str, body: fn(&RightsShop) -> Value, may: May, foreign: Foreign) -> Call {
    Call { method, path, body, may, foreign }
}

/// Calls that need only a code or a cookie, before there is a role.
const OPEN: [&str; 4] = ["POST pasang", "GET perangkat/saya", "POST masuk", "POST soket/papan"];

const CALLS: &[Call] = &[
    call("POST", "owner", |_| json!({ "nama": "Bu Ani" }), May::From(Role::Root), Foreign::OwnOnly),
    call(
        "POST",
        "outlet",
        |s| json!({ "idowner": s.outlet.idowner, "nama": "Dago", "kota": "Bandung", "latitude": 0, "longitude": 0 }),
        May::From(Role::Owner),
        Foreign::NotFound,
    ),
    call(
        "POST",
        "layanan",
        |s| json!({ "idoutlet": s.outlet.idoutlet, "nama": "Cuci", "durasi": 60, "harga": 1000 }),
        May::From(Role::Supervisor),
        Foreign::NotFound,
    ),
    call("GET", "outlet", nothing, May::TechnicianAndFrom(Role::Kasir), Foreign::OwnOnly),
    call("POST", "outlet/{outlet}", |_| json!({ "alamat": "Jalan Dago 1" }), May::From(Role::Owner), Foreign::NotFound),
    call("POST", "outlet/{outlet}/tutup", |_| json!({ "alasan": "uji" }), May::From(Role::Supervisor), Foreign::NotFound),
    call("POST", "outlet/{outlet}/buka", nothing, May::From(Role::Supervisor), Foreign::NotFound),
    call("GET", "layanan", nothing, May::From(Role::Kasir), Foreign::OwnOnly),
    call("POST", "layanan/{layanan}", |_| json!({ "nama": "Cuci" }), May::From(Role::Supervisor), Foreign::NotFound),
    call(
        "POST",
        "mesin",
        |s| json!({ "idoutlet": s.outlet.idoutlet, "nama": "Mesin 9", "driver": "sim" }),
        May::From(Role::Supervisor),
        Foreign::NotFound,
    ),
    call(
        "POST",
        "mesin/bulk",
        |s| json!({ "idoutlet": s.outlet.idoutlet, "jumlah": 2, "awalan": "M", "driver": "sim" }),
        May::From(Role::Supervisor),
        Foreign::NotFound,
    ),
    call("GET", "mesin/{machine}", nothing, May::From(Role::Kasir), Foreign::NotFound),
    call("POST", "pelanggan/bulk", |_| json!({ "jumlah": 1, "awalan_telp": "8990" }), May::From(Role::Root), Foreign::OwnOnly),
    call("GET", "topup", nothing, May::FromSupervisorOrAtTill, Foreign::OwnOnly),
    call("GET", "topup/{topup}", nothing, May::FromSupervisorOrAtTill, Foreign::NotFound),
    call("GET", "pemakaian", nothing, May::FromSupervisorOrAtTill, Foreign::OwnOnly),
    call("GET", "shift", nothing, May::AtTill, Foreign::OwnOnly),
    call("POST", "shift", |_| json!({ "modal": -1 }), May::AtTill, Foreign::OwnOnly),
    call("POST", "shift/kas", |_| json!({ "jenis": "masuk", "nominal": 0, "alasan": "uji" }), May::AtTill, Foreign::OwnOnly),
    call("POST", "shift/tutup", |_| json!({ "dihitung": -1 }), May::AtTill, Foreign::OwnOnly),
    call("POST", "shift/999/catatan", |_| json!({ "catatan": "uji" }), May::AtTill, Foreign::OwnOnly),
    call("POST", "soket", nothing, May::LoggedIn, Foreign::OwnOnly),
    call(
        "POST",
        "izin",
        |_| json!({ "idpetugas": 999, "pin": "246810", "aksi": "batal", "objek": "1" }),
        May::AtTill,
        Foreign::OwnOnly,
    ),
    call("POST", "pelanggan/cari", |_| json!({ "telp": "81234567890" }), May::AtTill, Foreign::OwnOnly),
    call("GET", "pelanggan/{customer}", nothing, May::From(Role::Supervisor), Foreign::NotFound),
    call("GET", "pelanggan/{customer}/riwayat", nothing, May::From(Role::Supervisor), Foreign::NotFound),
    call("GET", "audit?idoutlet={outlet}", nothing, May::From(Role::Supervisor), Foreign::NotFound),
    call("GET", "kunci", nothing, May::From(Role::Supervisor), Foreign::OwnOnly),
    call(
        "POST",
        "kunci",
        |s| json!({ "nama": "Program", "role": "kasir", "idoutlet": s.outlet.idoutlet }),
        May::From(Role::Supervisor),
        Foreign::NotFound,
    ),
    call("POST", "kunci/{key}/cabut", nothing, May::From(Role::Supervisor), Foreign::NotFound),
    call("GET", "paket", nothing, May::From(Role::Kasir), Foreign::OwnOnly),
    call(
        "POST",
        "paket",
        |s| json!({ "idoutlet": s.outlet.idoutlet, "nama": "Hemat", "harga": 100, "quota": 110 }),
        May::From(Role::Supervisor),
        Foreign::NotFound,
    ),
    call("POST", "paket/{paket}", |_| json!({ "nama": "Hemat" }), May::From(Role::Supervisor), Foreign::NotFound),
    call(
        "POST",
        "topup",
        |s| json!({ "id_customer_global": s.customer, "idoutlet": s.outlet.idoutlet, "nominal": 1000, "ulang": true }),
        May::From(Role::Kasir),
        Foreign::NotFound,
    ),
    call("POST", "topup/{topup}/batal", |_| json!({ "alasan": "uji" }), May::WithApproval, Foreign::NotFound),
    call(
        "POST",
        "refund",
        |s| json!({ "idtransaksi": receipt(1), "idcustomer": s.idcustomer, "nominal": 1, "alasan": "uji" }),
        May::WithApproval,
        Foreign::NotFound,
    ),
    call(
        "POST",
        "hapus",
        |s| json!({ "idtransaksi": receipt(1), "idcustomer": s.idcustomer, "alasan": "uji" }),
        May::WithApproval,
        Foreign::NotFound,
    ),
    call("POST", "pindah", |_| json!({ "qr": "NYC1.asing", "telp": "81234567890" }), May::WithApprovalAtTill, Foreign::OwnOnly),
    call("POST", "tarik/hitung", |_| json!({ "qr": "NYC1.asing" }), May::AtTill, Foreign::OwnOnly),
    call(
        "POST",
        "tarik",
        |_| json!({ "qr": "NYC1.asing", "dibayar": 1, "hangus": 0 }),
        May::WithApprovalAtTill,
        Foreign::OwnOnly,
    ),
    call("GET", "keluhan?idoutlet={outlet}", nothing, May::From(Role::Supervisor), Foreign::NotFound),
    call("POST", "keluhan/{complaint}/tolak", |_| json!({ "kalimat": "uji" }), May::From(Role::Supervisor), Foreign::NotFound),
    call("GET", "petugas", nothing, May::From(Role::Supervisor), Foreign::OwnOnly),
    call(
        "POST",
        "petugas",
        |s| json!({ "nama": "Baru", "role": "kasir", "idoutlet": s.outlet.idoutlet }),
        May::From(Role::Supervisor),
        Foreign::NotFound,
    ),
    call("POST", "petugas/{person}/buka_kunci", nothing, May::From(Role::Supervisor), Foreign::NotFound),
    call("POST", "petugas/{person}/reset_pin", nothing, May::From(Role::Supervisor), Foreign::NotFound),
    call("GET", "perangkat", nothing, May::From(Role::Supervisor), Foreign::OwnOnly),
    call(
        "POST",
        "perangkat",
        |s| json!({ "nama": "Baru", "idoutlet": s.outlet.idoutlet }),
        May::From(Role::Supervisor),
        Foreign::NotFound,
    ),
    call("POST", "mesin/{washer}/perangkat", nothing, May::From(Role::Supervisor), Foreign::NotFound),
    call("POST", "mesin/999/stop", |_| json!({ "alasan": "uji" }), May::From(Role::Kasir), Foreign::NotFound),
    call("GET", "mesin?idoutlet={outlet}", nothing, May::TechnicianAndFrom(Role::Kasir), Foreign::NotFound),
    call("GET", "perhatian?idoutlet={outlet}", nothing, May::From(Role::Kasir), Foreign::NotFound),
    call(
        "POST",
        "perhatian/tangani",
        |_| json!({ "jenis": "offline", "idmesin": 1, "sejak": "2026-11-20T00:00:00Z" }),
        May::From(Role::Kasir),
        Foreign::NotFound,
    ),
    call("GET", "alarm", nothing, May::AtTill, Foreign::OwnOnly),
    call(
        "POST",
        "alarm",
        |_| json!({ "jenis": ["offline"], "idoutlet": null, "senyap": null, "ringkasan": false }),
        May::AtTill,
        Foreign::OwnOnly,
    ),
    call("GET", "push/kunci", nothing, May::InOwnBrowser, Foreign::OwnOnly),
    call("POST", "push/langganan", |_| json!({ "endpoint": "", "p256dh": "", "auth": "" }), May::InOwnBrowser, Foreign::OwnOnly),
    call("POST", "push/berhenti", |_| json!({ "endpoint": "" }), May::InOwnBrowser, Foreign::OwnOnly),
    call("GET", "ringkasan?idoutlet={outlet}", nothing, May::From(Role::Supervisor), Foreign::NotFound),
    call("GET", "laporan/harian?idoutlet={outlet}", nothing, May::From(Role::Supervisor), Foreign::NotFound),
    call("GET", "laporan/mesin?idoutlet={outlet}", nothing, May::From(Role::Supervisor), Foreign::NotFound),
    call("GET", "laporan/shift?idoutlet={outlet}", nothing, May::From(Role::Supervisor), Foreign::NotFound),
    call("GET", "laporan/saldo?idoutlet={outlet}", nothing, May::From(Role::Supervisor), Foreign::NotFound),
    call("GET", "laporan/pemakaian?idoutlet={outlet}", nothing, May::From(Role::Supervisor), Foreign::NotFound),
    call("GET", "laporan/qris?idoutlet={outlet}", nothing, May::From(Role::Owner), Foreign::NotFound),
    call("POST", "tagihan", |s| json!({ "id_customer_global": s.customer, "nominal": 1000 }), May::AtTill, Foreign::OwnOnly),
    call("GET", "tagihan", nothing, May::FromSupervisorOrAtTill, Foreign::OwnOnly),
    call("GET", "tagihan/{bill}", nothing, May::FromSupervisorOrAtTill, Foreign::NotFound),
    call("POST", "tagihan/{bill}/batal", nothing, May::FromSupervisorOrAtTill, Foreign::NotFound),
    call("POST", "tagihan/{bill}/selesai", |_| json!({ "catatan": "uji" }), May::From(Role::Owner), Foreign::NotFound),
    call("GET", "saya", nothing, May::TechnicianAndFrom(Role::Kasir), Foreign::OwnOnly),
    call("POST", "mesin/{machine}", |_| json!({ "ukuran": "14 kg" }), May::From(Role::Supervisor), Foreign::NotFound),
    call("GET", "mesin/{machine}/rincian", nothing, May::TechnicianAndFrom(Role::Kasir), Foreign::NotFound),
    call("POST", "mesin/{machine}/tutup", |_| json!({ "alasan": "uji" }), May::TechnicianAndFrom(Role::Kasir), Foreign::NotFound),
    call("POST", "mesin/{machine}/buka", nothing, May::TechnicianAndFrom(Role::Supervisor), Foreign::NotFound),
    call("POST", "mesin/{machine}/tanya", nothing, May::TechnicianAndFrom(Role::Kasir), Foreign::NotFound),
    call("POST", "mesin/{machine}/uji", |_| json!({ "durasi": 1 }), May::TechnicianAndFrom(Role::Supervisor), Foreign::NotFound),
    call("POST", "mesin/{machine}/servis", nothing, May::TechnicianAndFrom(Role::Supervisor), Foreign::NotFound),
    call("POST", "mesin/{machine}/stiker", |_| json!({ "alasan": "uji" }), May::From(Role::Supervisor), Foreign::NotFound),
    call("GET", "stiker?id={machine}", nothing, May::From(Role::Supervisor), Foreign::NotFound),
    call("POST", "outlet/{outlet}/kunci_mesin", nothing, May::From(Role::Owner), Foreign::NotFound),
    call("GET", "outlet/{outlet}/siap", nothing, May::From(Role::Supervisor), Foreign::NotFound),
    call("POST", "outlet/{outlet}/urut", |_| json!({ "mesin": [] }), May::From(Role::Supervisor), Foreign::NotFound),
    call("POST", "perangkat/{browser}/pasang", nothing, May::From(Role::Supervisor), Foreign::NotFound),
    call("POST", "perangkat/{browser}/cabut", nothing, May::From(Role::Supervisor), Foreign::NotFound),
    call("POST", "petugas/{person}/cabut", nothing, May::From(Role::Supervisor), Foreign::NotFound),
    call("POST", "keluar", nothing, May::LoggedIn, Foreign::OwnOnly),
];

const ROLES: [Role; 4] = [Role::Technician, Role::Kasir, Role::Supervisor, Role::Owner];

impl RightsShop {
    async fn open() -> Self {
        let app = TestApp::spawn().await;
        let outlet = app.outlet("Melati").await;
        let customer = app.register_customer("81234567890", "Siti", "Rahma").await;
        let epay = app.funded(&customer, outlet, 50_000).await;
        let topup = app.insert("SELECT max(id) FROM pembelian_emoney", &[]).await;
        let machine = app.machine(outlet, "Cuci 1").await;
        app.running(epay, &machine, 1).await;
        let complaint = json!({ "id": receipt(1), "alasan": "hasil" });
        let complaint = app.post("/scan/v1/transaksi/masalah", Some(&customer.token), &complaint).await.ok();
        let paket = app
            .insert(
                "INSERT INTO paket (idoutlet, nama, harga, quota, created_at) VALUES ($1, 'Paket', 1000, 1100, $2) RETURNING idpaket",
                &[&outlet.idoutlet, &app.now()],
            )
            .await;
        let person = app.person("Tono", Role::Kasir, WorksFor::Outlet(outlet.idoutlet), "864203").await;
        let browser = app.till(outlet.idoutlet).await.id;
        let key = app.key(Scope::Kasir(outlet.idoutlet)).await.split('_').nth(1).unwrap().parse().unwrap();
        let washer = mqtt_machine(&app, outlet, "Cuci 2").await;
        let idcustomer = app.insert("SELECT idcustomer FROM customer", &[]).await;
        app.takes_qris(outlet, "simulated").await;
        let seller = app.seller(outlet).await;
        let bill = app.ask(&seller, "tagihan", &json!({ "id_customer_global": customer.id, "nominal": 1000 })).await.ok();
        Self {
            app,
            outlet,
            customer: customer.id.get(),
            idcustomer: WalletId::new(idcustomer),
            topup,
            paket,
            person: person.get(),
            browser: browser.get(),
            key,
            machine: machine.idmesin.get(),
            service: machine.idlayanan.get(),
            washer,
            complaint: complaint["idkeluhan"].as_i64().unwrap(),
            bill: bill["idtagihan"].as_str().unwrap().to_owned(),
        }
    }

    fn path(&self, call: &Call) -> String {
        call.path
            .replace("{paket}", &self.paket.to_string())
            .replace("{outlet}", &self.outlet.idoutlet.to_string())
            .replace("{layanan}", &self.service.to_string())
            .replace("{topup}", &self.topup.to_string())
            .replace("{person}", &self.person.to_string())
            .replace("{customer}", &self.customer.to_string())
            .replace("{key}", &self.key.to_string())
            .replace("{browser}", &self.browser.to_string())
            .replace("{machine}", &self.machine.to_string())
            .replace("{washer}", &self.washer.to_string())
            .replace("{complaint}", &self.complaint.to_string())
            .replace("{bill}", &self.bill)
    }

    /// A person with a role at a till of an outlet, with an open shift where the role sells.
    async fn at_till(&self, role: Role, outlet: Outlet) -> AtTill {
        let works_for = match role {
            Role::Owner => WorksFor::Owner(outlet.idowner),
            _ => WorksFor::Outlet(outlet.idoutlet),
        };
        let person = self.app.person("Uji", role, works_for, "246810").await;
        let who = self.app.at(&self.app.till(outlet.idoutlet).await, person).await;
        if role != Role::Technician {
            self.app.ask(&who, "shift", &json!({ "modal": 100_000 })).await.ok();
        }
        who
    }

    fn scope(&self, role: Role) -> Scope {
        match role {
            Role::Technician => Scope::Technician(self.outlet.idoutlet),
            Role::Kasir => Scope::Kasir(self.outlet.idoutlet),
            Role::Supervisor => Scope::Supervisor(self.outlet.idoutlet),
            Role::Owner | Role::Root => Scope::Owner(self.outlet.idowner),
        }
    }

    async fn by_key(&self, call: &Call, key: &str) -> Answer {
        let path = format!("/ops/v1/{}", self.path(call));
        let once = uuid::Uuid::new_v4().to_string();
        let body = (call.method == "POST").then(|| (call.body)(self).to_string().into_bytes());
        self.app.call(call.method, &path, Some(key), &[("Idempotency-Key", &once)], body).await
    }

    async fn by_person(&self, call: &Call, who: &AtTill) -> Answer {
        match call.method {
            "GET" => self.app.see(who, &self.path(call)).await,
            _ => self.app.ask(who, &self.path(call), &(call.body)(self)).await,
        }
    }
}

/// Whether a role may make a call, at a till or with a key.
fn may(call: &Call, role: Role, at_till: bool) -> bool {
    match call.may {
        May::LoggedIn => at_till,
        May::TechnicianAndFrom(least) => role >= least || role == Role::Technician,
        _ if role == Role::Technician => false,
        May::AtTill => at_till,
        May::From(least) => role >= least,
        May::WithApproval => role >= Role::Supervisor,
        May::WithApprovalAtTill => at_till && role >= Role::Supervisor,
        May::FromSupervisorOrAtTill => at_till || role >= Role::Supervisor,
        May::InOwnBrowser => false,
    }
}

#[actix_web::test]
async fn the_table_has_every_call() {
    let document: Value = serde_json::from_str(include_str!("../../../server/openapi.json")).unwrap();
    let mut there = Vec::new();
    for (path, operations) in document["paths"].as_object().unwrap() {
        let Some(call) = path.strip_prefix("/ops/v1/") else { continue };
        there.extend(operations.as_object().unwrap().keys().map(|method| format!("{} {call}", method.to_uppercase())));
    }
    let plain = |path: &str| {
        let path = path.split('?').next().unwrap_or(path);
        let parts = path.split('/').map(|part| if part.starts_with('{') || part == "999" { "{id}" } else { part });
        parts.collect::<Vec<_>>().join("/")
    };
    let mut walked: Vec<_> = CALLS.iter().map(|call| format!("{} {}", call.method, plain(call.path))).collect();
    walked.extend(OPEN.map(str::to_owned));
    there.sort();
    walked.sort();
    assert_eq!(walked, there);
}

#[actix_web::test]
async fn every_call_is_for_whom_the_table_says() {
    for role in ROLES {
        for at_till in [true, false] {
            // A separate shop for each. Calls that end something come last in the table.
            let shop = RightsShop::open().await;
            let (who, key) = (shop.at_till(role, shop.outlet).await, shop.app.key(shop.scope(role)).await);
            for call in CALLS {
                let answer = if at_till { shop.by_person(call, &who).await } else { shop.by_key(call, &key).await };
                let context = format!(
                    "{} {} by {role}, at a till: {at_till}: {} {}",
                    call.method, call.path, answer.status, answer.message
                );
                assert_eq!(answer.status != 403, may(call, role, at_till), "{context}");
                assert!(answer.status != 401 && answer.status < 500, "{context}");
            }
            let nowhere = "SELECT count(*) FROM audit_log WHERE aktor LIKE 'operator:%' AND idoutlet IS NULL";
            assert_eq!(shop.app.insert(nowhere, &[]).await, 0, "each change says where it was made");
        }
    }
}

#[actix_web::test]
async fn another_outlets_people_find_nothing_of_it() {
    let shop = RightsShop::open().await;
    let elsewhere = shop.app.outlet("Mawar").await;
    for role in ROLES {
        let who = shop.at_till(role, elsewhere).await;
        let key = match role {
            Role::Owner => shop.app.key(Scope::Owner(elsewhere.idowner)).await,
            Role::Technician => shop.app.key(Scope::Technician(elsewhere.idoutlet)).await,
            Role::Kasir => shop.app.key(Scope::Kasir(elsewhere.idoutlet)).await,
            _ => shop.app.key(Scope::Supervisor(elsewhere.idoutlet)).await,
        };
        let before = shop.app.footprint().await;
        for call in CALLS.iter().filter(|call| call.foreign == Foreign::NotFound && may(call, role, false)) {
            for answer in [shop.by_person(call, &who).await, shop.by_key(call, &key).await] {
                assert_eq!(answer.status, 404, "{} {} by a foreign {role}: {}", call.method, call.path, answer.message);
            }
        }
        assert_eq!(shop.app.footprint().await, before, "nothing was changed");
        for list in ["petugas", "perangkat", "paket", "topup", "pemakaian", "tagihan", "outlet", "layanan"] {
            let seen = shop.app.see(&who, list).await.data.to_string();
            for theirs in ["Tono", "Paket", "Siti", "Cuci 1", "Melati", "Cuci Kilat"] {
                assert!(!seen.contains(theirs), "{list} shows {theirs}: {seen}");
            }
        }
    }
}

#[actix_web::test]
async fn a_cookie_without_its_session_and_a_session_without_its_cookie_open_nothing() {
    let shop = RightsShop::open().await;
    let who = shop.at_till(Role::Owner, shop.outlet).await;
    let other = shop.app.till(shop.outlet.idoutlet).await;
    for call in CALLS {
        let path = format!("/ops/v1/{}", shop.path(call));
        let body = || (call.method == "POST").then(|| (call.body)(&shop).to_string().into_bytes());
        for (token, cookie, message) in [
            (None, Some(&who.till.cookie), "kunci operator tidak berlaku"),
            (Some(&who.token), None, "perangkat belum dipasang"),
            (Some(&who.token), Some(&other.cookie), "sesi berakhir"),
        ] {
            let headers: Vec<_> = cookie.map(|c| ("Cookie", c.as_str())).into_iter().collect();
            let answer = shop.app.call(call.method, &path, token.map(String::as_str), &headers, body()).await;
            answer.expect(401, message);
        }
    }
}
