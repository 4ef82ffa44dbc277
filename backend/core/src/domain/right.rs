//! What a member of staff may do, as data: the calls that are for some roles only, and what the pages draw.

use super::role::{Role, TECHNICIAN};

macro_rules! rights {
    ($($right:ident $name:literal $least:ident $($too:ident)?,)*) => {
        /// A right, named after its call.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Right {
            $($right,)*
        }

        impl Right {
            pub const ALL: &[Self] = &[$(Self::$right),*];

            /// As `hak` of `GET /ops/v1/saya` has it.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$right => $name,)*
                }
            }

            /// Who has it, as a number for a type parameter: the first role that has it, as each later one does, and [`TECHNICIAN`].
            pub const fn rank(self) -> u8 {
                match self {
                    $(Self::$right => Role::$least as u8 $(| $too)?,)*
                }
            }
        }
    };
}

rights! {
    AuditLihat "audit.lihat" Supervisor,
    KeluhanJawab "keluhan.jawab" Supervisor,
    KunciKelola "kunci.kelola" Supervisor,
    LaporanLihat "laporan.lihat" Supervisor,
    LaporanQris "laporan.qris" Owner,
    LayananBuat "layanan.buat" Supervisor,
    LayananUbah "layanan.ubah" Supervisor,
    MesinBuat "mesin.buat" Supervisor,
    MesinBuka "mesin.buka" Supervisor TECHNICIAN,
    MesinPerangkat "mesin.perangkat" Supervisor,
    MesinServis "mesin.servis" Supervisor TECHNICIAN,
    MesinStiker "mesin.stiker" Supervisor,
    MesinStop "mesin.stop" Kasir,
    MesinTanya "mesin.tanya" Kasir TECHNICIAN,
    MesinTutup "mesin.tutup" Kasir TECHNICIAN,
    MesinUbah "mesin.ubah" Supervisor,
    MesinUji "mesin.uji" Supervisor TECHNICIAN,
    MesinWaktu "mesin.waktu" Supervisor TECHNICIAN,
    OutletBuat "outlet.buat" Owner,
    OutletBuka "outlet.buka" Supervisor,
    OutletKunciMesin "outlet.kunci_mesin" Owner,
    OutletSiap "outlet.siap" Supervisor,
    OutletTutup "outlet.tutup" Supervisor,
    OutletUbah "outlet.ubah" Owner,
    OutletUrut "outlet.urut" Supervisor,
    PaketBuat "paket.buat" Supervisor,
    PaketUbah "paket.ubah" Supervisor,
    PelangganLihat "pelanggan.lihat" Supervisor,
    PerangkatKelola "perangkat.kelola" Supervisor,
    PetugasKelola "petugas.kelola" Supervisor,
    RingkasanLihat "ringkasan.lihat" Supervisor,
    TagihanSelesai "tagihan.selesai" Owner,
}

impl Right {
    /// The rights of a role.
    pub fn of(role: Role) -> impl Iterator<Item = Self> {
        Self::ALL.iter().copied().filter(move |right| role.has(right.rank()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_technician_has_rights_of_a_separate_list() {
        let of = |role| Right::of(role).map(Right::as_str).collect::<Vec<_>>();
        assert_eq!(
            of(Role::Technician),
            ["mesin.buka", "mesin.servis", "mesin.tanya", "mesin.tutup", "mesin.uji", "mesin.waktu"]
        );
        assert_eq!(of(Role::Kasir), ["mesin.stop", "mesin.tanya", "mesin.tutup"]);
        assert!(of(Role::Supervisor).contains(&"mesin.waktu") && !of(Role::Supervisor).contains(&"outlet.buat"));
        assert_eq!(of(Role::Owner).len(), Right::ALL.len());
    }
}
