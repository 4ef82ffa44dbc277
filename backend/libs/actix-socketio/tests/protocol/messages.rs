//! Socket.IO protocol, "Sending and receiving data", "Acknowledgement" and "Packet encoding".

use super::start;
use crate::http::Polling;
use crate::ws::Ws;

const TWO: &str = r#"{"_placeholder":true,"num":0},{"_placeholder":true,"num":1}"#;

#[test]
fn events_carry_any_json() {
    let server = start();
    let mut ws = Ws::joined(&server);
    for args in ["", r#",1,"2",{"3":[true]}"#, r#",null,"\u00e9\u001e",[[]]"#] {
        ws.send(&format!(r#"42["message"{args}]"#));
        assert_eq!(ws.text(), format!(r#"42["message-back"{args}]"#));
    }
}

#[test]
fn events_carry_attachments() {
    let server = start();
    let mut ws = Ws::joined(&server);
    ws.join("40/custom,");
    for namespace in ["", "/custom,"] {
        ws.send(&format!(r#"452-{namespace}["message",{TWO}]"#));
        ws.send_binary(&[1, 2, 3]);
        ws.send_binary(&[]);
        assert_eq!(ws.text(), format!(r#"452-{namespace}["message-back",{TWO}]"#));
        assert_eq!(ws.binary(), [1, 2, 3]);
        assert!(ws.binary().is_empty());
    }
}

#[test]
fn an_id_asks_for_an_answer_with_the_same_id() {
    let server = start();
    let mut ws = Ws::joined(&server);
    ws.join("40/custom,");
    ws.send(r#"42456["message-with-ack",1,"2",{"3":[false]}]"#);
    assert_eq!(ws.text(), r#"43456[1,"2",{"3":[false]}]"#);
    ws.send(r#"42/custom,0["message-with-ack"]"#);
    assert_eq!(ws.text(), "43/custom,0[]");
    ws.send(&format!(r#"452-789["message-with-ack",{TWO}]"#));
    ws.send_binary(&[1, 2, 3]);
    ws.send_binary(&[4, 5, 6]);
    assert_eq!(ws.text(), format!("462-789[{TWO}]"));
    assert_eq!([ws.binary(), ws.binary()], [[1, 2, 3], [4, 5, 6]]);
}

#[test]
fn many_events_at_once_are_all_answered_in_order() {
    let server = start();
    let mut ws = Ws::joined(&server);
    let events: Vec<u8> = (0..500).flat_map(|n| crate::wire::text_frame(&format!(r#"42{n}["message-with-ack",{n}]"#))).collect();
    ws.send_raw(&events);
    for n in 0..500 {
        assert_eq!(ws.text(), format!("43{n}[{n}]"));
    }
    let session = Polling::joined(&server);
    let events: Vec<_> = (0..200).map(|n| format!(r#"42{n}["message-with-ack",{n}]"#)).collect();
    assert_eq!(session.post(events.join("\u{1e}")).status, 200);
    let answers: Vec<_> = (0..200).map(|n| format!("43{n}[{n}]")).collect();
    assert_eq!(session.get().body, answers.join("\u{1e}"));
}

#[test]
fn what_one_event_sends_may_be_many_frames() {
    let server = start();
    let mut ws = Ws::joined(&server);
    for volatile in [false, true] {
        ws.send(&format!(r#"42["flood",500,10,{volatile}]"#));
        for n in 0..500 {
            assert!(ws.text().starts_with(&format!(r#"42["tick",[{n},"#)));
        }
    }
}

#[test]
fn the_server_asks_too() {
    let server = start();
    let mut ws = Ws::joined(&server);
    ws.send(r#"42["ask"]"#);
    assert_eq!(ws.text(), r#"420["question",1]"#);
    ws.send(r#"430["yes",2]"#);
    assert_eq!(ws.text(), r#"42["answered","yes",2]"#);
    ws.send(r#"42["ask"]"#);
    assert_eq!(ws.text(), r#"421["question",1]"#);
    ws.send(r#"461-1[{"_placeholder":true,"num":0}]"#);
    ws.send_binary(&[9]);
    assert_eq!(ws.text(), r#"451-["answered",{"_placeholder":true,"num":0}]"#);
    assert_eq!(ws.binary(), [9]);
    // Answers without a pending request are ignored.
    ws.send("430[]");
    ws.send("4399[]");
    ws.send(r#"42["message"]"#);
    assert_eq!(ws.text(), r#"42["message-back"]"#);
}

#[test]
fn what_breaks_the_format_closes_the_connection() {
    let server = start();
    for packet in [
        "4",
        "4abc",
        "47",
        "42",
        "42{}",
        "42[",
        "42[]",
        "42[1]",
        "42[null]",
        r#"42abc["message-with-ack",1]"#,
        r#"421234567890123456["message-with-ack",1]"#,
        r#"42["connect"]"#,
        r#"42["disconnecting"]"#,
        "43[]",
        "431{}",
        "41{}",
        "40[]",
        r#"40"text""#,
        r#"44{"message":"no"}"#,
        r#"45["message"]"#,
        r#"45-["message"]"#,
        r#"451["message"]"#,
        r#"4599999-["message"]"#,
    ] {
        let mut ws = Ws::joined(&server);
        ws.send(packet);
        assert_eq!(ws.closed(), Some(1002), "{packet}");
    }
}

#[test]
fn attachments_follow_their_packet_at_once() {
    let server = start();
    let mut ws = Ws::joined(&server);
    ws.send_binary(&[1]);
    assert_eq!(ws.closed(), Some(1002), "an attachment of nothing");
    let mut ws = Ws::joined(&server);
    ws.send(&format!(r#"452-["message",{TWO}]"#));
    ws.send_binary(&[1]);
    ws.send(r#"42["message"]"#);
    assert_eq!(ws.closed(), Some(1002), "a text between");
    let mut ws = Ws::joined(&server);
    ws.send(r#"450-["message",1]"#);
    assert_eq!(ws.text(), r#"42["message-back",1]"#, "a binary event without attachments is an event");
}

#[test]
fn polling_carries_attachments_as_base64() {
    let server = start();
    let session = Polling::joined(&server);
    let event = r#"451-["message",{"_placeholder":true,"num":0}]"#;
    assert_eq!(session.post(format!("{event}\u{1e}bAQID")).status, 200);
    assert_eq!(session.get().body, format!("{}\u{1e}bAQID", event.replace("message", "message-back")));
}
