//! `nyala owner`: owners of outlets, who do the rest in their own browser.

use clap::{Args, Subcommand};
use nyala_core::domain::id::{OwnerId, StaffId};
use nyala_core::domain::role::Role;
use nyala_core::domain::telp::Telp;
use nyala_core::domain::text;
use nyala_core::domain::timestamp::Timestamp;
use nyala_identity::staff::browser::BrowserOf;
use nyala_identity::staff::people::{self, WorksFor};
use nyala_web::ops::people::staff as petugas;
use nyala_web::ops::shop::owner;
use nyala_web::ops::till::browsers as perangkat;
use serde::Serialize;

use super::context::{self, CommandContext, PRINCIPAL};
use super::petugas::FirstPin;
use super::{CommonArgs, Failure, output};

/// How long the link is good.
const LINK_MS: i64 = 24 * 60 * 60 * 1000;

#[derive(Debug, Subcommand)]
pub enum OwnerCommand {
    /// Make an owner with a first PIN and a link that pairs the owner's own browser within a day; prints them once, as JSON
    Add(AddOwner),
    /// List the owners
    List,
}

#[derive(Debug, Args)]
pub struct AddOwner {
    /// Name, also of the person
    #[arg(long, value_name = "TEXT")]
    nama: String,
    /// The owner's number; nothing is sent there
    #[arg(long, value_name = "NUMBER")]
    telp: String,
}

/// What the owner needs, shown once.
#[derive(Serialize)]
struct Made {
    idowner: OwnerId,
    id: StaffId,
    pin_awal: String,
    kode: String,
    sampai: Timestamp,
    tautan: String,
}

impl OwnerCommand {
    pub fn run(self, common: &CommonArgs) -> Result<(), Failure> {
        match self {
            Self::Add(add) => {
                let made = context::run(common, async |k| add.make(k).await)?;
                let text = serde_json::to_string(&made).map_err(|e| Failure::new(e.to_string()))?;
                let (idowner, id) = (made.idowner, made.id);
                let done = format!(
                    "owner {idowner} was made, but nobody has seen the link: `nyala petugas reset-pin {id}` and `nyala perangkat pasang \
                     --petugas {id}` make another PIN and code"
                );
                output::print(&text, &done)
            }
            Self::List => context::run(common, list),
        }
    }
}

impl AddOwner {
    async fn make(&self, k: &CommandContext) -> Result<Made, Failure> {
        let name = text::parse("--nama", &self.nama, text::MAX_NAME_CHARS)?;
        let telp = Telp::parse(&self.telp)?;
        let secrets = k.secrets().await?;
        let mut client = k.client().await?;
        let tx = client.transaction().await?;
        let idowner = owner::add_with_record(&tx, &name, Some(&telp), PRINCIPAL, k.now).await?;
        let first = FirstPin::make(&secrets, people::next_id(&tx).await?)?;
        let id = first.hash.person;
        let who = (name.as_str(), Role::Owner, WorksFor::Owner(idowner));
        petugas::hire_with_first_pin(&tx, who, &first.hash, PRINCIPAL, k.now).await?;
        let browser = format!("Ponsel {name}").chars().take(text::MAX_NAME_CHARS).collect::<String>();
        let pairing = perangkat::invite_with_record(&tx, &browser, BrowserOf::Person(id), LINK_MS, PRINCIPAL, k.now).await?;
        tx.commit().await?;
        let tautan = format!("{}/kasir/pasang#{}", k.config.http.public_url, pairing.code);
        let pin_awal = first.pin.as_str().to_owned();
        Ok(Made { idowner, id, pin_awal, kode: pairing.code, sampai: pairing.until, tautan })
    }
}

async fn list(k: &CommandContext) -> Result<(), Failure> {
    const ALL: &str = "
        SELECT w.idowner, w.nama, w.telp, (SELECT count(*) FROM outlet o WHERE o.idowner = w.idowner), w.created_at
        FROM owner_usaha w ORDER BY w.idowner";
    let mut text = "id\tnama\ttelp\toutlets\tmade\n".to_owned();
    for row in k.client().await?.query(ALL, &[]).await? {
        let (id, name, telp): (OwnerId, &str, Option<&str>) = (row.get(0), row.get(1), row.get(2));
        let (outlets, made): (i64, Timestamp) = (row.get(3), row.get(4));
        text += &format!("{id}\t{name}\t{}\t{outlets}\t{}\n", telp.unwrap_or("-"), made.rfc3339());
    }
    output::print(&text, output::NOTHING)
}
