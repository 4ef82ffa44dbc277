// Phones behind a load balancer with two servers, one of which stops or dies: drive.mjs NYALA FOLDER.
import assert from "node:assert/strict";
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { closeSync, copyFileSync, mkdirSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { connect, createServer } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
const { io } = createRequire(join(ROOT, "backend/libs/actix-socketio/tests/clients/"))("socket.io-client");

const [nyala, folder] = process.argv.slice(2);
const { PGHOST, PGPORT, PGUSER } = process.env;
const WAIT_MS = 60_000; // for events that take seconds
const PHONES = 12;
const NAMES = ["n1", "n2"];

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

async function until(what, holds) {
  const end = Date.now() + WAIT_MS;
  while (!(await holds())) {
    assert(Date.now() < end, `never: ${what}`);
    await pause(20);
  }
}

// Ports below the system's ephemeral range, so that a restarted server finds its own port free.
const PORTS = { next: 20_000 + (process.pid % 10_000), last: 31_999 };
const isFree = (port) =>
  new Promise((resolve) => {
    const door = createServer().once("error", () => resolve(false));
    door.listen(port, "127.0.0.1", () => door.close(() => resolve(true)));
  });
async function freePort() {
  while (PORTS.next <= PORTS.last) {
    const port = PORTS.next++;
    if (await isFree(port)) return port;
  }
  throw new Error(`no port up to ${PORTS.last} is free`);
}

// Starts a program that ends with this one; its output goes to a file.
const running = new Set();
const logs = new Set();
function start(name, program, args, env = {}) {
  const log = join(folder, `${name}.log`);
  logs.add(log);
  const file = openSync(log, "a");
  const child = spawn(program, args, { cwd: ROOT, env: { ...process.env, ...env }, stdio: ["ignore", file, file] });
  closeSync(file);
  const ended = new Promise((resolve) => child.once("exit", resolve));
  const one = { child, ended };
  running.add(one);
  ended.then(() => running.delete(one));
  return one;
}

async function stop({ child, ended }, signal = "SIGTERM") {
  child.kill(signal);
  await ended;
}

const ports = {};
for (const name of NAMES) ports[name] = await freePort();
const env = (name) => ({
  DATABASE_URL: `host=${PGHOST} port=${PGPORT} user=${PGUSER} dbname=postgres`,
  NYALA__DATA__DIR: join(folder, name),
  NYALA__HTTP__PORT: String(ports[name]),
  NYALA__HTTP__DRAIN_S: "5",
  NYALA__MQTT__PORT: "0",
  NYALA__DEV__SEED_DEMO: "false",
  NYALA__LOG__FILTER: "info",
  NYALA__CLUSTER__ENABLED: "true",
  NYALA__CLUSTER__NAME: name,
});

// The answer's status; undefined when there is no answer.
const status = (url, headers = {}) => fetch(url, { headers }).then((answer) => answer.status, () => undefined);

async function serve(name) {
  const server = start(name, nyala, ["serve"], env(name));
  await until(`${name} is ready`, async () => {
    assert(running.has(server), `${name} ended`);
    return isReady(name);
  });
  return server;
}

class Phone {
  constructor(url, token, pollsOnly) {
    this.pollsOnly = pollsOnly;
    this.failed = this.dropped = 0;
    const transports = pollsOnly ? { transports: ["polling"] } : {};
    this.socket = io(url, { auth: { token }, forceNew: true, ...transports });
    this.socket.on("disconnect", () => (this.dropped += 1));
    this.socket.io.on("reconnect_error", () => (this.failed += 1));
    this.socket.on("connect_error", (error) => (this.error = error));
  }

  // The server that holds its session.
  get at() {
    return this.socket.connected ? this.socket.io.engine.id.slice(0, 2) : undefined;
  }

  get isSettled() {
    return this.socket.connected && (this.pollsOnly || this.socket.io.engine.transport.name === "websocket");
  }

  // A round trip without a database query: no topic has this name.
  async asks() {
    const answer = await this.socket.timeout(WAIT_MS).emitWithAck("subscribe", "mesin/4711");
    assert.equal(answer.status, 404);
  }
}

// As in a failover: all connections are closed, and no new one is accepted.
function database(lets) {
  const end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'postgres'";
  const words = [`ALTER DATABASE postgres ALLOW_CONNECTIONS ${lets}`, ...(lets ? [] : [end])].flatMap((sql) => ["-c", sql]);
  execFileSync("psql", ["-h", PGHOST, "-p", PGPORT, "-U", PGUSER, "-d", "template1", "-q", "-o", "/dev/null", ...words]);
}

// The example of docs/cluster with this machine's ports; the only other change is that there is no TLS.
function example(file, own, redirect, devices) {
  let text = readFileSync(join(ROOT, "docs/cluster", file), "utf8");
  const change = (from, to) => {
    assert(text.match(from), `${file} has no ${from}`);
    text = text.replaceAll(from, to);
  };
  NAMES.forEach((name, n) => change(`10.0.0.1${n + 1}:8080`, `127.0.0.1:${ports[name]}`));
  if (file === "haproxy.cfg") {
    // No device connects here: `nyala-loadtest cluster` tests this port.
    change("bind :8883\n", `bind 127.0.0.1:${devices}\n`);
    NAMES.forEach((name, n) => change(`10.0.0.1${n + 1}:8883`, "127.0.0.1:9"));
    change(/bind :443 ssl .*/g, `bind 127.0.0.1:${own}`);
    change("bind :80\n", `bind 127.0.0.1:${redirect}\n`);
    return text;
  }
  change(/.*listen \[::\].*\n/g, "");
  change(/.* ssl_.*\n/g, "");
  change("listen 443 ssl http2;", `listen 127.0.0.1:${own};`);
  change("listen 80;", `listen 127.0.0.1:${redirect};`);
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map((kind) => `${kind}_temp_path ${folder}/nginx-${kind};`);
  return `daemon off;\npid ${folder}/nginx.pid;\nerror_log stderr;\nevents {}\nhttp {\n${temporary.join("\n")}\naccess_log off;\n${text}}\n`;
}

const BALANCERS = {
  haproxy: { file: "haproxy.cfg", args: (file) => ["-db", "-f", file] },
  nginx: { file: "nginx.conf", args: (file) => ["-c", file, "-e", "stderr"] },
};

// Spellings of the paths that only operators may reach.
const PRIVATE = ["metrics", "readyz", "healthz"].flatMap((name) => {
  const code = (letter) => `%${letter.charCodeAt(0).toString(16)}`;
  const [first, rest] = [name[0], name.slice(1)];
  const all = [...name].map(code).join("");
  return [name, code(first) + rest, code(first).toUpperCase() + rest, all, `/${name}`, `./${name}`, `x/../${name}`, `%2e/${name}`, `%2f${name}`]
    .concat([`${name};x`, `${name}/`, `${name}?x`, `${name}%3bx`, `;/${name}`])
    .map((path) => `/${path}`);
});

// A raw request: fetch() would normalise its path.
function bare(port, path, headers = "") {
  return new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1");
    let answer = "";
    socket.setEncoding("utf8").on("data", (text) => (answer += text)).on("end", () => resolve(answer)).on("error", reject);
    socket.write(`GET ${path} HTTP/1.1\r\nHost: cuci.invalid\r\n${headers}Connection: close\r\n\r\n`);
  });
}

const isReady = async (name) => (await status(`http://127.0.0.1:${ports[name]}/readyz`)) === 200;

// For less than five seconds no server has a database. The load balancer accepts no new connection; no phone loses its socket.
async function withoutDatabase(program, url, phones) {
  for (let tries = 0; tries < 5; tries += 1) {
    const began = Date.now();
    let asked;
    database(false);
    try {
      await until("both are unready", async () => !(await isReady("n1")) && !(await isReady("n2")));
      // nginx makes no health checks.
      const refuses = async () => (await status(`${url}/socket.io/?EIO=4&transport=polling`)) === 503;
      if (program === "haproxy") await until("nothing new is taken", refuses);
      asked = await Promise.allSettled(phones.map((phone) => phone.asks()));
    } finally {
      database(true);
    }
    await until("both are ready again", async () => (await isReady("n1")) && (await isReady("n2")));
    // After five seconds the servers close the phones' connections.
    if (Date.now() - began < 5_000) {
      assert.deepEqual(phones.map((phone) => phone.dropped), phones.map(() => 0), "no phone is dropped");
      assert(asked.every((one) => one.status === "fulfilled"), "each is answered");
      return console.log(`${program}: a failover, no phone dropped`);
    }
    await until("every phone is back", () => phones.every((phone) => phone.isSettled));
    for (const phone of phones) phone.dropped = 0;
  }
  throw new Error("this machine is too slow for a failover within five seconds");
}

async function behind(program, servers, tokens) {
  const { file, args } = BALANCERS[program];
  const [port, redirect, devices] = [await freePort(), await freePort(), await freePort()];
  const config = join(folder, file);
  writeFileSync(config, example(file, port, redirect, devices));
  const balancer = start(program, program, args(config));
  const url = `http://127.0.0.1:${port}`;
  const dashboard = () => status(`${url}/scan/v1/dashboard/get_dashboard`, { authorization: `Bearer ${tokens[0]}` });
  await until(`${program} answers`, async () => {
    assert(running.has(balancer), `${program} ended`);
    return (await dashboard()) === 200;
  });
  for (const path of PRIVATE) {
    const answer = await bare(port, path);
    assert.match(answer, /^HTTP\/1.1 40[04] /, `${program}: ${path} is nobody else's business`);
    assert(!answer.includes("nyala_"), `${program}: ${path} tells no figures`);
  }
  // Not "/": without the app it is a 503, which takes a server out of nginx's turn.
  for (const path of ["/openapi.json", "/metrics"]) {
    assert.match(await bare(port, path), /^strict-transport-security: max-age=31536000; includeSubDomains\r$/im, `${program}: ${path} has HSTS`);
  }
  assert.match(await bare(redirect, "/login"), /^HTTP\/1.1 301 [^]*\r\nlocation: https:\/\/cuci.invalid\/login\r\n/i, `${program}: a page is led to TLS`);
  for (const path of ["/scan/v1/auth/login", "/ops/v1/topup", "/socket.io/?EIO=4&transport=polling"]) {
    assert.match(await bare(redirect, path), /^HTTP\/1.1 403 /, `${program}: ${path} in the clear is refused`);
  }
  const [origin, forged] = [`http://cuci.example`, "X-Forwarded-Host: cuci.example\r\nX-Forwarded-Proto: http\r\n"];
  const foreign = await bare(port, "/socket.io/?EIO=4&transport=polling", `Origin: ${origin}\r\n${forged}`);
  assert.match(foreign, /^HTTP\/1.1 403 /, `${program}: no browser names the host`);

  // Each phone connects, upgrades to its websocket and stays at its server.
  const phones = tokens.map((token, n) => new Phone(url, token, n % 3 === 0));
  await until("every phone is connected", () => phones.every((phone) => phone.isSettled));
  for (let round = 0; round < 5; round += 1) await Promise.all(phones.map((phone) => phone.asks()));
  assert.deepEqual(phones.map(({ error, dropped }) => [error, dropped]), phones.map(() => [undefined, 0]));
  const spread = () => NAMES.map((name) => phones.filter((phone) => phone.at === name).length);
  assert(spread().every((some) => some > 0), `phones are at both: ${spread()}`);
  console.log(`${program}: ${PHONES} phones connected, at ${NAMES}: ${spread()}`);

  if (isInstalled("psql")) await withoutDatabase(program, url, phones);
  else console.log("SKIPPED: psql is not installed here, so no database is taken away");

  // One server dies: its phones move to the other one, whose own phones notice nothing.
  const away = async (name, ends) => {
    const other = NAMES.find((one) => one !== name);
    const [moved, stayed] = [phones.filter((phone) => phone.at === name), phones.filter((phone) => phone.at === other)];
    for (const phone of phones) phone.dropped = phone.failed = 0;
    await ends();
    await until(`every phone is at ${other}`, () => phones.every((phone) => phone.isSettled && phone.at === other));
    await Promise.all(phones.map((phone) => phone.asks()));
    assert.deepEqual(stayed.map((phone) => phone.dropped), stayed.map(() => 0), `those at ${other} stay`);
    return moved.reduce((sum, phone) => sum + phone.failed, 0);
  };
  let failed = await away("n1", () => stop(servers.n1, "SIGKILL"));
  console.log(`${program}: n1 killed, every phone at n2; tries that failed: ${failed}`);

  // It comes back, and the other one is stopped.
  servers.n1 = await serve("n1");
  const calls = { asked: 0, refused: 0, over: false };
  const asking = (async () => {
    while (!calls.over) {
      calls.asked += 1;
      calls.refused += (await dashboard()) === 200 ? 0 : 1;
      await pause(10);
    }
  })();
  await until(`${program} has found n1`, async () => {
    const probe = new Phone(url, tokens[0], false);
    await until("a phone more is connected", () => probe.isSettled);
    const { at } = probe;
    probe.socket.disconnect();
    return at === "n1";
  });
  failed = await away("n2", () => stop(servers.n2));
  calls.over = true;
  await asking;
  assert.equal(calls.refused, 0, `${calls.refused} of ${calls.asked} calls were refused while a server stopped`);
  console.log(`${program}: n2 stopped, every phone at n1; tries that failed: ${failed}; ${calls.asked} calls, none refused`);

  servers.n2 = await serve("n2");
  for (const { socket } of phones) socket.disconnect();
  await stop(balancer);
}

const isInstalled = (program) => spawnSync(program, ["--version"]).error === undefined;

async function main() {
  const here = Object.keys(BALANCERS).filter((program) => {
    const found = isInstalled(program);
    if (!found) console.log(`SKIPPED: ${program} is not installed here, so its example is not tried`);
    return found;
  });
  if (here.length === 0) return;
  const servers = { n1: await serve("n1") };
  mkdirSync(join(folder, "n2"), { recursive: true });
  copyFileSync(join(folder, "n1", "secrets.toml"), join(folder, "n2", "secrets.toml"));
  servers.n2 = await serve("n2");
  const config = { cwd: ROOT, env: { ...process.env, ...env("n1") }, encoding: "utf8" };
  const key = execFileSync(nyala, ["key", "add", "--role", "root", "--nama", "uji"], config).trim();
  const made = await fetch(`http://127.0.0.1:${ports.n1}/ops/v1/pelanggan/bulk`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${key}`, "idempotency-key": "1" },
    body: JSON.stringify({ jumlah: PHONES, awalan_telp: "812" }),
  });
  const tokens = (await made.json()).data.pelanggan.map(({ token }) => token);
  for (const program of here) await behind(program, servers, tokens);
}

try {
  await main();
} catch (error) {
  console.error(error);
  for (const log of logs) console.error(`the end of ${log}:\n${readFileSync(log, "utf8").split("\n").slice(-20).join("\n")}`);
  process.exitCode = 1;
} finally {
  await Promise.all([...running].map((one) => stop(one)));
}
process.exit();
