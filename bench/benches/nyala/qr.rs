//! A code as a picture: the customer's is drawn again every five minutes.

use std::hint::black_box;

use criterion::Criterion;
use nyala_core::domain::id::CustomerId;
use nyala_core::domain::timestamp::Timestamp;
use nyala_identity::qr;
use nyala_store::secrets::Secrets;

pub fn bench(criterion: &mut Criterion) {
    let text = qr::customer::make(&Secrets::random(), CustomerId::new(1234), Timestamp::from_ms(1_795_000_000_000));
    criterion.bench_function("qr/png", |b| b.iter(|| qr::png::render(black_box(&text)).unwrap()));
}
