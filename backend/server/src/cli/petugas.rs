//! `nyala petugas`: the people at the tills.

use clap::{Args, Subcommand};
use nyala_core::domain::id::StaffId;
use nyala_core::domain::pin::Pin;
use nyala_core::domain::role::Role;
use nyala_core::domain::scope::Scope;
use nyala_core::domain::text;
use nyala_core::domain::timestamp::Timestamp;
use nyala_identity::staff::people::{self, WorksFor};
use nyala_identity::staff::pin_hash::PinHash;
use nyala_store::secrets::Secrets;
use nyala_web::ops::people::staff as petugas;
use serde_json::json;

use super::context::{self, CommandContext, PRINCIPAL};
use super::key::KeyScope;
use super::{CommonArgs, Failure, output};

#[derive(Debug, Subcommand)]
pub enum PetugasCommand {
    /// Hire a person; prints the id and the first PIN, once, as JSON
    Add(AddPetugas),
    /// List the people
    List,
    /// A new first PIN, for a person who forgot it; prints it once, as JSON
    ResetPin { id: StaffId },
    /// Let a person try again whose PIN was wrong ten times in a day
    Unlock { id: StaffId },
}

#[derive(Debug, Args)]
pub struct AddPetugas {
    #[command(flatten)]
    scope: KeyScope,
    /// Name as the till shows it
    #[arg(long, value_name = "TEXT")]
    nama: String,
}

impl PetugasCommand {
    pub fn run(self, common: &CommonArgs) -> Result<(), Failure> {
        match self {
            Self::Add(add) => context::run(common, async |k| print(&add.hire(k).await?)),
            Self::List => context::run(common, list),
            Self::ResetPin { id } => context::run(common, async |k| print(&reset_pin(k, id).await?)),
            Self::Unlock { id } => context::run(common, async |k| unlock(k, id).await),
        }
    }
}

/// A first PIN that was made here.
pub(super) struct FirstPin {
    pub(super) pin: Pin,
    pub(super) hash: PinHash,
}

impl FirstPin {
    pub(super) fn make(secrets: &Secrets, person: StaffId) -> Result<Self, Failure> {
        let pin = Pin::random(&mut rand::rng());
        let hash = PinHash::here(secrets, person, &pin)?;
        Ok(Self { pin, hash })
    }
}

fn print(first: &FirstPin) -> Result<(), Failure> {
    let person = first.hash.person;
    let text = json!({ "id": person, "pin_awal": first.pin.as_str() }).to_string();
    let done = format!(
        "petugas {person} has a new first PIN that nobody has seen: make another with `nyala petugas reset-pin {person}`"
    );
    output::print(&text, &done)
}

impl AddPetugas {
    async fn hire(&self, k: &CommandContext) -> Result<FirstPin, Failure> {
        if self.scope.role == Role::Root {
            return Err(Failure::new("root stands at no till; make a key with `nyala key add`"));
        }
        let name = text::parse("--nama", &self.nama, text::MAX_NAME_CHARS)?;
        let secrets = k.secrets().await?;
        let mut client = k.client().await?;
        let tx = client.transaction().await?;
        let works_for = match self.scope.check(&tx).await? {
            Scope { owner: Some(owner), .. } => WorksFor::Owner(owner),
            Scope { outlet: Some(outlet), .. } => WorksFor::Outlet(outlet),
            Scope { owner: None, outlet: None } => return Err(Failure::new("name an outlet or an owner")),
        };
        let first = FirstPin::make(&secrets, people::next_id(&tx).await?)?;
        petugas::hire_with_first_pin(&tx, (&name, self.scope.role, works_for), &first.hash, PRINCIPAL, k.now).await?;
        tx.commit().await?;
        Ok(first)
    }
}

async fn list(k: &CommandContext) -> Result<(), Failure> {
    const ALL: &str = "
        SELECT k.id, k.role, k.idowner, k.idoutlet, k.nama, p.pin_awal_sampai, p.dikunci_at, k.revoked_at
        FROM petugas p JOIN kunci_operator k ON k.id = p.id_kunci ORDER BY k.id";
    let mut text = "id\trole\towner\toutlet\tnama\tfirst PIN until\tlocked\trevoked\n".to_owned();
    for row in k.client().await?.query(ALL, &[]).await? {
        let id = |i: usize| row.get::<_, Option<i64>>(i).map_or_else(|| "-".to_owned(), |n| n.to_string());
        let at = |i: usize| row.get::<_, Option<Timestamp>>(i).map_or_else(|| "-".to_owned(), Timestamp::rfc3339);
        let (role, name): (&str, &str) = (row.get(1), row.get(4));
        text += &format!("{}\t{role}\t{}\t{}\t{name}\t{}\t{}\t{}\n", id(0), id(2), id(3), at(5), at(6), at(7));
    }
    output::print(&text, output::NOTHING)
}

async fn reset_pin(k: &CommandContext, id: StaffId) -> Result<FirstPin, Failure> {
    let secrets = k.secrets().await?;
    let mut client = k.client().await?;
    let tx = client.transaction().await?;
    let first = FirstPin::make(&secrets, id)?;
    petugas::reset_pin_of(&tx, &first.hash, PRINCIPAL, k.now).await?;
    tx.commit().await?;
    Ok(first)
}

async fn unlock(k: &CommandContext, id: StaffId) -> Result<(), Failure> {
    let mut client = k.client().await?;
    let tx = client.transaction().await?;
    petugas::open_lock_of(&tx, id, PRINCIPAL, k.now).await?;
    tx.commit().await?;
    let done = format!("petugas {id} may try again");
    output::print(&done, &done)
}
