//! `nyala seed --demo`.

use clap::Args;
use nyala_web::ops::people::customers_bulk as pelanggan_bulk;

use super::{CommonArgs, Failure, NewDatabase, context, output, profile};
use crate::demo::{self, Seeded};

#[derive(Debug, Args)]
pub struct Seed {
    /// The demo: one owner, three outlets, machines, services and a customer
    #[arg(long, required = true)]
    demo: bool,
    #[command(flatten)]
    new: NewDatabase,
}

impl Seed {
    pub fn run(self, common: &CommonArgs) -> Result<(), Failure> {
        if context::settings(common)?.is_production() {
            return Err(Failure::new("the production profile refuses the demo: everybody knows its password"));
        }
        let seeded = context::run_or_create(common, &self.new, async |k| {
            profile::refuse_production_database(&k.config, &*k.client().await?).await?;
            Ok(demo::seed(&k.db, &k.secrets_or_new().await?, k.now).await?)
        })?;
        let done = match seeded {
            Seeded::Now => format!("the demo is seeded; log in as {} / {}", demo::TELP, pelanggan_bulk::PASSWORD),
            Seeded::Before => "the demo was seeded before; nothing changed".to_owned(),
            Seeded::NotEmpty => return Err(Failure::new("the database is not empty; the demo is seeded into an empty one only")),
        };
        output::print(&done, &done)
    }
}
