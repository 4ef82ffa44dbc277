// The real JavaScript client against the example server, in one of its settings: default, websocket or polling.
import assert from "node:assert/strict";
import { Manager, io } from "socket.io-client";

const [url, setting] = process.argv.slice(2);
const options = {
  default: {},
  websocket: { transports: ["websocket"] },
  polling: { transports: ["polling"] },
}[setting];
assert(options, "usage: client.mjs URL default|websocket|polling");

const once = (emitter, event) => new Promise((resolve) => emitter.once(event, resolve));
const open = (namespace, extra) => io(url + namespace, { ...options, forceNew: true, reconnectionDelay: 10, ...extra });

const tests = {
  async "connects with auth and is told its id"() {
    const socket = open("/", { auth: (done) => done({ token: "good" }) });
    const auth = once(socket, "auth");
    await once(socket, "connect");
    assert.deepEqual(await auth, { token: "good" });
    assert.equal(socket.id.length, 20);
    return socket;
  },

  async "events carry text, objects and binary, both ways"() {
    const socket = open("/");
    const args = [1, "dua é \u{1f9fa}", { a: [true, null] }, Buffer.from([1, 2, 3]), { deep: Buffer.from([4]) }];
    const back = new Promise((resolve) => socket.once("message-back", (...got) => resolve(got)));
    socket.emit("message", ...args);
    const bytes = (value) => Buffer.from(value);
    const got = await back;
    assert.deepEqual(got.slice(0, 3), args.slice(0, 3));
    assert.deepEqual(bytes(got[3]), args[3]);
    assert.deepEqual(bytes(got[4].deep), args[4].deep);
    return socket;
  },

  async "acks come for every one of many events at once"() {
    const socket = open("/");
    await once(socket, "connect");
    const answers = await Promise.all([...Array(200).keys()].map((n) => socket.timeout(5000).emitWithAck("message-with-ack", n)));
    assert.deepEqual(answers, [...Array(200).keys()]);
    const binary = await socket.timeout(5000).emitWithAck("message-with-ack", Buffer.alloc(3, 7));
    assert.deepEqual(Buffer.from(binary), Buffer.alloc(3, 7));
    return socket;
  },

  async "large messages pass"() {
    const socket = open("/");
    const text = "x".repeat(400_000);
    assert.equal(await socket.timeout(5000).emitWithAck("message-with-ack", text), text);
    return socket;
  },

  async "namespaces share one connection"() {
    const manager = new Manager(url, { ...options, reconnectionDelay: 10 });
    const [main, custom] = [manager.socket("/"), manager.socket("/custom")];
    await Promise.all([once(main, "connect"), once(custom, "connect")]);
    assert.equal(await custom.timeout(5000).emitWithAck("message-with-ack", 1), 1);
    custom.disconnect();
    assert.equal(await main.timeout(5000).emitWithAck("message-with-ack", 2), 2);
    return main;
  },

  async "refusals reach the client"() {
    const unknown = open("/random");
    assert.equal((await once(unknown, "connect_error")).message, "Invalid namespace");
    unknown.disconnect();
    const socket = open("/", { auth: { token: "wrong" } });
    assert.equal((await once(socket, "connect_error")).message, "unauthorized");
    assert.equal(socket.active, false, "a refused socket does not retry by itself");
    return socket;
  },

  async "the connection outlives several heartbeats"() {
    const socket = open("/");
    await once(socket, "connect");
    for (let beats = 0; beats < 4; beats++) await once(socket.io.engine, "heartbeat");
    assert(socket.connected);
    return socket;
  },

  async "the transport is the one asked for"() {
    const socket = open("/");
    await once(socket, "connect");
    const { engine } = socket.io;
    if (setting === "default" && engine.transport.name === "polling") await once(engine, "upgrade");
    assert.equal(engine.transport.name, setting === "polling" ? "polling" : "websocket");
    assert.equal(await socket.timeout(5000).emitWithAck("message-with-ack", 1), 1);
    return socket;
  },

  async "a client that the server hangs up on comes back and is asked for its token again"() {
    let asked = 0;
    const socket = open("/", { auth: (done) => done({ token: ++asked }) });
    await once(socket, "connect");
    const gone = once(socket, "disconnect");
    socket.emit("hang-up");
    assert.match(await gone, /^transport (close|error)$/);
    await once(socket, "connect");
    assert.equal(asked, 2);
    return socket;
  },
};

for (const [name, test] of Object.entries(tests)) {
  const timer = setTimeout(() => {
    console.error(`not ok: ${setting}: ${name}: no answer within 15 s`);
    process.exit(1);
  }, 15_000);
  (await test()).disconnect();
  clearTimeout(timer);
  console.log(`ok: socket.io-client ${setting}: ${name}`);
}
