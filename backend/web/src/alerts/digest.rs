//! The digest: at the hour at which an outlet opens, the figures of the business day before, to who asked for them.

use std::collections::HashMap;

use nyala_core::domain::id::OutletId;
use nyala_core::domain::timestamp::Timestamp;
use nyala_core::prices::{ClockTime, Zone};
use nyala_ledger::error::LedgerError;
use nyala_ledger::figures::{self, Days, OfMachine, cycles};
use nyala_store::db::pool::DbClient;

use super::text;
use crate::figures::outlet::ReportOutlet;

/// When an outlet does not say when it opens.
const OPENS: &str = "07:00";
/// After this time a digest that could not be queued is dropped.
const TOO_LATE_MS: i64 = 2 * 60 * 60 * 1_000;

/// To supervisors and owners who see the outlet, and asked for it.
const WANTED: &str = "
FROM outlet o JOIN kunci_operator k ON (k.idoutlet = o.idoutlet OR k.idowner = o.idowner) AND k.revoked_at IS NULL AND k.role <> 'kasir'
JOIN langganan_petugas s ON s.id_kunci = k.id JOIN alarm_petugas c ON c.id_kunci = k.id AND c.ringkasan
WHERE o.idoutlet = $1 AND (c.idoutlet IS NULL OR o.idoutlet = ANY(c.idoutlet))";

/// The openings for which this server has looked for digests, so that it does that once for each.
#[derive(Debug, Default)]
pub struct Digests(HashMap<OutletId, Timestamp>);

impl Digests {
    /// When an outlet opened last, unless that was looked at before.
    pub fn opened_at(&self, idoutlet: OutletId, zone: &Zone, opens: Option<ClockTime>, now: Timestamp) -> Option<Timestamp> {
        let opens = opens.or_else(|| ClockTime::parse(OPENS))?;
        let opened_at = zone.last(opens, now);
        (self.0.get(&idoutlet) != Some(&opened_at)).then_some(opened_at)
    }

    /// Queues the digests of an outlet that opened, once for each browser and day, also among several servers.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn queue(
        &mut self,
        client: &mut DbClient,
        idoutlet: OutletId,
        opened_at: Timestamp,
        now: Timestamp,
    ) -> Result<(), LedgerError> {
        let tx = client.transaction().await?;
        let wanted = tx.prepare_cached(&format!("SELECT EXISTS (SELECT {WANTED})")).await?;
        if opened_at.ms_until(now) <= TOO_LATE_MS && tx.query_one(&wanted, &[&idoutlet]).await?.try_get(0)? {
            let calendar = ReportOutlet::read(&tx, idoutlet).await?.calendar;
            let day = calendar.day_of(opened_at).plus(-1);
            let bounds = [calendar.begin(day), calendar.begin(day.plus(1))];
            let days = Days { idoutlet, first: day, bounds: &bounds };
            let (posts, refunds) = (cycles::posts(&tx, days).await?, figures::refunds(&tx, days).await?);
            let amount = |of: &[OfMachine]| of.iter().map(|of| of.amount).sum::<i64>();
            let text = text::digest(amount(&posts) - amount(&refunds), posts.iter().map(|of| of.count).sum());
            let queue = format!(
                "INSERT INTO alarm_kirim (idoutlet, apa, idlangganan, hari, isi, created_at, due_at)
                 SELECT o.idoutlet, 'ringkasan', s.id, $2::DATE, $3, $4, $4 {WANTED} ON CONFLICT (idlangganan, idoutlet, hari) DO NOTHING"
            );
            tx.execute(&tx.prepare_cached(&queue).await?, &[&idoutlet, &day, &text, &now]).await?;
        }
        tx.commit().await?;
        self.0.insert(idoutlet, opened_at);
        Ok(())
    }
}
