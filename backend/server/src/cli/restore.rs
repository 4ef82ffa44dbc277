//! `nyala restore`: the private database as it was at a moment, from a backup.

use std::path::PathBuf;

use clap::Args;
use nyala_core::domain::timestamp::Timestamp;
use nyala_identity::auth::deletion::{self, DeletionError, Terms};
use nyala_store::backup::owner;
use nyala_store::backup::restore::{self, Moment, Restored};
use nyala_store::db::clock::database_now;
use nyala_store::telemetry;

use super::context::PRINCIPAL;
use super::restored::Report;
use super::{CommonArgs, Failure, context, output};

#[derive(Debug, Args)]
pub struct Restore {
    /// `latest`, or a moment with its zone, such as 2026-11-25T14:30:00+07:00
    #[arg(long, value_name = "TIME|latest", value_parser = moment)]
    to: Moment,
    /// The folder of the backup (backup.dir of the server that made it)
    #[arg(value_name = "DIR")]
    backup: PathBuf,
}

fn moment(text: &str) -> Result<Moment, String> {
    match text {
        "latest" => Ok(Moment::Latest),
        text => Timestamp::parse_rfc3339(text).map(Moment::At).ok_or_else(|| {
            "it must be `latest`, or a moment of RFC 3339 with its zone such as 2026-11-25T14:30:00+07:00".to_owned()
        }),
    }
}

impl Restore {
    pub fn run(self, common: &CommonArgs) -> Result<(), Failure> {
        telemetry::init_for_command();
        let config = context::settings(common)?;
        if !config.database.url.is_empty() {
            return Err(Failure::new("DATABASE_URL is set, and this restores the private database below data.dir: unset it"));
        }
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let (report, restored, again) = runtime.block_on(async {
            let restored = restore::restore(&config, &self.backup, self.to).await;
            let given = owner::give_to_owner(&self.backup);
            let mut restored = restored?;
            given?;
            let again = delete_again(&mut restored).await?;
            Ok::<_, Failure>((Report::read(&restored.client, restored.until, restored.jump).await?, restored, again))
        })?;
        let mut text = format!("base: {}\n{}", restored.base, report.text());
        if again > 0 {
            text += &format!("\ndeleted again: {again}");
        }
        match report.verdict() {
            Ok(()) => restored.finish()?,
            Err(why) => {
                let folder = restored.folder();
                drop(restored);
                output::print(&text, "nothing was put into its place")?;
                return Err(Failure::new(format!("{why}; the restored database stays in {}", folder.display())));
            }
        }
        output::print(&text, "the database is restored")
    }
}

/// Deletes those again whom the restore has brought back. Returns how many they were.
async fn delete_again(restored: &mut Restored) -> Result<usize, Failure> {
    let now = database_now(&restored.client).await?;
    let mut again = 0;
    for id in &restored.deleted {
        let tx = restored.client.transaction().await?;
        match deletion::delete(&tx, *id, Terms::Again, PRINCIPAL, now).await {
            Ok(_) => {
                tx.commit().await?;
                again += 1;
            }
            // Deleted then, too, or not there yet.
            Err(DeletionError::Gone) => {}
            Err(e) => return Err(e.into()),
        }
    }
    Ok(again)
}
