//! `nyala migrate`.

use super::{CommonArgs, Failure, NewDatabase, context, output};

pub fn run(common: &CommonArgs, new: &NewDatabase) -> Result<(), Failure> {
    let version = context::run_or_create(common, new, async |k| {
        let client = k.client().await?;
        let row = client.query_one("SELECT max(version) FROM refinery_schema_history", &[]).await?;
        Ok(row.get::<_, i32>(0))
    })?;
    let done = format!("the database is at schema {version}");
    output::print(&done, &done)
}
