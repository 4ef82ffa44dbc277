//! Figures: the summary and the reports, beside plain sums of the ledger.

use nyala_core::domain::id::MachineId;
use nyala_core::domain::timestamp::Timestamp;
use nyala_core::figures::calendar::{Calendar, Day, Period};
use nyala_core::prices::{ClockTime, Zone};
use serde_json::{Value, json};

use crate::ops::operator::Scope;
use crate::server::listener::raw;
use crate::support::arrange::{Epay, Machine, Outlet, receipt};
use crate::support::helpers::TestApp;

const DAY_S: i64 = 86_400;

/// An outlet with three machines and a customer, whose clock has moved over some days.
struct Weeks {
    app: TestApp,
    outlet: Outlet,
    owner: String,
    calendar: Calendar,
    period: Period,
}

impl Weeks {
    /// Purchases at odd hours for `days` days, of which some are refunded, deleted, voided or not yet started; top-ups of each means of payment, and a
    /// few reversed. The customer also uses another outlet of the owner.
    async fn of(zone: &str, day_start: &str, skip_days: i64, days: i64) -> Self {
        let app = TestApp::spawn().await;
        app.advance_s(skip_days * DAY_S);
        let outlet = app.outlet("Laundry Melati").await;
        let other = app.outlet_of(outlet.idowner, "Laundry Mawar").await;
        let mut machines = Vec::new();
        for name in ["Cuci 9", "Cuci 10", "Pengering 1"] {
            machines.push(app.machine(outlet, name).await);
        }
        let elsewhere = app.machine(other, "M1").await;
        let siti = app.register_customer("81234567890", "Siti", "Rahma").await;
        let epay = app.funded(&siti, outlet, 5_000_000).await;
        let of_other = Epay { outlet: other, ..epay };
        let owner = app.key(Scope::Owner(outlet.idowner)).await;
        let change = json!({"zona": zone, "hari_mulai": day_start});
        app.ops(&owner, &format!("outlet/{}", outlet.idoutlet), &change).await.ok();
        let calendar = Calendar { zone: Zone::parse(zone).unwrap(), start: ClockTime::parse(day_start).unwrap() };
        let first = calendar.day_of(app.now());
        let step_s = 4 * 3_600 + 1_571;
        let many = u32::try_from(days * DAY_S / step_s).unwrap();
        for n in 1..=many {
            app.advance_s(step_s);
            let machine = &machines[(n * n % 3) as usize];
            match n % 9 {
                0 => {
                    let held = app.hold(epay, machine, &receipt(n)).await;
                    app.refused(&held).await;
                }
                8 => _ = app.used(of_other, &elsewhere, &receipt(n)).await,
                _ => {
                    let used = app.used(epay, machine, &receipt(n)).await;
                    if n % 5 == 0 {
                        app.refund(&used, 2_500).await;
                    }
                    if n % 10 == 0 {
                        app.advance_s(9 * 3_600);
                        app.delete(&used, 7_500).await;
                    }
                }
            }
            if n % 4 == 0 {
                let topup = app.topup(epay, 20_000 + i64::from(n)).await;
                let means = [None, Some("tunai"), Some("qris"), Some("transfer")][(n / 4 % 4) as usize];
                app.db.execute("UPDATE pembelian_emoney SET cara_bayar = $2 WHERE id = $1", &[&topup, &means]).await.unwrap();
                if n % 16 == 0 {
                    app.ops(&owner, &format!("topup/{topup}/batal"), &json!({"alasan": "keliru"})).await.ok();
                }
            }
        }
        app.assert_no_violation().await;
        let period = Period::new(first, calendar.day_of(app.now())).unwrap();
        Self { app, outlet, owner, calendar, period }
    }

    async fn see(&self, call: &str, period: Period) -> Value {
        let (id, Period { first, last }) = (self.outlet.idoutlet, period);
        self.app.ops_see(&self.owner, &format!("{call}?idoutlet={id}&dari={first}&sampai={last}")).await.ok()
    }

    /// A sum by business day, in plain SQL: `rows` has an instant and an amount.
    async fn by_day(&self, rows: &str, day: Day) -> i64 {
        let sql = format!(
            "SELECT COALESCE(SUM(r.amount), 0)::BIGINT FROM ({rows}) r (at, amount), outlet o WHERE o.idoutlet = $1
             AND ((r.at AT TIME ZONE o.zona) - make_interval(mins => o.hari_mulai))::DATE = $2::TEXT::DATE"
        );
        self.app.insert(&sql, &[&self.outlet.idoutlet, &day.to_string()]).await
    }
}

const REVENUE: &str = "SELECT created_at, CASE WHEN kind = 'post' THEN jumlah ELSE -jumlah END FROM ledger_transfer
    WHERE kind IN ('post', 'refund', 'hapus') AND idoutlet = 1";
const CYCLES: &str = "SELECT created_at, 1 FROM ledger_transfer WHERE kind = 'post' AND idoutlet = 1";
const REFUNDS: &str = "SELECT created_at, jumlah FROM ledger_transfer WHERE kind IN ('refund', 'hapus') AND idoutlet = 1";
const REVERSALS: &str = "SELECT created_at, jumlah FROM ledger_transfer WHERE kind = 'batal' AND idoutlet = 1";
const BALANCE: &str = "SELECT created_at, CASE WHEN kind IN ('post', 'batal') THEN -jumlah ELSE jumlah END FROM ledger_transfer l
    WHERE kind IN ('post', 'batal', 'topup', 'refund', 'hapus') AND idcustomer IN (SELECT idcustomer FROM customer WHERE idoutlet = 1)";

async fn all_reports_are_plain_sums(weeks: &Weeks) {
    let summary = weeks.see("ringkasan", weeks.period).await;
    let daily = weeks.see("laporan/harian", weeks.period).await;
    let balances = weeks.see("laporan/saldo", weeks.period).await;
    let (mut revenue, mut cycles, mut balance) = (0, 0, 0);
    for (n, day) in weeks.period.days().enumerate() {
        let (row, owed) = (&daily["baris"][n], &balances["baris"][n]);
        assert_eq!((&row["tanggal"], &owed["tanggal"]), (&json!(day), &json!(day)));
        for (field, sum) in [("pendapatan", REVENUE), ("siklus", CYCLES), ("refund", REFUNDS), ("batal", REVERSALS)] {
            assert_eq!(row[field], weeks.by_day(sum, day).await, "{field} on {day}");
        }
        for (field, means) in [("topup_tunai", "= 'tunai'"), ("topup_qris", "= 'qris'"), ("topup_lain", "IS NULL")] {
            let sum = format!("SELECT created_at, harga_paket FROM pembelian_emoney WHERE idoutlet = 1 AND cara_bayar {means}");
            assert_eq!(row[field], weeks.by_day(&sum, day).await, "{field} on {day}");
        }
        revenue += row["pendapatan"].as_i64().unwrap();
        cycles += row["siklus"].as_i64().unwrap();
        balance += weeks.by_day(BALANCE, day).await;
        assert_eq!(owed["saldo_akhir"], balance, "saldo on {day}");
        let change = |field: &str| owed[field].as_i64().unwrap();
        let before = if n == 0 { 0 } else { balances["baris"][n - 1]["saldo_akhir"].as_i64().unwrap() };
        assert_eq!(balance - before, change("topup") - change("batal") - change("terpakai") + change("dikembalikan"));
        let of_day = &summary["per_hari"][n];
        assert_eq!((&of_day["pendapatan"], &of_day["siklus"]), (&row["pendapatan"], &row["siklus"]));
    }
    assert!(revenue > 0 && summary["refund"].as_i64() > Some(0) && summary["batal"].as_i64() > Some(0));
    assert_eq!((&summary["pendapatan"], &summary["siklus"]), (&json!(revenue), &json!(cycles)));
    assert_eq!(
        (&summary["pemakaian"], &summary["saldo_beredar"]),
        (&json!(revenue + summary["refund"].as_i64().unwrap()), &json!(balance))
    );
    assert_eq!(summary["saldo"]["perubahan"], balance, "all of it came in the period");
    let machines = weeks.see("laporan/mesin", weeks.period).await;
    for (n, row) in machines["baris"].as_array().unwrap().iter().enumerate() {
        let of_machine = &summary["per_mesin"][n];
        assert_eq!((&of_machine["siklus"], &of_machine["pendapatan"]), (&row["siklus"], &row["pendapatan"]));
        assert_eq!(of_machine["sejak_servis"], row["siklus"], "none was serviced");
    }
    let sum = |field: &str| -> i64 { machines["baris"].as_array().unwrap().iter().map(|row| row[field].as_i64().unwrap()).sum() };
    assert_eq!((sum("siklus"), sum("pendapatan")), (cycles, revenue));
}

#[actix_web::test]
async fn figures_are_sums_of_the_ledger_by_the_outlets_days() {
    let weeks = Weeks::of("Asia/Jakarta", "04:00", 0, 14).await;
    all_reports_are_plain_sums(&weeks).await;
    // Another zone, another beginning of the day: the same movements on other days.
    let path = format!("outlet/{}", weeks.outlet.idoutlet);
    weeks.app.ops(&weeks.owner, &path, &json!({"zona": "Asia/Jayapura", "hari_mulai": "11:30"})).await.ok();
    let calendar = Calendar { zone: Zone::parse("Asia/Jayapura").unwrap(), start: ClockTime::parse("11:30").unwrap() };
    let period = Period::new(weeks.period.first.plus(-1), calendar.day_of(weeks.app.now())).unwrap();
    let weeks = Weeks { period, calendar, ..weeks };
    all_reports_are_plain_sums(&weeks).await;
    // The owner's other outlet has other days until now.
    weeks.app.db.execute("UPDATE outlet SET zona = 'Asia/Jayapura', hari_mulai = 690", &[]).await.unwrap();
    all_reports_are_plain_sums(&weeks).await;
    weeks.app.assert_no_violation().await;
}

#[actix_web::test]
async fn a_day_on_which_clocks_are_moved_has_what_happened_on_it() {
    let app = TestApp::spawn().await;
    let new_york = Zone::parse("America/New_York").unwrap();
    let calendar = Calendar { zone: new_york, start: ClockTime::parse("00:00").unwrap() };
    // The next day that has not 24 hours.
    let today = calendar.day_of(app.now());
    let hours = |day: Day| calendar.begin(day).ms_until(calendar.begin(day.plus(1))) / 3_600_000;
    let moved = (2..400).find(|n| hours(today.plus(*n)) != 24).unwrap();
    drop(app);
    let weeks = Weeks::of("America/New_York", "00:00", moved - 2, 4).await;
    all_reports_are_plain_sums(&weeks).await;
    assert!(weeks.period.days().any(|day| hours(day) != 24), "{:?}", weeks.calendar);
}

#[actix_web::test]
async fn a_day_stands_beside_the_same_day_a_week_ago_until_the_same_time() {
    let app = TestApp::spawn().await;
    let outlet = app.outlet("Melati").await;
    let (first, second) = (app.machine(outlet, "M1").await, app.machine(outlet, "M2").await);
    let siti = app.register_customer("81234567890", "Siti", "Rahma").await;
    let epay = app.funded(&siti, outlet, 500_000).await;
    let calendar = Calendar { zone: Zone::default(), start: ClockTime::parse("00:00").unwrap() };
    let today = calendar.day_of(app.now());
    // At 10:00 of tomorrow and of the weeks after: 1, 2, 3 cycles; each time one at 12:00, too.
    let mut n = 0;
    let go = |to: Timestamp| app.clock.advance_ms(app.now().ms_until(to));
    for week in 0..3 {
        let begin = calendar.begin(today.plus(1 + 7 * week));
        go(begin.plus_ms(10 * 3_600_000));
        for _ in 0..=week {
            n += 1;
            app.used(epay, &first, &receipt(n)).await;
        }
        go(begin.plus_ms(12 * 3_600_000));
        n += 1;
        app.used(epay, &first, &receipt(n)).await;
    }
    let owner = app.key(Scope::Owner(outlet.idowner)).await;
    let day = today.plus(1 + 7 * 3);
    go(calendar.begin(day).plus_ms(11 * 3_600_000 + 7 * 60_000));
    let seen = app.ops_see(&owner, "ringkasan").await.ok();
    assert_eq!((&seen["dari"], &seen["sampai"], &seen["siklus"]), (&json!(day), &json!(day), &json!(0)));
    let until = calendar.begin(day.plus(-7)).plus_ms(11 * 3_600_000 + 7 * 60_000);
    let before = json!({"dari": day.plus(-7), "sampai": day.plus(-7), "hingga": until, "pendapatan": 30_000, "siklus": 3});
    assert_eq!(seen["banding"], before, "not the one at noon");
    assert_eq!((&seen["per_mesin"][0]["biasa"], &seen["per_mesin"][1]["biasa"]), (&json!(3), &json!(0)), "of 2, 3 and 4");
    let yesterday = day.plus(-7);
    let path = format!("ringkasan?dari={yesterday}&sampai={yesterday}");
    let seen = app.ops_see(&owner, &path).await.ok();
    assert_eq!(
        (&seen["siklus"], &seen["banding"]["siklus"], &seen["banding"]["hingga"]),
        (&json!(4), &json!(3), &json!(calendar.begin(day.plus(-13))))
    );
    assert_eq!(seen["per_mesin"][0]["biasa"], 2.5);
    let first_day = format!("ringkasan?dari={0}&sampai={0}", today.plus(8));
    assert_eq!(app.ops_see(&owner, &first_day).await.ok()["per_mesin"][0]["biasa"], Value::Null, "one such day says nothing");
    let service = format!("mesin/{}/servis", first.idmesin);
    app.ops(&owner, &service, &json!({})).await.ok();
    assert_eq!(app.ops_see(&owner, "ringkasan").await.ok()["per_mesin"][0]["sejak_servis"], 0);
    assert_eq!(second.idmesin, app.insert_id("SELECT max(idmesin) FROM mesin", &[]).await);
}

#[actix_web::test]
async fn test_starts_are_in_no_figure() {
    let app = TestApp::spawn().await;
    let outlet = app.outlet("Melati").await;
    let machine = app.machine(outlet, "M1").await;
    let house = app.register_customer("81234567890", "Uji", "Melati").await;
    let epay = app.funded(&house, outlet, 100_000).await;
    let free = app.service(outlet, "Uji", 0).await;
    let test = Machine { idlayanan: free, ..machine.clone() };
    app.used(epay, &test, &receipt(1)).await;
    let held = app.hold(epay, &test, &receipt(2)).await;
    app.refused(&held).await;
    let key = app.key(Scope::Supervisor(outlet.idoutlet)).await;
    let counted = async || {
        let seen = app.ops_see(&key, "ringkasan").await.ok();
        let uses = app.ops_see(&key, "laporan/pemakaian").await.ok()["baris"].as_array().unwrap().len();
        let of = &seen["per_mesin"][0];
        let bands = of["pita"].as_array().unwrap().iter().filter(|band| band["keadaan"] == "jalan").count();
        (seen["siklus"].clone(), seen["kembali_sendiri"]["kali"].clone(), of["sejak_servis"].clone(), uses, bands)
    };
    assert_eq!(counted().await, (json!(1), json!(1), json!(1), 1, 0), "a customer's wash may be free");
    let internal = "UPDATE customer_global SET internal = TRUE, telp = NULL, password_hash = NULL WHERE id = $1";
    app.db.execute(internal, &[&house.id]).await.unwrap();
    app.db.execute("DELETE FROM siklus_hari", &[]).await.unwrap();
    app.used(epay, &test, &receipt(3)).await;
    assert_eq!(counted().await, (json!(0), json!(0), json!(0), 0, 0));
}

#[actix_web::test]
async fn minutes_down_count_once_and_not_in_a_closed_outlet() {
    let app = TestApp::spawn().await;
    let outlet = app.outlet("Melati").await;
    let machines = [app.machine(outlet, "M1").await, app.machine(outlet, "M2").await];
    let key = app.key(Scope::Supervisor(outlet.idoutlet)).await;
    let calendar = Calendar { zone: Zone::default(), start: ClockTime::parse("00:00").unwrap() };
    let day = calendar.day_of(app.now()).plus(1);
    let begin = calendar.begin(day);
    let at = |minute: i64| begin.plus_ms(minute * 60_000);
    let go = |minute| app.clock.advance_ms(app.now().ms_until(at(minute)));
    let spell = async |machine: MachineId, condition: &str, from: i64, until: i64| {
        let sql = "INSERT INTO keadaan_mesin (idmesin, keadaan, dari, sampai) VALUES ($1, $2, $3, $4)";
        app.db.execute(sql, &[&machine, &condition, &at(from), &at(until)]).await.unwrap();
    };
    let close = format!("outlet/{}/tutup", outlet.idoutlet);
    go(0);
    spell(machines[0].idmesin, "offline", -30, 60).await;
    spell(machines[0].idmesin, "perlu_petugas", 30, 100).await;
    spell(machines[0].idmesin, "belum_pasti", 120, 130).await;
    spell(machines[1].idmesin, "offline", 50, 70).await;
    // Closed from minute 90 on, twice: once until staff open it, once until a time.
    go(90);
    app.ops(&key, &close, &json!({"alasan": "mati lampu"})).await.ok();
    go(95);
    app.ops(&key, &format!("outlet/{}/buka", outlet.idoutlet), &json!({})).await.ok();
    go(125);
    app.ops(&key, &close, &json!({"alasan": "mati lampu", "sampai": at(128)})).await.ok();
    go(150);
    let seen = app.ops_see(&key, "ringkasan").await.ok();
    // 0 to 100 and 120 to 130 less what both were offline (50 to 60) and the closed minutes.
    assert_eq!(
        (&seen["per_mesin"][0]["menit_mati"], &seen["per_mesin"][1]["menit_mati"]),
        (&json!(100 - 10 - 5 + 10 - 3), &json!(10))
    );
    assert_eq!(seen["menit_mati"], 102);
    let bands: Vec<_> = seen["per_mesin"][1]["pita"].as_array().unwrap().clone();
    let band = |from, until, state: &str| json!({"dari": at(from), "sampai": at(until), "keadaan": state});
    let expected = [band(50, 60, "tidak_diketahui"), band(60, 70, "offline"), band(90, 95, "ditutup"), band(125, 128, "ditutup")];
    assert_eq!(bands, expected);
    let both = app.ops_see(&key, &format!("laporan/harian?dari={}&sampai={day}", day.plus(-1))).await.ok();
    assert_eq!((&both["baris"][0]["menit_mati"], &both["baris"][1]["menit_mati"]), (&json!(30), &json!(102)));
    let by_machine = app.ops_see(&key, &format!("laporan/mesin?dari={}&sampai={day}", day.plus(-1))).await.ok();
    assert_eq!(by_machine["baris"][0]["menit_mati"], 122);
    // Closed again, after the last closing has ended by itself.
    app.ops(&key, &close, &json!({"alasan": "libur"})).await.ok();
    spell(machines[0].idmesin, "offline", 150, 200).await;
    go(200);
    assert_eq!(app.ops_see(&key, "ringkasan").await.ok()["menit_mati"], 102);
}

#[actix_web::test]
async fn a_time_without_a_server_is_unknown() {
    let app = TestApp::spawn().await;
    let outlet = app.outlet("Melati").await;
    let machine = app.machine(outlet, "M1").await;
    let key = app.key(Scope::Supervisor(outlet.idoutlet)).await;
    let calendar = Calendar { zone: Zone::default(), start: ClockTime::parse("00:00").unwrap() };
    let begin = calendar.begin(calendar.day_of(app.now()).plus(1));
    // From its first note on, the server only continues what is written.
    app.eventually("SELECT count(*) FROM keadaan_dicatat", 1).await;
    app.clock.advance_ms(app.now().ms_until(begin.plus_ms(3_600_000)));
    app.db.batch_execute("BEGIN; DELETE FROM keadaan_dicatat").await.unwrap();
    let sql = "INSERT INTO keadaan_dicatat (idshard, dari, sampai) VALUES ($1::BIGINT::INT % 256, $2, $3)";
    for (from, until) in [(-60, 10), (25, 50)] {
        let at = |minute: i64| begin.plus_ms(minute * 60_000);
        app.db.execute(sql, &[&outlet.idoutlet, &at(from), &at(until)]).await.unwrap();
    }
    app.db.batch_execute("COMMIT").await.unwrap();
    let sql = "INSERT INTO keadaan_mesin (idmesin, keadaan, dari) VALUES ($1, 'offline', $2)";
    app.db.execute("UPDATE mesin SET online = FALSE", &[]).await.unwrap();
    app.db.execute("DELETE FROM keadaan_mesin", &[]).await.unwrap();
    app.db.execute(sql, &[&machine.idmesin, &begin]).await.unwrap();
    let seen = app.ops_see(&key, "ringkasan").await.ok();
    assert_eq!(seen["menit_mati"], 45, "of an hour, without the quarter in which no server ran");
}

#[actix_web::test]
async fn a_supervisor_sees_one_outlet_and_an_owner_what_the_others_owe() {
    let app = TestApp::spawn().await;
    let outlet = app.outlet("Melati").await;
    let other = app.outlet_of(outlet.idowner, "Mawar").await;
    let siti = app.register_customer("81234567890", "Siti", "Rahma").await;
    app.funded(&siti, outlet, 70_000).await;
    app.funded(&siti, other, 30_000).await;
    let (owner, supervisor) = (app.key(Scope::Owner(outlet.idowner)).await, app.key(Scope::Supervisor(outlet.idoutlet)).await);
    let path = format!("ringkasan?idoutlet={}", outlet.idoutlet);
    let saldo = |lain: Value| json!({"lain": lain, "batas": 1_000_000_000, "ingatkan": 800_000_000, "perubahan": 70_000});
    let seen = app.ops_see(&owner, &path).await.ok();
    assert_eq!((&seen["saldo_beredar"], &seen["saldo"]), (&json!(70_000), &saldo(json!(30_000))));
    assert_eq!(app.ops_see(&supervisor, &path).await.ok()["saldo"], saldo(Value::Null));
    app.ops_see(&owner, "ringkasan").await.expect(422, "idoutlet wajib diisi");
    app.ops_see(&supervisor, &format!("ringkasan?idoutlet={}", other.idoutlet)).await.expect(404, "outlet tidak ditemukan");
    let kasir = app.key(Scope::Kasir(outlet.idoutlet)).await;
    for call in ["ringkasan", "laporan/harian", "laporan/pemakaian"] {
        assert_eq!(app.ops_see(&kasir, call).await.status, 403, "{call}");
    }
    let day = Day::parse("2026-11-01").unwrap();
    for call in ["ringkasan", "laporan/harian", "laporan/mesin", "laporan/shift", "laporan/saldo", "laporan/pemakaian"] {
        let see = async |from: &str, until: &str| app.ops_see(&supervisor, &format!("{call}?dari={from}&sampai={until}")).await;
        see("2026-11-31", "2026-12-01").await.expect(400, "dari harus tanggal YYYY-MM-DD");
        see("2026-11-01", "kemarin").await.expect(400, "sampai harus tanggal YYYY-MM-DD");
        see("2026-11-02", "2026-11-01").await.expect(400, "dari tidak boleh sesudah sampai");
        see(&day.to_string(), &day.plus(92).to_string()).await.expect(422, "paling banyak 92 hari");
        see(&day.to_string(), &day.plus(91).to_string()).await.ok();
    }
    assert_eq!(app.ops_see(&supervisor, "laporan/harian?format=xls").await.status, 400);
}

#[actix_web::test]
async fn who_took_back_and_refunded_is_named() {
    let app = TestApp::spawn().await;
    let outlet = app.outlet("Melati").await;
    let machine = app.machine(outlet, "M1").await;
    let siti = app.register_customer("81234567890", "Siti", "Rahma").await;
    let epay = app.funded(&siti, outlet, 70_000).await;
    app.used(epay, &machine, &receipt(1)).await;
    app.used(epay, &machine, &receipt(2)).await;
    let key = app.key(Scope::Supervisor(outlet.idoutlet)).await;
    app.db.execute("UPDATE kunci_operator SET nama = 'Hadi'", &[]).await.unwrap();
    let topup = app.topup(epay, 5_000).await;
    app.ops(&key, &format!("topup/{topup}/batal"), &json!({"alasan": "keliru"})).await.ok();
    app.ops(&key, "refund", &json!({"idtransaksi": receipt(1), "nominal": 3_000, "alasan": "kotor"})).await.ok();
    app.ops(&key, "hapus", &json!({"idtransaksi": receipt(2), "alasan": "kotor"})).await.ok();
    let seen = app.ops_see(&key, "ringkasan").await.ok();
    let hadi = json!({"petugas": "Hadi", "batal": 5_000, "batal_kali": 1, "refund": 13_000, "refund_kali": 2});
    assert_eq!((&seen["per_orang"], &seen["pendapatan"]), (&json!([hadi]), &json!(7_000)));
    assert_eq!(seen["topup_kali"], json!({"tunai": 0, "qris": 0, "transfer": 0, "lain": 2}));
    assert_eq!(seen["topup"]["lain"], 75_000, "the one that was taken back, too");
}

/// A report as a file: its headers and its lines.
pub async fn file(app: &TestApp, key: &str, call: &str) -> (String, String, String) {
    let answer = raw(app, "GET", &format!("/ops/v1/{call}&format=csv"), &[("Authorization", &format!("Bearer {key}"))]).await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    let header = |name: &str| answer.headers.get(name).unwrap().to_str().unwrap().to_owned();
    (header("content-type"), header("content-disposition"), answer.body)
}

#[actix_web::test]
async fn a_file_has_hostile_names_as_texts() {
    let app = TestApp::spawn().await;
    let outlet = app.outlet("Melati").await;
    let key = app.key(Scope::Supervisor(outlet.idoutlet)).await;
    let siti = app.register_customer("81234567890", "@Siti", "Rahma;\"x\"").await;
    let epay = app.funded(&siti, outlet, 100_000).await;
    let names = ["=HYPERLINK(\"x\")", "+1", "-1", "@a", "\ttab", "\r\nbaris", "Cuci; 1", "biasa"];
    for (n, name) in (1..).zip(names) {
        let machine = app.machine(outlet, name).await;
        app.used(epay, &machine, &receipt(n)).await;
    }
    let calendar = Calendar { zone: Zone::default(), start: ClockTime::parse("00:00").unwrap() };
    let (day, at) = (calendar.day_of(app.now()), calendar.written(app.now()));
    let days = format!("dari={day}&sampai={day}");
    let (kind, disposition, text) = file(&app, &key, &format!("laporan/pemakaian?{days}")).await;
    assert_eq!(kind, "text/csv; charset=utf-8");
    assert_eq!(disposition, format!("attachment; filename=\"pemakaian-{}-{day}-{day}.csv\"", outlet.idoutlet));
    let mut expected = "\u{feff}waktu;idtransaksi;pelanggan;mesin;layanan;durasi;harga;dikembalikan;status\r\n".to_owned();
    let written = ["\"'=HYPERLINK(\"\"x\"\")\"", "'+1", "'-1", "'@a", "'\ttab", "\"'\r\nbaris\"", "\"Cuci; 1\"", "biasa"];
    for (n, mesin) in (1..).zip(written) {
        let line = format!("{at};{};\"'@Siti Rahma;\"\"x\"\"\";{mesin};Cuci Kilat;1800;10000;0;selesai\r\n", receipt(n));
        expected.push_str(&line);
    }
    assert_eq!(text, expected);
    let (_, _, text) = file(&app, &key, &format!("laporan/mesin?{days}")).await;
    assert!(text.starts_with("\u{feff}idmesin;mesin;jenis;siklus;pendapatan;refund;menit_mati\r\n"), "{text}");
    assert!(text.contains(";'-1;cuci;1;10000;0;0\r\n"), "{text}");
    // A number that is negative stays one.
    app.db.execute("UPDATE ledger_transfer SET created_at = created_at", &[]).await.unwrap_err();
    let bought = app.hold(epay, &app.machine(outlet, "M").await, &receipt(99)).await;
    app.started(&bought).await;
    app.advance_s(2 * DAY_S);
    app.refund(&bought, 10_000).await;
    let later = day.plus(2);
    let (_, name, text) = file(&app, &key, &format!("laporan/harian?dari={later}&sampai={later}")).await;
    assert_eq!(name, format!("attachment; filename=\"harian-{}-{later}-{later}.csv\"", outlet.idoutlet));
    let head = "\u{feff}tanggal;pendapatan;siklus;topup_tunai;topup_qris;topup_transfer;topup_lain;batal;refund;selisih_kas;menit_mati\r\n";
    assert_eq!(text, format!("{head}{later};-10000;0;0;0;0;0;0;10000;0;0\r\n"));
    let (_, _, text) = file(&app, &key, &format!("laporan/saldo?dari={later}&sampai={later}")).await;
    assert_eq!(text, format!("\u{feff}tanggal;topup;batal;terpakai;dikembalikan;saldo_akhir\r\n{later};0;0;0;10000;20000\r\n"));
}

#[actix_web::test]
async fn uses_come_in_pages_and_all_of_them_in_a_file() {
    let app = TestApp::spawn().await;
    let outlet = app.outlet("Melati").await;
    let machine = app.machine(outlet, "M1").await;
    let siti = app.register_customer("81234567890", "Siti", "Rahma").await;
    let epay = app.funded(&siti, outlet, 500_000).await;
    let key = app.key(Scope::Supervisor(outlet.idoutlet)).await;
    for n in 1..=7 {
        app.used(epay, &machine, &receipt(n)).await;
        app.advance_s(i64::from(n % 2));
    }
    let refused = app.hold(epay, &machine, &receipt(8)).await;
    app.refused(&refused).await;
    let (mut seen, mut next) = (Vec::new(), String::new());
    loop {
        let page = app.ops_see(&key, &format!("laporan/pemakaian?limit=3{next}")).await.ok();
        seen.extend(page["baris"].as_array().unwrap().iter().map(|row| row["idtransaksi"].as_str().unwrap().to_owned()));
        match page["lanjut"].as_i64() {
            Some(last) => next = format!("&sebelum={last}"),
            None => break,
        }
    }
    assert_eq!(seen, (1..=7).map(receipt).collect::<Vec<_>>(), "the oldest first; what never started is none");
    let (_, _, text) = file(&app, &key, "laporan/pemakaian?limit=3").await;
    assert_eq!(text.lines().count(), 8);
    let row = &app.ops_see(&key, "laporan/pemakaian?limit=1").await.ok()["baris"][0];
    let keys: Vec<_> = row.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(keys.len(), 9, "{keys:?}");
}

#[actix_web::test]
async fn a_shift_is_in_the_report_of_the_day_of_its_count() {
    let app = TestApp::spawn().await;
    let outlet = app.outlet("Melati").await;
    let rina = app.kasir(outlet.idoutlet).await;
    let shift = app.open_shift(&rina, outlet).await;
    let key = app.key(Scope::Supervisor(outlet.idoutlet)).await;
    let open = app.ops_see(&key, "laporan/shift").await.ok()["baris"][0].clone();
    assert_eq!((&open["idshift"], &open["ditutup_at"], &open["selisih"]), (&json!(shift), &Value::Null, &Value::Null));
    app.advance_s(DAY_S);
    app.close_shift(shift, &rina).await;
    app.db.execute("UPDATE shift SET dihitung = dihitung - 15000, catatan = '=kurang' WHERE id = $1", &[&shift]).await.unwrap();
    let calendar = Calendar { zone: Zone::default(), start: ClockTime::parse("00:00").unwrap() };
    let day = calendar.day_of(app.now());
    let before = app.ops_see(&key, &format!("laporan/shift?dari={0}&sampai={0}", day.plus(-1))).await.ok();
    assert_eq!(before["baris"], json!([]));
    let today = app.ops_see(&key, "laporan/shift").await.ok();
    assert_eq!((&today["baris"][0]["selisih"], &today["lanjut"]), (&json!(-15_000), &Value::Null));
    assert_eq!(app.ops_see(&key, "ringkasan").await.ok()["selisih_kas"], -15_000);
    let (_, _, text) = file(&app, &key, &format!("laporan/shift?dari={day}&sampai={day}")).await;
    let head =
        "\u{feff}idshift;perangkat;dibuka_at;dibuka_oleh;ditutup_at;ditutup_oleh;modal;diharapkan;dihitung;selisih;catatan\r\n";
    assert!(text.starts_with(head) && text.ends_with(";100000;100000;85000;-15000;'=kurang\r\n"), "{text}");
}
