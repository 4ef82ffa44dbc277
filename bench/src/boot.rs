//! How long running purchases take to come back when the server was killed.

use std::rc::Rc;
use std::time::Duration;

use clap::Args;
use nyala_loadtest::server::Server;
use serde_json::Value;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use crate::durations::Durations;
use crate::purchase::buy;
use crate::results::Figures;
use crate::server::Scratch;
use crate::{BenchError, db, shop};

const CLIENTS: u32 = 32;
/// For making the purchases, whatever the machine.
const LIMIT: Duration = Duration::from_secs(600);

#[derive(Debug, PartialEq, Eq, Args)]
pub struct Resume {
    /// How many purchases run when the server is killed
    #[arg(long, default_value_t = Self::default().purchases, value_parser = clap::value_parser!(u32).range(1..=20_000))]
    purchases: u32,
    /// How often it is killed; the median counts
    #[arg(long, default_value_t = Self::default().times, value_parser = clap::value_parser!(u32).range(1..=100))]
    times: u32,
}

impl Default for Resume {
    fn default() -> Self {
        Self { purchases: 10_000, times: 5 }
    }
}

impl Resume {
    /// A rough figure.
    pub fn quick() -> Self {
        Self { purchases: 1000, times: 2 }
    }

    /// # Errors
    /// When the server does not come back with all of them.
    pub async fn run(&self) -> Result<Figures, BenchError> {
        let scratch = Scratch::make()?;
        let mut server = scratch.start().await?;
        let purchases = self.purchases as usize;
        let shop = Rc::new(shop::open(&server, purchases, purchases).await?);
        let bought = buy(&server, &shop, CLIENTS, 0..purchases, LIMIT).await?;
        if bought.purchases != purchases {
            return Err(format!("{} of {purchases} purchases in {} s", bought.purchases, LIMIT.as_secs()).into());
        }
        {
            let postgres = db::open(&scratch.data())?;
            db::settle(&db::connect(&postgres).await?).await?;
        }
        let (mut resume, mut whole) = (Durations::default(), Durations::default());
        for _ in 0..self.times {
            server.kill_program().await?;
            server.start().await?;
            resume.add(resumed(&server, purchases)?);
            whole.add(server.ready_after());
        }
        server.stop().await?;
        Ok(self.figures(&resume, &whole))
    }

    fn figures(&self, resume: &Durations, whole: &Durations) -> Figures {
        let summary =
            |all: &Durations| format!("**{:.0} ms** median, {:.0} ms at most, of {} kills", all.ms(0.5), all.ms(1.0), all.len());
        Figures::list(
            format!("Resuming {} running purchases at boot", self.purchases),
            &[
                format!(
                    "From the database's start to all purchases resumed, schema check and worker threads included: {}",
                    summary(resume)
                ),
                format!("From the program's start to `/readyz` 200, the database's recovery included: {}", summary(whole)),
                "Aim: at most 1 s".to_owned(),
            ],
        )
    }
}

/// What the log of the last start says: from "PostgreSQL runs" to "open purchases resumed".
fn resumed(server: &Server, purchases: usize) -> Result<Duration, BenchError> {
    let log: Vec<Value> = server.log().lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let at = |what: &str| -> Result<&Value, BenchError> {
        let found = log.iter().find(|line| message(line).contains(what));
        found.ok_or_else(|| format!("the server's log does not say `{what}`").into())
    };
    let (database, done) = (at("runs as")?, at("open purchases resumed")?);
    let n = done["fields"]["resumed"].as_u64().or(done["resumed"].as_u64());
    if n != Some(purchases as u64) {
        return Err(format!("{purchases} purchases ran, and the server says: {done}").into());
    }
    Ok((instant(done)? - instant(database)?).try_into()?)
}

fn message(line: &Value) -> &str {
    line["fields"]["message"].as_str().or(line["message"].as_str()).unwrap_or_default()
}

fn instant(line: &Value) -> Result<OffsetDateTime, BenchError> {
    Ok(OffsetDateTime::parse(line["timestamp"].as_str().unwrap_or_default(), &Rfc3339)?)
}
