//! Seeds of the searches: each action of a session, and each limit.

use super::{LATE, ROOMY, SMALL};
use crate::harness::of_kind;

pub fn seeds() -> Vec<Vec<u8>> {
    let scripts: [(u8, &[u8]); 16] = [
        // Events, answers both ways, a second namespace.
        (ROOMY, b"h0\np0\x01\ng0\np042[\"message\",1,\"e\"]\np0421[\"ack\",[2]]\ng0\np0\x0c\np0430[\"yes\"]\x1e3\ng0\np0\x02\x1e\x09\ng0\np0\x1a\ng0"),
        // Attachments.
        (ROOMY, b"h0\np0\x01\ng0\np0\x15\ng0\np0452-[\"message\",{\"_placeholder\":true,\"num\":1}]\x1ebAA==\x1ebAQ==\ng0\np0\x16\np0\x17\np0\x17\ng0"),
        // An aborted GET, an aborted POST, a POST in pieces, two POSTs at once.
        (ROOMY, b"h0\nh0\nh0\nh0\np0\x01\ng0\ng0\nx0\ng1\nx1\ng1\no24\nm20\ne2\ng2\no24\nf2\ng2\no34\np33\ng3\ng3"),
        // Violations of the protocol.
        (ROOMY, b"h0\nh0\nh0\nh0\nh0\nh0\np02\np142[\"early\"]\np2\x01\x1e44{}\np3b\np4\x01\x1e451-[\"a\"]\x1e3\x1e42[\"b\"]\np5\xff\ng0\ng1\ng2\ng3\ng4\ng5"),
        // Ways to end a session.
        (ROOMY, b"h0\nh0\nh0\nh0\np0\x01\ng0\np0\x0f\ng0\np1\x01\np1\x10\ng1\np2\x01\x1e1\ng2\np3\x01\ng3\np3\x11\ng3\nk0leave\nk0close"),
        // Results of `connect`.
        (ROOMY, b"h0\np0\x06\x1e\x02\ng0\nP0\x04\np041\ng0\np0\x05\x1e\x01\ng0\nh0\np1\x08\ng1\nh0\np2\x07\ng2\nh0\np340{\"token\":\"ask\"}\ng3\nh0\np440{\"token\":\"data\"}"),
        // Limits: of waiting packets, of answers, of namespaces, of a payload, of attachments.
        (SMALL, b"h0\np0\x01\ng0\np0\x0c\x1e\x0c\x1e\x0c\ng0\np0\x02\x1e\x03\x1e40/c,\ng0\np0\x14\ng0\np0\x13\ng0\np0\x12\ng0"),
        (SMALL, b"h0\np0\x01\ng0\np042[\"volatile\",10,1]\ng0\np0452-[\"message\"]\x1e\x17\x1e\x17\ng0\nh0\np1\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"),
        // Places: of one address, of all addresses, of joined sessions.
        (SMALL, b"h0\nh0\nh0\nh1\nh2\ng0\np1\x01\np2\x01\np3\x01\nh3\nh4\np141\nh5"),
        // An overdue heartbeat.
        (LATE, b"h0\nh0\ng0\np13\ng1"),
        // Requests outside of a session.
        (ROOMY, b"g?\np?3\nq0EIO=4&transport=polling\nq0EIO=3&transport=polling\nq0EIO=4&transport=websocket\nq0x\nq1EIO=4&transport=polling\nq2"),
        (ROOMY, b"h0\nq3EIO=4&transport=polling&sid=\nq5EIO=4&transport=polling&sid=\nq0EIO=4&transport=polling&sid=AAAAAAAAAAAAAAAAAAAA"),
        // Rooms: of three sockets, one is in none.
        (ROOMY, b"h0\nh1\nh2\np0\x01\np1\x01\np2\x01\np0\x0e\np1\x0e\np042[\"others\",1]\ng0\ng1\np0\x1f\ng2\np1\x19\np0\x1f\nk0end\ng0"),
        // Several steps in one turn.
        (ROOMY, b"H0\nh1\nP0\x01\nG0\nP1\x01\ng1\nG0\nP0\x00\nK0message\nX0\ng1"),
        // The same as coded bytes: two sessions that join, receive events and leave.
        (ROOMY, b"\xe0\xe1\x81\xe4\xa1\xe5\x80\xe4\xe7\xfa\x8c\xe4\x8d\xe4\xa9\xe5\xc0\xe4\x8f\xe4\xbb\xe5"),
        (SMALL, b"\xe0\xe0\x81\xe4\xa1\xe5\x95\xe4\x8b\xe4\x82\xe4\x93\xe4\x92\xe4\xe1\xe2"),
    ];
    scripts.iter().map(|(kind, script)| of_kind(*kind, script)).collect()
}
