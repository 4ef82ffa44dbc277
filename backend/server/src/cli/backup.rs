//! `nyala backup`: how far the backup is, and a base backup now. Both work beside a running server.

use std::time::Duration;

use clap::Subcommand;
use nyala_store::backup::owner;
use nyala_store::backup::service::BackupService;
use nyala_store::clock::Clock;
use nyala_store::db::Store;
use nyala_store::secrets::Keyring;

use super::context::{self, CommandContext};
use super::{CommonArgs, Failure, output};

#[derive(Debug, Subcommand)]
pub enum BackupCommand {
    /// Show the state of the backup; fails when it is behind, has a gap, or is incomplete
    Status,
    /// Take a base backup now and print its name
    Base {
        /// Begin a new backup in backup.dir although this database has begun one in another folder
        #[arg(long)]
        new_folder: bool,
    },
}

impl BackupCommand {
    pub fn run(self, common: &CommonArgs) -> Result<(), Failure> {
        match self {
            Self::Status => {
                let (text, is_good) = context::run(common, async |k| {
                    let status = service(k, false).await?.status().await?;
                    Ok((status.text(), status.is_good(Duration::from_secs(k.config.backup.alarm_s))))
                })?;
                output::print(&text, output::NOTHING)?;
                if is_good { Ok(()) } else { Err(Failure::new("the backup is not in order (docs/operations.md, \"Backup\")")) }
            }
            Self::Base { new_folder } => {
                let name = context::run(common, async |k| {
                    let name = service(k, new_folder).await?.base().await?;
                    owner::give_to_owner(&k.config.backup.dir)?;
                    Ok(name)
                })?;
                output::print(&name, &format!("the base backup {name} was taken"))
            }
        }
    }
}

async fn service(k: &CommandContext, new_folder: bool) -> Result<BackupService, Failure> {
    if !k.config.backup.is_on() {
        return Err(Failure::new(
            "backup.dir is empty: there is no backup; set it to a folder on another disk (NYALA__BACKUP__DIR)",
        ));
    }
    let store = Store { db: k.db.clone(), clock: Clock::running_from(k.now) };
    let keyring = Keyring::from(k.secrets().await?);
    let postgres = (k.url.as_str(), k.programs_dir.as_deref());
    let service = BackupService::new(&store, &k.config.backup, &keyring, postgres, Default::default()).await?;
    if new_folder {
        service.begin_folder()?;
    } else {
        service.prepare_folder().await?;
    }
    owner::give_to_owner(&k.config.backup.dir)?;
    Ok(service)
}
