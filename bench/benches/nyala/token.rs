//! The check of a customer's token, made for every request and every socket.

use std::hint::black_box;

use criterion::Criterion;
use nyala_core::domain::id::CustomerId;
use nyala_core::domain::timestamp::Timestamp;
use nyala_identity::auth::token::Tokens;
use nyala_store::secrets::Secrets;

pub fn bench(criterion: &mut Criterion) {
    let (tokens, now) = (Tokens::new(Secrets::random().into(), 30), Timestamp::from_ms(1_795_000_000_000));
    let token = tokens.mint(CustomerId::new(1234), 1, now).unwrap();
    criterion.bench_function("token/check", |b| b.iter(|| tokens.read(black_box(&token), now).unwrap()));
}
