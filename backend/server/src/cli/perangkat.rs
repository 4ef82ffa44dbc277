//! `nyala perangkat`: paired browsers.

use clap::{Args, Subcommand};
use deadpool_postgres::Transaction;
use nyala_core::domain::id::{OutletId, StaffId, TillId};
use nyala_core::domain::text;
use nyala_core::domain::timestamp::Timestamp;
use nyala_identity::staff::browser::{BrowserOf, CODE_TTL_MS, Pairing};
use nyala_web::ops::till::browsers as perangkat;

use super::context::{self, CommandContext, PRINCIPAL};
use super::{CommonArgs, Failure, output};

#[derive(Debug, Subcommand)]
pub enum PerangkatCommand {
    /// A code that pairs one browser within ten minutes, a new one or in a lost one's place; printed once, alone on standard output
    Pasang(Pasang),
    /// List the browsers
    List,
    /// End a browser, a lost one say: its cookie and every session in it
    Cabut { id: TillId },
}

#[derive(Debug, Args)]
pub struct Pasang {
    /// Whose tablet it will be
    #[arg(long, value_name = "ID", required_unless_present_any = ["ganti", "petugas"])]
    outlet: Option<OutletId>,
    /// The person whose own browser it will be
    #[arg(long, value_name = "ID", conflicts_with = "outlet")]
    petugas: Option<StaffId>,
    /// What it is called in the list [default: Tablet kasir, or Ponsel and the person's name]
    #[arg(long, value_name = "TEXT")]
    nama: Option<String>,
    /// Till that it replaces: the open shift continues in the new browser
    #[arg(long, value_name = "ID", conflicts_with_all = ["outlet", "petugas", "nama"])]
    ganti: Option<TillId>,
}

impl PerangkatCommand {
    pub fn run(self, common: &CommonArgs) -> Result<(), Failure> {
        match self {
            Self::Pasang(pasang) => {
                let code = context::run(common, async |k| pasang.invite(k).await)?;
                output::print(&code, "a browser waits to be paired, but nobody has seen its code: make another in the same way")
            }
            Self::List => context::run(common, list),
            Self::Cabut { id } => context::run(common, async |k| end(k, id).await),
        }
    }
}

impl Pasang {
    async fn invite(&self, k: &CommandContext) -> Result<String, Failure> {
        let mut client = k.client().await?;
        let tx = client.transaction().await?;
        let pairing = match (self.ganti, self.outlet, self.petugas) {
            (Some(id), ..) => perangkat::invite_again_with_record(&tx, id, PRINCIPAL, k.now)
                .await?
                .ok_or_else(|| Failure::new(format!("there is no browser {id}")))?,
            (None, Some(outlet), _) => self.new_at(&tx, outlet, k.now).await?,
            (None, None, Some(person)) => self.new_of(&tx, person, k.now).await?,
            (None, None, None) => return Err(Failure::new("name an outlet or a petugas")),
        };
        tx.commit().await?;
        Ok(pairing.code)
    }

    async fn new_at(&self, tx: &Transaction<'_>, outlet: OutletId, now: Timestamp) -> Result<Pairing, Failure> {
        let name = text::parse("--nama", self.nama.as_deref().unwrap_or("Tablet kasir"), text::MAX_NAME_CHARS)?;
        tx.query_opt("SELECT FROM outlet WHERE idoutlet = $1", &[&outlet])
            .await?
            .ok_or_else(|| Failure::new(format!("there is no outlet {outlet}")))?;
        Ok(perangkat::invite_with_record(tx, &name, BrowserOf::Outlet(outlet), CODE_TTL_MS, PRINCIPAL, now).await?)
    }

    async fn new_of(&self, tx: &Transaction<'_>, person: StaffId, now: Timestamp) -> Result<Pairing, Failure> {
        const THERE: &str = "
            SELECT k.nama FROM petugas p JOIN kunci_operator k ON k.id = p.id_kunci WHERE k.id = $1 AND k.revoked_at IS NULL";
        let row = tx.query_opt(THERE, &[&person]).await?;
        let of: String = row.ok_or_else(|| Failure::new(format!("there is no petugas {person} that is not revoked")))?.get(0);
        let name = match &self.nama {
            Some(name) => text::parse("--nama", name, text::MAX_NAME_CHARS)?,
            None => format!("Ponsel {of}").chars().take(text::MAX_NAME_CHARS).collect(),
        };
        Ok(perangkat::invite_with_record(tx, &name, BrowserOf::Person(person), CODE_TTL_MS, PRINCIPAL, now).await?)
    }
}

async fn list(k: &CommandContext) -> Result<(), Failure> {
    const ALL: &str = "
        SELECT id, idoutlet, id_kunci, nama, created_at, dipasang_at, dicabut_at FROM perangkat ORDER BY id";
    let mut text = "id\toutlet\tpetugas\tnama\tmade\tpaired\tended\n".to_owned();
    for row in k.client().await?.query(ALL, &[]).await? {
        let id = |i: usize| row.get::<_, Option<i64>>(i).map_or_else(|| "-".to_owned(), |n| n.to_string());
        let at = |i: usize| row.get::<_, Option<Timestamp>>(i).map_or_else(|| "-".to_owned(), Timestamp::rfc3339);
        text += &format!("{}\t{}\t{}\t{}\t{}\t{}\t{}\n", id(0), id(1), id(2), row.get::<_, &str>(3), at(4), at(5), at(6));
    }
    output::print(&text, output::NOTHING)
}

async fn end(k: &CommandContext, id: TillId) -> Result<(), Failure> {
    let mut client = k.client().await?;
    let tx = client.transaction().await?;
    if !perangkat::end_with_record(&tx, id, PRINCIPAL, k.now).await? {
        return Err(Failure::new(format!("there is no browser {id} that is not ended")));
    }
    tx.commit().await?;
    let done = format!("browser {id} is ended");
    output::print(&done, &done)
}
