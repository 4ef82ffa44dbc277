//! `nyala qr`: a machine's sticker, and how an old one is revoked.

use std::path::PathBuf;

use clap::Args;
use nyala_core::domain::id::MachineId;
use nyala_core::domain::machine_code::MachineCode;
use nyala_identity::qr;
use nyala_store::db::audit::{self, AuditEntry};
use serde_json::json;

use super::context::{self, CommandContext, PRINCIPAL};
use super::{CommonArgs, Failure, output};

#[derive(Debug, Args)]
pub struct Qr {
    mesin_id: MachineId,
    /// The PNG file to write
    #[arg(long, value_name = "FILE.png")]
    out: PathBuf,
    /// Revoke the present sticker: a new QR and a new typed code
    #[arg(long)]
    renew: bool,
}

/// What is printed on a sticker.
struct Sticker {
    text: String,
    kode: String,
}

impl Qr {
    pub fn run(self, common: &CommonArgs) -> Result<(), Failure> {
        let sticker = context::run(common, async |k| self.sticker(k).await)?;
        let (id, file) = (self.mesin_id, self.out.display());
        let done = if self.renew {
            format!("machine {id} has a new sticker, the old one is revoked")
        } else {
            output::NOTHING.to_owned()
        };
        std::fs::write(&self.out, qr::png::render(&sticker.text)?).map_err(|e| {
            Failure::new(format!("{done}; {file} cannot be written: {e}; `nyala qr {id} --out FILE.png` writes it again"))
        })?;
        output::print(&format!("{} {}", sticker.kode, sticker.text), &format!("{done}; its picture is in {file}"))
    }

    async fn sticker(&self, k: &CommandContext) -> Result<Sticker, Failure> {
        const READ: &str = "SELECT qr_versi, kode, idoutlet FROM mesin WHERE idmesin = $1";
        const RENEW: &str = "UPDATE mesin SET qr_versi = $3, kode = $2 WHERE idmesin = $1 RETURNING qr_versi, kode, idoutlet";
        let secrets = k.secrets().await?;
        let mut client = k.client().await?;
        let tx = client.transaction().await?;
        let row = if self.renew {
            tx.query_opt(RENEW, &[&self.mesin_id, &MachineCode::random(&mut rand::rng()).as_str(), &qr::machine::new_version()])
                .await?
        } else {
            tx.query_opt(READ, &[&self.mesin_id]).await?
        };
        let row = row.ok_or_else(|| Failure::new(format!("there is no machine {}", self.mesin_id)))?;
        let (versions, kode): (i32, String) = (row.get(0), row.get(1));
        if self.renew {
            let object = format!("mesin:{}", self.mesin_id);
            let content = json!({ "qr_versi": versions });
            let entry = AuditEntry { principal: PRINCIPAL, action: "mesin.stiker_baru", object, content };
            audit::write_at(&tx, row.get(2), &entry, k.now).await?;
        }
        tx.commit().await?;
        Ok(Sticker { text: qr::machine::make(&secrets, self.mesin_id, versions), kode })
    }
}
