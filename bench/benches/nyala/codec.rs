//! Socket.IO and websocket packets: what a phone sends, and what a tick costs before it is written anywhere.

use std::hint::black_box;

use actix_socketio::host::codec::{Decoder, Packet};
use bytes::BytesMut;
use bytestring::ByteString;
use criterion::Criterion;
use nyala_core::domain::id::MachineId;
use nyala_core::domain::timestamp::Timestamp;
use nyala_core::purchase::step::Cycle;
use nyala_machines::tick::Tick;
use nyala_web::live::tick_frame;

const SUBSCRIBE: &str = r#"20["subscribe","heartbeat/1234"]"#;

pub fn bench(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("codec");
    let packet = ByteString::from(SUBSCRIBE);
    group.bench_function("parse a subscribe", |b| b.iter(|| Packet::parse(black_box(&packet)).unwrap()));

    let masked = masked(&format!("4{SUBSCRIBE}"));
    let mut decoder = Decoder::new(65536);
    group.bench_function("decode its websocket frame", |b| {
        b.iter(|| decoder.decode(&mut BytesMut::from(black_box(&masked[..]))).unwrap().unwrap());
    });

    let (ends_at, now) = (Timestamp::from_ms(1_795_000_000_000), Timestamp::from_ms(1_794_999_000_000));
    let cycle = Cycle::until(ends_at, 3_600_000);
    group.bench_function("encode a tick", |b| {
        b.iter(|| tick_frame::encode(MachineId::new(1234), Tick::running(black_box(cycle), black_box(now))))
    });
    group.finish();
}

/// A short text frame as a client sends it.
fn masked(text: &str) -> Vec<u8> {
    const MASK: [u8; 4] = [0x12, 0x34, 0x56, 0x78];
    let mut frame = vec![0x81, 0x80 | u8::try_from(text.len()).unwrap()];
    frame.extend_from_slice(&MASK);
    frame.extend(text.bytes().zip(MASK.iter().cycle()).map(|(byte, mask)| byte ^ mask));
    frame
}
