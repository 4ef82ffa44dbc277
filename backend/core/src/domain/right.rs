//! What a member of staff may do, as data: the calls that are for some roles only, and what the pages draw.

use super::role::Role;

macro_rules! rights {
    ($($right:ident $name:literal $least:ident,)*) => {
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

            /// The first role that has it; each later one has it, too.
            pub const fn least(self) -> Role {
                match self {
                    $(Self::$right => Role::$least,)*
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
    MesinBuka "mesin.buka" Supervisor,
    MesinPerangkat "mesin.perangkat" Supervisor,
    MesinServis "mesin.servis" Supervisor,
    MesinStiker "mesin.stiker" Supervisor,
    MesinStop "mesin.stop" Kasir,
    MesinTanya "mesin.tanya" Kasir,
    MesinTutup "mesin.tutup" Kasir,
    MesinUbah "mesin.ubah" Supervisor,
    MesinUji "mesin.uji" Supervisor,
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
    /// The number of [`Self::least`], for a type parameter.
    pub const fn rank(self) -> u8 {
        self.least() as u8
    }

    /// The rights of a role.
    pub fn of(role: Role) -> impl Iterator<Item = Self> {
        Self::ALL.iter().copied().filter(move |right| role >= right.least())
    }
}
