//! Moves to new numbers: one of the servers sends each message, and each move happens once.

use std::collections::BTreeMap;
use std::time::Duration;

use actix_web::rt::time::{sleep, timeout};
use serde_json::json;

use super::{PATIENCE, of_cluster, two_of};
use crate::auth::meta::{Cloud, MetaReply};
use crate::auth::number_move::MoveShop;

const MOVES: usize = 6;
/// So long that the passes of both servers meet.
const ANSWER: Duration = Duration::from_millis(300);

#[actix_web::test]
async fn each_message_is_sent_by_one_server_and_each_move_happens_once() {
    let cloud = Cloud::start();
    let (first, second) = two_of(|name| {
        of_cluster(cloud.setup(), name).with(|c| {
            c.whatsapp.meta_template_move = "pindah_nomor".to_owned();
            c.moves.wait_s = 1;
        })
    })
    .await;
    let MoveShop { app, hadi, outlet, .. } = &MoveShop::on(first).await;
    let mut moves = Vec::new();
    cloud.answer(MetaReply::Raw(500, "oops"));
    for n in 0..MOVES {
        let old = app.register_customer(&format!("8121111000{n}"), "Siti", "Lama").await;
        let new = app.register_customer(&format!("8132222000{n}"), "Siti", "Baru").await;
        app.funded(&new, *outlet, 10_000).await;
        app.ask(hadi, "pindah", &json!({"qr": app.code_of(new.id), "telp": old.telp})).await.ok();
        moves.push((old, new));
    }
    assert_eq!(cloud.seen.lock().unwrap().len(), MOVES, "the till's own attempts");
    cloud.answer(MetaReply::After(ANSWER));
    // A minute later.
    app.db.execute("UPDATE pindah SET kabar_at = $1", &[&app.now()]).await.unwrap();
    let done = async {
        while app.insert("SELECT count(*) FROM pindah WHERE selesai_at IS NULL", &[]).await > 0 {
            sleep(Duration::from_millis(20)).await;
        }
    };
    timeout(PATIENCE, done).await.expect("they happen");
    let mut sent = BTreeMap::<String, usize>::new();
    for message in cloud.seen.lock().unwrap().iter() {
        *sent.entry(message["to"].as_str().unwrap().to_owned()).or_default() += 1;
    }
    let each: Vec<usize> = sent.into_values().collect();
    assert_eq!(each, [2; MOVES], "refused once, and sent once");
    let happened = app.audited().await.into_iter().filter(|(action, ..)| action == "pindah").count();
    assert_eq!(happened, MOVES);
    for (old, new) in &moves {
        let telp: String = app.insert_id("SELECT telp FROM customer_global WHERE id = $1", &[&old.id]).await;
        assert_eq!(telp, new.telp);
    }
    app.assert_sound().await;
    drop(second);
}
