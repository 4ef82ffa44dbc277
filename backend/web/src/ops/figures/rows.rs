//! The rows of the reports, and their columns in CSV.

use nyala_core::domain::id::{MachineId, ShiftId};
use nyala_core::domain::machine_kind::MachineKind;
use nyala_core::domain::timestamp::Timestamp;
use nyala_core::figures::calendar::Day;
use serde::Serialize;
use utoipa::ToSchema;

use super::csv::{Cell, ReportRow};

/// Defines a row whose JSON fields are the columns of its CSV, in their order. Those after `json` are in no file.
macro_rules! report_row {
    ($(#[$doc:meta])* $name:ident { $($(#[$attr:meta])* $field:ident: $type:ty => $cell:expr,)* }
        $(json { $($(#[$json_attr:meta])* $json:ident: $json_type:ty,)* })?) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
        pub struct $name {
            $($(#[$attr])* pub $field: $type,)*
            $($($(#[$json_attr])* pub $json: $json_type,)*)?
        }

        impl ReportRow for $name {
            const COLUMNS: &'static [&'static str] = &[$(stringify!($field)),*];
            fn cells(&self) -> Vec<Cell<'_>> {
                vec![$({
                    let cell: fn(&$type) -> Cell<'_> = $cell;
                    cell(&self.$field)
                }),*]
            }
        }
    };
}

fn number(n: &i64) -> Cell<'_> {
    Cell::Number(*n)
}

fn optional_text(text: &Option<String>) -> Cell<'_> {
    Cell::optional(text.as_deref(), Cell::Text)
}

fn optional_number(n: &Option<i64>) -> Cell<'_> {
    Cell::optional(*n, Cell::Number)
}

report_row! {
    /// A day of an outlet. Amounts in rupiah.
    Harian {
        #[schema(value_type = String, format = Date)] tanggal: Day => |day| Cell::Day(*day),
        /// Posts less refunds and deletions.
        pendapatan: i64 => number,
        siklus: i64 => number,
        topup_tunai: i64 => number,
        topup_qris: i64 => number,
        topup_transfer: i64 => number,
        topup_lain: i64 => number,
        batal: i64 => number,
        refund: i64 => number,
        selisih_kas: i64 => number,
        menit_mati: i64 => number,
        /// Coins that boards have counted. They are in no other figure.
        koin: i64 => number,
        /// What they were worth when they were counted.
        rupiah_koin: i64 => number,
    }
}

report_row! {
    /// A machine. Amounts in rupiah.
    LaporanMesin {
        #[schema(value_type = i64)] idmesin: MachineId => |id| Cell::Number(id.get()),
        /// Its present name.
        mesin: String => |text| Cell::Text(text),
        jenis: MachineKind => |kind| Cell::Text(kind.as_str()),
        siklus: i64 => number,
        pendapatan: i64 => number,
        refund: i64 => number,
        menit_mati: i64 => number,
        /// Coins that its board has counted. They are in no other figure.
        koin: i64 => number,
        /// What they were worth when they were counted.
        rupiah_koin: i64 => number,
        /// Pulses of its tests, as the limit of a day counts them.
        tes_pulsa: i64 => number,
    }
}

report_row! {
    /// A shift of a till that was counted in the period, or is still open. Amounts in rupiah.
    LaporanShift {
        #[schema(value_type = i64)] idshift: ShiftId => |id| Cell::Number(id.get()),
        perangkat: String => |text| Cell::Text(text),
        dibuka_at: Timestamp => |at| Cell::Time(*at),
        dibuka_oleh: String => |text| Cell::Text(text),
        #[schema(value_type = Option<Timestamp>, required)] ditutup_at: Option<Timestamp> => |at| Cell::optional(*at, Cell::Time),
        #[schema(required)] ditutup_oleh: Option<String> => optional_text,
        modal: i64 => number,
        #[schema(required)] diharapkan: Option<i64> => optional_number,
        #[schema(required)] dihitung: Option<i64> => optional_number,
        #[schema(required)] selisih: Option<i64> => optional_number,
        #[schema(required)] catatan: Option<String> => optional_text,
        /// Coins that the outlet's boards have counted while it was open. They are in no drawer.
        koin: i64 => number,
        /// What they were worth when they were counted.
        rupiah_koin: i64 => number,
    }
}

report_row! {
    /// What changed the balances of the accounts that were opened at the outlet, by day. Rupiah of balance.
    LaporanSaldo {
        #[schema(value_type = String, format = Date)] tanggal: Day => |day| Cell::Day(*day),
        topup: i64 => number,
        batal: i64 => number,
        terpakai: i64 => number,
        dikembalikan: i64 => number,
        saldo_akhir: i64 => number,
    }
    json {
        /// Paid out in cash.
        penarikan: i64,
        /// Bonus and expired balance that ended.
        hangus: i64,
        /// Balances of another system.
        saldo_awal: i64,
    }
}

report_row! {
    /// A bill that was made in the period. Amounts in rupiah.
    LaporanQris {
        idtagihan: String => |text| Cell::Text(text),
        dibuat_at: Timestamp => |at| Cell::Time(*at),
        #[schema(value_type = Option<Timestamp>, required)] dibayar_at: Option<Timestamp> => |at| Cell::optional(*at, Cell::Time),
        #[schema(value_type = nyala_core::bill::BillStatus)] status: String => |text| Cell::Text(text),
        nominal: i64 => number,
        /// What was paid, as the provider reported it.
        #[schema(required)] jumlah_penyedia: Option<i64> => optional_number,
        /// The provider's own id of the payment.
        #[schema(required)] ref_penyedia: Option<String> => optional_text,
        /// The top-up, a decimal string as in the history.
        #[schema(required)] idpembelian_emoney: Option<String> => optional_text,
    }
}

report_row! {
    /// A use that started.
    LaporanPemakaian {
        /// When it started, as the ledger has it.
        waktu: Timestamp => |at| Cell::Time(*at),
        /// The receipt number.
        idtransaksi: String => |text| Cell::Text(text),
        pelanggan: String => |text| Cell::Text(text),
        /// The name at the time of the purchase.
        mesin: String => |text| Cell::Text(text),
        layanan: String => |text| Cell::Text(text),
        /// Seconds.
        durasi: i64 => number,
        /// Rupiah.
        harga: i64 => number,
        /// Rupiah that were refunded.
        dikembalikan: i64 => number,
        #[schema(value_type = crate::ops::refund::list::UseStatus)] status: String => |text| Cell::Text(text),
    }
}
