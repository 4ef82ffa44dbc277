//! The demo (docs/contract.md §5): one owner, three outlets, machines, services, a customer with two funded accounts, two people at the
//! first outlet's till, and the owner in a browser of her own. A fourth outlet has machines without simulated devices. Only an empty database is seeded.

pub mod devices;

use deadpool_postgres::{GenericClient, Transaction};
use serde_json::json;

use nyala_core::domain::driver_kind::DriverKind;
use nyala_core::domain::id::{OutletId, OwnerId, StaffId};
use nyala_core::domain::pin::Pin;
use nyala_core::domain::role::Role;
use nyala_core::domain::rupiah::Rupiah;
use nyala_core::domain::telp::Telp;
use nyala_core::domain::timestamp::Timestamp;
use nyala_identity::auth::argon;
use nyala_identity::staff::browser::BrowserOf;
use nyala_identity::staff::people::{self, WorksFor};
use nyala_identity::staff::pin_hash::PinHash;
use nyala_ledger::topup::{AccountKind, Package, Payment};
use nyala_store::db::audit::{self, AuditEntry};
use nyala_store::db::pool::Db;
use nyala_store::secrets::Secrets;
use nyala_web::http::error::AppError;
use nyala_web::ops::machine::install::{self as mesin, NewMachines};
use nyala_web::ops::people::customers_bulk as pelanggan_bulk;
use nyala_web::ops::people::customers_bulk::PASSWORD;
use nyala_web::ops::people::payee;
use nyala_web::ops::scope::Outlet;
use nyala_web::ops::shop::outlet::{self, Premises};
use nyala_web::ops::shop::service as layanan;
use nyala_web::ops::shop::service::Offer;
use nyala_web::ops::till::browsers as perangkat;
use nyala_web::ops::topup::sell as topup;
use nyala_web::ops::topup::sell::Allowed;

/// The demo customer's number, as it is stored.
pub const TELP: &str = "81234567890";

/// Serialises several processes that would seed the same database.
const SEED_LOCK: i64 = 0x4e59_414c_4105;
const PRINCIPAL: &str = "demo";
/// Action in the audit log that marks a seeded database.
const ACTION: &str = "demo.isi";

/// Name, town, latitude, longitude.
const OUTLETS: [(&str, &str, f64, f64); 3] = [
    ("Nyala Kemang", "Jakarta Selatan", -6.2607, 106.8137),
    ("Nyala Dago", "Bandung", -6.8852, 107.6139),
    ("Nyala Seturan", "Yogyakarta", -7.7697, 110.4090),
];
/// Name, seconds, rupiah: each outlet offers all of them.
const SERVICES: [(&str, i32, i64); 4] =
    [("Cuci Kilat", 60, 2_000), ("Cuci Reguler", 30 * 60, 10_000), ("Cuci Besar", 45 * 60, 15_000), ("Kering", 40 * 60, 12_000)];
const MACHINES: [&str; 4] = ["Mesin Cuci 1", "Mesin Cuci 2", "Pengering 1", "Pengering 2"];
/// The customer's balance at the first and at the second outlet, in rupiah.
const BALANCE: [i64; 2] = [100_000, 50_000];

/// At the first outlet's till: name, role, PIN, which is theirs from the start.
const PEOPLE: [(&str, Role, &str); 2] = [("Rina", Role::Kasir, "246810"), ("Hadi", Role::Supervisor, "135791")];
/// Who owns the outlets, with a browser of her own: name and PIN.
const OWNER: (&str, &str) = ("Sari", "271828");
/// What the first outlet's till sells besides plain rupiah: name, price, balance.
const PACKAGES: [(&str, i64, i64); 2] = [("Paket Hemat", 100_000, 110_000), ("Paket Keluarga", 200_000, 225_000)];
/// The browsers that `serve` invites in development: the till, and the owner's.
const BROWSER: &str = "Tablet demo";
const OWNERS_BROWSER: &str = "Ponsel demo";
/// How long that invitation is good.
const INVITATION_MS: i64 = 24 * 60 * 60 * 1000;

/// What was found or done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Seeded {
    Now,
    /// The demo is there already.
    Before,
    /// Other data is there: nothing was written.
    NotEmpty,
}

/// Seeds the demo when the database is empty; `secrets` are the keys that its stickers will be made with.
pub async fn seed(db: &Db, secrets: &Secrets, now: Timestamp) -> Result<Seeded, AppError> {
    const STATE: &str = "
        SELECT EXISTS (SELECT FROM audit_log WHERE aksi = $1),
            EXISTS (SELECT FROM owner_usaha) OR EXISTS (SELECT FROM customer_global)";
    let mut client = db.get().await?;
    let tx = client.transaction().await?;
    tx.query_one("SELECT pg_advisory_xact_lock($1)", &[&SEED_LOCK]).await?;
    let row = tx.query_one(STATE, &[&ACTION]).await?;
    match (row.get(0), row.get(1)) {
        (true, _) => {
            people(&tx, secrets, first_outlet(&tx).await?, now).await?;
            if let Some(idowner) = owner(&tx).await? {
                owners_person(&tx, secrets, idowner, now).await?;
                devices::outlet(&tx, secrets, idowner, now).await?;
            }
            tx.commit().await?;
            return Ok(Seeded::Before);
        }
        (false, true) => return Ok(Seeded::NotEmpty),
        (false, false) => {}
    }
    let idowner: OwnerId = tx
        .query_one("INSERT INTO owner_usaha (nama, created_at) VALUES ('Nyala Laundry', $1) RETURNING idowner", &[&now])
        .await?
        .get(0);
    let outlets = outlets(&tx, secrets, idowner, now).await?;
    devices::outlet(&tx, secrets, idowner, now).await?;
    customer(&tx, &outlets, now).await?;
    people(&tx, secrets, outlets.first().map(|outlet| outlet.idoutlet), now).await?;
    owners_person(&tx, secrets, idowner, now).await?;
    let entry =
        AuditEntry { principal: PRINCIPAL, action: ACTION, object: format!("owner:{idowner}"), content: json!({ "telp": TELP }) };
    audit::write(&tx, &entry, now).await?;
    tx.commit().await?;
    Ok(Seeded::Now)
}

/// Adds the owner's person where it is missing, as in demos of earlier versions.
async fn owners_person(tx: &Transaction<'_>, secrets: &Secrets, idowner: OwnerId, now: Timestamp) -> Result<(), AppError> {
    if owners_staff(tx, idowner).await?.is_some() {
        return Ok(());
    }
    let (name, pin) = OWNER;
    let pin = Pin::parse(pin).ok_or_else(|| AppError::internal("a PIN of the demo is none"))?;
    let hash = PinHash::here(secrets, people::next_id(tx).await?, &pin)?;
    people::hire(tx, (name, Role::Owner, WorksFor::Owner(idowner)), (&hash, true), now).await?;
    Ok(())
}

/// The owner's person.
async fn owners_staff(client: &impl GenericClient, idowner: OwnerId) -> Result<Option<StaffId>, AppError> {
    const PERSON: &str = "
        SELECT k.id FROM petugas p JOIN kunci_operator k ON k.id = p.id_kunci WHERE k.idowner = $1 AND k.revoked_at IS NULL ORDER BY k.id LIMIT 1";
    Ok(client.query_opt(PERSON, &[&idowner]).await?.map(|row| row.get(0)))
}

/// The demo's owner.
async fn owner(client: &impl GenericClient) -> Result<Option<OwnerId>, AppError> {
    const OWNER: &str = "
        SELECT min(w.idowner) FROM audit_log a JOIN owner_usaha w ON a.objek = 'owner:' || w.idowner WHERE a.aksi = $1";
    Ok(client.query_one(OWNER, &[&ACTION]).await?.get(0))
}

/// The demo's first outlet.
async fn first_outlet(client: &impl GenericClient) -> Result<Option<OutletId>, AppError> {
    const FIRST: &str = "
        SELECT min(o.idoutlet) FROM audit_log a JOIN outlet o ON a.objek = 'owner:' || o.idowner WHERE a.aksi = $1";
    Ok(client.query_one(FIRST, &[&ACTION]).await?.get(0))
}

/// Adds the staff and packages of the first outlet where they are missing, as in demos of earlier versions.
async fn people(tx: &Transaction<'_>, secrets: &Secrets, idoutlet: Option<OutletId>, now: Timestamp) -> Result<(), AppError> {
    const THERE: &str = "SELECT EXISTS (SELECT FROM petugas p JOIN kunci_operator k ON k.id = p.id_kunci WHERE k.idoutlet = $1)";
    const PACKAGE: &str = "INSERT INTO paket (idoutlet, nama, harga, quota, created_at) VALUES ($1, $2, $3, $4, $5)";
    let Some(idoutlet) = idoutlet else { return Ok(()) };
    if tx.query_one(THERE, &[&idoutlet]).await?.get(0) {
        return Ok(());
    }
    for (name, role, pin) in PEOPLE {
        let pin = Pin::parse(pin).ok_or_else(|| AppError::internal("a PIN of the demo is none"))?;
        let hash = PinHash::here(secrets, people::next_id(tx).await?, &pin)?;
        people::hire(tx, (name, role, WorksFor::Outlet(idoutlet)), (&hash, true), now).await?;
    }
    for (name, price, quota) in PACKAGES {
        tx.execute(PACKAGE, &[&idoutlet, &name, &price, &quota, &now]).await?;
    }
    Ok(())
}

/// A code that pairs a browser with the demo's till within a day; one that was not used before is good no more.
///
/// # Errors
/// When the database does not answer.
pub async fn invite(db: &Db, now: Timestamp) -> Result<Option<String>, AppError> {
    const UNUSED: &str = "DELETE FROM perangkat WHERE nama = $1 AND idoutlet = $2 AND dipasang_at IS NULL";
    let mut client = db.get().await?;
    let tx = client.transaction().await?;
    let Some(idoutlet) = first_outlet(&tx).await? else { return Ok(None) };
    tx.execute(UNUSED, &[&BROWSER, &idoutlet]).await?;
    let pairing = perangkat::invite_with_record(&tx, BROWSER, BrowserOf::Outlet(idoutlet), INVITATION_MS, PRINCIPAL, now).await?;
    tx.commit().await?;
    Ok(Some(pairing.code))
}

/// A code that pairs the owner's own browser within a day; one that was not used before is good no more.
///
/// # Errors
/// When the database does not answer.
pub async fn invite_owner(db: &Db, now: Timestamp) -> Result<Option<String>, AppError> {
    const UNUSED: &str = "DELETE FROM perangkat WHERE nama = $1 AND id_kunci = $2 AND dipasang_at IS NULL";
    let mut client = db.get().await?;
    let tx = client.transaction().await?;
    let Some(idowner) = owner(&tx).await? else { return Ok(None) };
    let Some(person) = owners_staff(&tx, idowner).await? else { return Ok(None) };
    tx.execute(UNUSED, &[&OWNERS_BROWSER, &person]).await?;
    let of = BrowserOf::Person(person);
    let pairing = perangkat::invite_with_record(&tx, OWNERS_BROWSER, of, INVITATION_MS, PRINCIPAL, now).await?;
    tx.commit().await?;
    Ok(Some(pairing.code))
}

/// The owner's name and PIN, printed at the start.
pub fn owners_pin() -> String {
    let (name, pin) = OWNER;
    format!("{name} {pin}")
}

/// Names and PINs at the demo's till, printed at the start.
pub fn pins() -> String {
    PEOPLE.map(|(name, _, pin)| format!("{name} {pin}")).join(", ")
}

/// Whether customers with publicly known passwords were made here: by the demo, or in bulk for load tests.
pub async fn has_public_passwords(db: &Db) -> Result<bool, AppError> {
    const MADE: &str = "SELECT EXISTS (SELECT FROM audit_log WHERE aksi IN ($1, $2))";
    Ok(db.get().await?.query_one(MADE, &[&ACTION, &pelanggan_bulk::ACTION]).await?.get(0))
}

/// Whether machines were made here that only pretend to run: in production customers would pay for runs that never happen.
pub async fn has_simulated_machines(db: &Db) -> Result<bool, AppError> {
    const MADE: &str = "SELECT EXISTS (SELECT FROM mesin WHERE driver = 'sim')";
    Ok(db.get().await?.query_one(MADE, &[]).await?.get(0))
}

async fn outlets(tx: &Transaction<'_>, secrets: &Secrets, idowner: OwnerId, now: Timestamp) -> Result<Vec<Outlet>, AppError> {
    let names = MACHINES.map(str::to_owned);
    let mut opened = Vec::new();
    for premises in OUTLETS {
        let outlet = open_outlet(tx, idowner, premises, now).await?;
        let new = NewMachines { names: &names, driver: DriverKind::Sim, kind: None, size: None };
        mesin::install(tx, secrets, outlet, &new, now).await?;
        opened.push(outlet);
    }
    Ok(opened)
}

/// An outlet with all services and no machine.
async fn open_outlet(
    tx: &Transaction<'_>,
    idowner: OwnerId,
    (name, city, latitude, longitude): (&str, &str, f64, f64),
    now: Timestamp,
) -> Result<Outlet, AppError> {
    let premises = Premises { name: name.to_owned(), city: city.to_owned(), latitude, longitude, ..Premises::default() };
    let idoutlet =
        outlet::open(tx, idowner, &premises, now).await?.ok_or_else(|| AppError::internal("the demo's owner is gone"))?;
    for (name, duration_s, price) in SERVICES {
        let offer = Offer { name: name.to_owned(), duration_s, price, kind: None, size: None, rules: Vec::new(), pulses: 1 };
        layanan::offer(tx, idoutlet, &offer, now).await?;
    }
    Ok(Outlet { idoutlet, idowner })
}

async fn customer(tx: &Transaction<'_>, outlets: &[Outlet], now: Timestamp) -> Result<(), AppError> {
    const REGISTER: &str = "
        INSERT INTO customer_global (telp, nama_awal, nama_akhir, password_hash, created_at, updated_at)
        VALUES ($1, 'Budi', 'Santoso', $2, $3, $3)";
    let hash = argon::hash_here(PASSWORD).map_err(|e| AppError::internal(e.to_string()))?;
    tx.execute(REGISTER, &[&TELP, &hash, &now]).await?;
    let payee = payee::by_telp(tx, &Telp::parse(TELP)?).await?;
    for (outlet, balance) in outlets.iter().zip(BALANCE) {
        let package = Package::parse(Rupiah::from(balance), None, None, AccountKind::Lasting)?;
        topup::sell(tx, &payee, *outlet, &package, Payment::OutsideShift(None), (PRINCIPAL, Allowed::Itself), now).await?;
    }
    Ok(())
}
