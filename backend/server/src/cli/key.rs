//! `nyala key`: operators' API keys. A secret is printed once, when it is made.

use clap::{Args, Subcommand};
use deadpool_postgres::Transaction;
use nyala_core::domain::id::{OutletId, OwnerId, StaffId};
use nyala_core::domain::role::Role;
use nyala_core::domain::scope::Scope;
use nyala_core::domain::text;
use nyala_core::domain::timestamp::Timestamp;
use nyala_identity::staff::key::{self, KeyKind};
use nyala_identity::staff::people;
use nyala_store::db::audit::{self, AuditEntry};
use serde_json::json;

use super::context::{self, CommandContext, PRINCIPAL};
use super::{CommonArgs, Failure, output};

#[derive(Debug, Subcommand)]
pub enum KeyCommand {
    /// Make a key; its secret is printed once, alone on standard output
    Add(AddKey),
    /// List the keys
    List,
    /// Make a key worthless
    Revoke { id: StaffId },
}

#[derive(Debug, Args)]
pub struct AddKey {
    #[command(flatten)]
    scope: KeyScope,
    /// Who holds it
    #[arg(long, value_name = "TEXT")]
    nama: String,
}

/// Scope of a new key, as it is requested.
#[derive(Debug, Args)]
pub struct KeyScope {
    /// owner: one owner's outlets; supervisor: one outlet; kasir: tops up and reads at one outlet; teknisi: machines of one outlet; root (keys alone): everything
    #[arg(long)]
    pub(super) role: Role,
    /// Whose outlets, for the role owner
    #[arg(long, value_name = "ID")]
    owner: Option<OwnerId>,
    /// Which outlet, for the roles supervisor, kasir and teknisi
    #[arg(long, value_name = "ID")]
    outlet: Option<OutletId>,
}

impl KeyCommand {
    pub fn run(self, common: &CommonArgs) -> Result<(), Failure> {
        match self {
            Self::Add(add) => {
                let (id, secret) = context::run(common, async |k| add.make(k).await)?;
                let done = format!("key {id} was made, but nobody has seen its secret: revoke it with `nyala key revoke {id}`");
                output::print(&secret, &done)
            }
            Self::List => context::run(common, list),
            Self::Revoke { id } => context::run(common, async |k| revoke(k, id).await),
        }
    }
}

impl AddKey {
    async fn make(&self, k: &CommandContext) -> Result<(StaffId, String), Failure> {
        const INSERT: &str = "
            INSERT INTO kunci_operator (role, idowner, idoutlet, nama, hash, created_at) VALUES ($1, $2, $3, $4, $5, $6) RETURNING id";
        let name = text::parse("--nama", &self.nama, text::MAX_NAME_CHARS)?;
        let mut client = k.client().await?;
        let tx = client.transaction().await?;
        let Scope { owner: idowner, outlet: idoutlet } = self.scope.check(&tx).await?;
        people::refuse_older(&tx, self.scope.role).await?;
        let (secret, hash) = key::generate();
        let row = tx.query_one(INSERT, &[&self.scope.role.as_str(), &idowner, &idoutlet, &name, &hash, &k.now]).await?;
        let id: StaffId = row.get(0);
        let content = json!({ "role": self.scope.role.as_str(), "idowner": idowner, "idoutlet": idoutlet, "nama": name });
        audit::write_at(
            &tx,
            idoutlet,
            &AuditEntry { principal: PRINCIPAL, action: "kunci.buat", object: format!("kunci:{id}"), content },
            k.now,
        )
        .await?;
        tx.commit().await?;
        Ok((id, KeyKind::Api.text(id, &secret)))
    }
}

impl KeyScope {
    /// What a key is limited to: an owner, an outlet, or nothing for root.
    pub(super) async fn check(&self, tx: &Transaction<'_>) -> Result<Scope, Failure> {
        match (self.role, self.owner, self.outlet) {
            (Role::Root, None, None) => Ok(Scope::default()),
            (Role::Root, ..) => Err(Failure::new("a root key sees everything; leave --owner and --outlet out")),
            (Role::Owner, Some(owner), None) => {
                let known = tx.query_opt("SELECT FROM owner_usaha WHERE idowner = $1", &[&owner]).await?.is_some();
                if known {
                    Ok(Scope { owner: Some(owner), outlet: None })
                } else {
                    Err(Failure::new(format!("there is no owner {owner}")))
                }
            }
            (Role::Owner, ..) => Err(Failure::new("a key of the role owner needs --owner and no --outlet")),
            (Role::Supervisor | Role::Kasir | Role::Technician, owner, Some(outlet)) => {
                let found = tx.query_opt("SELECT idowner FROM outlet WHERE idoutlet = $1", &[&outlet]).await?;
                let of: OwnerId = found.ok_or_else(|| Failure::new(format!("there is no outlet {outlet}")))?.get(0);
                if owner.is_none_or(|o| o == of) {
                    Ok(Scope { owner: None, outlet: Some(outlet) })
                } else {
                    Err(Failure::new(format!("outlet {outlet} belongs to owner {of}")))
                }
            }
            (role, _, None) => Err(Failure::new(format!("a key of the role {role} needs --outlet"))),
        }
    }
}

async fn list(k: &CommandContext) -> Result<(), Failure> {
    const ALL: &str = "SELECT id, role, idowner, idoutlet, nama, created_at, revoked_at FROM kunci_operator ORDER BY id";
    let mut text = "id\trole\towner\toutlet\tnama\tmade\trevoked\n".to_owned();
    for row in k.client().await?.query(ALL, &[]).await? {
        let id = |i: usize| row.get::<_, Option<i64>>(i).map_or_else(|| "-".to_owned(), |n| n.to_string());
        let revoked = row.get::<_, Option<Timestamp>>(6).map_or_else(|| "-".to_owned(), Timestamp::rfc3339);
        let (role, name, made): (&str, &str, Timestamp) = (row.get(1), row.get(4), row.get(5));
        text += &format!("{}\t{role}\t{}\t{}\t{name}\t{}\t{revoked}\n", id(0), id(2), id(3), made.rfc3339());
    }
    output::print(&text, output::NOTHING)
}

async fn revoke(k: &CommandContext, id: StaffId) -> Result<(), Failure> {
    const REVOKE: &str =
        "UPDATE kunci_operator SET revoked_at = COALESCE(revoked_at, $2) WHERE id = $1 RETURNING revoked_at = $2, idoutlet";
    let mut client = k.client().await?;
    let tx = client.transaction().await?;
    let row = tx.query_opt(REVOKE, &[&id, &k.now]).await?.ok_or_else(|| Failure::new(format!("there is no key {id}")))?;
    if row.get(0) {
        audit::write_at(
            &tx,
            row.get(1),
            &AuditEntry { principal: PRINCIPAL, action: "kunci.cabut", object: format!("kunci:{id}"), content: json!({}) },
            k.now,
        )
        .await?;
    }
    tx.commit().await?;
    let done = format!("key {id} is revoked");
    output::print(&done, &done)
}
