//! `nyala topup`: what the cashier does, at this machine.

use clap::Args;
use nyala_core::domain::id::OutletId;
use nyala_core::domain::rupiah::Rupiah;
use nyala_core::domain::telp::Telp;
use nyala_core::domain::timestamp::Timestamp;
use nyala_ledger::cap;
use nyala_ledger::topup::{AccountKind, Package, Payment};
use nyala_web::ops::people::payee;
use nyala_web::ops::scope::{self, Outlet};
use nyala_web::ops::topup::sell as topup;
use nyala_web::ops::topup::sell::{Allowed, TopUpMade};

use super::context::{self, CommandContext, PRINCIPAL};
use super::{CommonArgs, Failure, output};

#[derive(Debug, Args)]
pub struct Topup {
    /// The customer's WhatsApp number in any form
    #[arg(long)]
    telp: String,
    /// The outlet, whose account is opened by the first top-up
    #[arg(long, visible_alias = "idoutlet", value_name = "ID")]
    outlet: OutletId,
    /// Rupiah paid
    #[arg(long, value_name = "RUPIAH")]
    nominal: i64,
    /// Rupiah added [default: the nominal]
    #[arg(long, value_name = "RUPIAH")]
    quota: Option<i64>,
    /// What was sold [default: Top-Up]
    #[arg(long, visible_alias = "nama_paket", value_name = "TEXT")]
    nama_paket: Option<String>,
    /// 2 never expires, 1 needs --masa-aktif [default: what the outlet gives]
    #[arg(long, visible_alias = "jenis_emoney", value_name = "1|2")]
    jenis_emoney: Option<i64>,
    /// When it expires, in epoch milliseconds
    #[arg(long, visible_alias = "masa_aktif", value_name = "MS")]
    masa_aktif: Option<i64>,
}

impl Topup {
    pub fn run(self, common: &CommonArgs) -> Result<(), Failure> {
        let telp = Telp::parse(&self.telp)?;
        let kind = AccountKind::parse(self.jenis_emoney, self.masa_aktif.map(Timestamp::from_ms))?;
        let package = Package::parse(self.nominal.into(), self.quota.map(Rupiah::from), self.nama_paket.as_deref(), kind)?;
        let made = context::run(common, async |k| sell(k, &telp, self.outlet, package.clone()).await)?;
        let text = serde_json::to_string(&made)?;
        let done = format!("the top-up is booked, do not repeat it: {text}");
        output::print(&text, &done)
    }
}

async fn sell(k: &CommandContext, telp: &Telp, idoutlet: OutletId, mut package: Package) -> Result<TopUpMade, Failure> {
    let mut client = k.client().await?;
    let tx = client.transaction().await?;
    let outlet = tx.query_opt("SELECT idowner FROM outlet WHERE idoutlet = $1", &[&idoutlet]).await?;
    let idowner = outlet.ok_or_else(|| Failure::new(format!("there is no outlet {idoutlet}")))?.get(0);
    if package.kind == AccountKind::Plain {
        package.kind = AccountKind::given(scope::valid_days(&tx, idoutlet).await?, k.now);
    }
    let payee = payee::by_telp(&tx, telp).await?;
    let outlet = Outlet { idoutlet, idowner };
    cap::check(&tx, outlet.wallet_of(&payee), package.quota, k.config.ledger.max_balance()).await?;
    let made =
        topup::sell(&tx, &payee, outlet, &package, Payment::OutsideShift(None), (PRINCIPAL, Allowed::Itself), k.now).await?;
    tx.commit().await?;
    Ok(made)
}
