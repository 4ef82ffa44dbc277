//! `nyala migrate`.

use super::{Gagal, Umum, konteks};

pub fn run(umum: &Umum) -> Result<(), Gagal> {
    let version = konteks::run_or_create(umum, async |k| {
        let client = k.client().await?;
        let row = client.query_one("SELECT max(version) FROM refinery_schema_history", &[]).await?;
        Ok(row.get::<_, i32>(0))
    })?;
    println!("the database is at schema {version}");
    Ok(())
}
