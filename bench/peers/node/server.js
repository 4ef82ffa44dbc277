// Socket.IO for Node as its documentation does it: a room a machine, io.to(room).emit(…). The settings are those of the other
// peers (../rust/src/lib.rs): PORT, MACHINES, TICKS_PER_SECOND.
import { createServer } from "node:http";
import { Server } from "socket.io";

const number = (name, fallback) => {
  const n = Number(process.env[name] ?? fallback);
  if (!Number.isInteger(n) || n < 1) throw new Error(`${name}=${process.env[name]} must be a whole number from 1 on`);
  return n;
};
const port = number("PORT", 9100);
const machines = number("MACHINES", 1000);
const periodMs = Math.floor(1000 / number("TICKS_PER_SECOND", 1));
const MACHINES_PER_OUTLET = 8;
const STEP_MS = 10;
const endsAt = Date.now() + 3_600_000;

const tick = () => {
  const now = Date.now();
  return { tl: endsAt - now, ends_at: endsAt, server_time: now };
};

// Spread as Nyala spreads its outlets.
const phaseMs = (outlet) => {
  const spread = BigInt.asUintN(64, BigInt(outlet) * 0x9e3779b97f4a7c15n) >> 32n;
  return (Number(spread % 100n) * STEP_MS) % periodMs;
};

const http = createServer();
const io = new Server(http, { pingInterval: 25_000, pingTimeout: 20_000 });
io.on("connection", (socket) => {
  socket.on("subscribe", (topic, ack) => {
    const id = Number(topic.replace("heartbeat/", ""));
    if (!(id >= 1 && id <= machines)) return ack({ status: 404 });
    socket.join(topic);
    ack({ status: 200, ...tick() });
  });
});

const phases = new Map();
for (let id = 1; id <= machines; id++) {
  const phase = phaseMs(Math.floor((id - 1) / MACHINES_PER_OUTLET) + 1);
  phases.set(phase, [...(phases.get(phase) ?? []), `heartbeat/${id}`]);
}
for (const [phase, topics] of phases) {
  const beat = (due) => {
    const { rooms } = io.of("/").adapter;
    for (const topic of topics) if (rooms.has(topic)) io.to(topic).emit(topic, tick());
    setTimeout(beat, Math.max(0, due + periodMs - Date.now()), due + periodMs);
  };
  const first = (Math.floor(Date.now() / periodMs) + 1) * periodMs + phase;
  setTimeout(beat, first - Date.now(), first);
}

http.listen({ port, host: "127.0.0.1", backlog: 4096 }, () => console.log(`listening on 127.0.0.1:${port}`));
