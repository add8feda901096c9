import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { type TestContext, test } from "node:test";
import { Lease } from "../../src/store/database/lease.ts";
import { openStore } from "../../src/store/store.ts";
import { temporaryFolder } from "../support/app.ts";
import { until } from "../support/until.ts";

const beatMs = 100;
const quiet = () => {};

async function emptyFolder(t: TestContext): Promise<string> {
  const dataDir = join(await temporaryFolder(t), "data");
  mkdirSync(dataDir);
  return dataDir;
}

function open(dataDir: string, lock: { beatMs?: number; host?: string } = { beatMs }) {
  return openStore(dataDir, Date.now, quiet, { lock });
}

function leaseOf(host: string, beat: number): string {
  return `${JSON.stringify({ host, holder: "feedfacefeedface", beat: String(beat).padStart(12, "0") })}\n`;
}

test("a folder that another host holds is refused, and nothing of that host's is touched", async (t) => {
  const dataDir = await emptyFolder(t);
  const lease = join(dataDir, "lease");
  const socket = join(dataDir, "lock-0123456789abcdef");
  leaveSocket(socket);
  let beat = 0;
  writeFileSync(lease, leaseOf("elsewhere", beat));
  const timer = setInterval(() => writeFileSync(lease, leaseOf("elsewhere", ++beat), { flag: "r+" }), beatMs);
  t.after(() => clearInterval(timer));

  const opening = open(dataDir);

  await assert.rejects(opening, /Another Platen is running on .*data \(another host\)\. Stop it first/);
  assert.ok(existsSync(socket));
  assert.match(readFileSync(lease, "utf8"), /"host":"elsewhere"/);
  assert.deepEqual(readdirSync(dataDir).sort(), ["lease", "lock-0123456789abcdef"]);
});

/** A socket's file on which nobody listens, as a crash leaves it. */
function leaveSocket(path: string): void {
  const script = `require("net").createServer().listen(${JSON.stringify(path)}, () => process.kill(process.pid, "SIGKILL"))`;
  spawnSync(process.execPath, ["-e", script]);
  assert.ok(existsSync(path));
}

test("a folder whose host died is taken over after three beats, with what it left", async (t) => {
  const dataDir = await emptyFolder(t);
  const socket = join(dataDir, "lock-0123456789abcdef");
  leaveSocket(socket);
  writeFileSync(join(dataDir, "lease"), leaseOf("elsewhere", 7));
  const start = performance.now();

  const store = await open(dataDir);
  const tookMs = performance.now() - start;

  assert.ok(tookMs >= 3 * beatMs, `${tookMs}`);
  assert.equal(existsSync(socket), false);
  assert.doesNotMatch(readFileSync(join(dataDir, "lease"), "utf8"), /elsewhere/);
  await store.close();
  assert.equal(existsSync(join(dataDir, "lease")), false);
});

test("a lease that a crash on this host left never delays a start", async (t) => {
  const dataDir = await emptyFolder(t);
  // Three beats would take an hour.
  const lock = { beatMs: 20 * 60_000, host: "here" };
  writeFileSync(join(dataDir, "lease"), leaseOf("here", 7));

  const store = await open(dataDir, lock);

  assert.equal((await store.clients.add({ name: "A", notes: "", subnets: [] })) > 0, true);
  await store.close();
});

test("a holder shows that it lives, in a file of the same length", async (t) => {
  const dataDir = await emptyFolder(t);
  const store = await open(dataDir, { beatMs: 10 });
  const read = () => readFileSync(join(dataDir, "lease"), "utf8");
  const first = read();

  await until(() => read() !== first);
  const later = read();
  await store.close();

  assert.equal(later.length, first.length);
  assert.deepEqual(JSON.parse(later).holder, JSON.parse(first).holder);
});

test("a process that stood still while another host took the folder over saves nothing more", async (t) => {
  const dataDir = await emptyFolder(t);
  const store = await open(dataDir);
  await store.clients.add({ name: "Before", notes: "", subnets: [] });
  const before = readFileSync(join(dataDir, "platen.sqlite"));

  rmSync(join(dataDir, "lease"));
  writeFileSync(join(dataDir, "lease"), leaseOf("elsewhere", 1));
  const writing = store.clients.add({ name: "After", notes: "", subnets: [] });

  await assert.rejects(writing, /Another Platen \(another host\) has taken .* over/);
  assert.ok(readFileSync(join(dataDir, "platen.sqlite")).equals(before));
  assert.equal(store.clients.count(), 1);
  await store.close();
  assert.equal(readFileSync(join(dataDir, "lease"), "utf8"), leaseOf("elsewhere", 1));
});

test("a lease that somebody deleted is made again", async (t) => {
  const dataDir = await emptyFolder(t);
  const store = await open(dataDir);

  rmSync(join(dataDir, "lease"));
  await store.clients.add({ name: "After", notes: "", subnets: [] });

  assert.ok(existsSync(join(dataDir, "lease")));
  await store.close();
});

test("of hosts that take over from a dead one at once, exactly one gets the folder", async (t) => {
  const dataDir = await emptyFolder(t);
  writeFileSync(join(dataDir, "lease"), leaseOf("dead", 1));
  const hosts = ["a", "b", "c"].map((host) => new Lease(dataDir, { beatMs, host }));

  const taken = await Promise.all(
    hosts.map(async (lease) => !(await lease.isHeldElsewhere()) && lease.take()),
  );
  const ours = await Promise.all(hosts.map((lease) => lease.isOurs()));
  for (const lease of hosts) await lease.release();

  assert.equal(ours.filter(Boolean).length, 1);
  assert.deepEqual(taken, ours);
});

test("of hosts that start at once in a new folder, exactly one gets it", async (t) => {
  const dataDir = await emptyFolder(t);
  const hosts = ["a", "b", "c"].map((host) => new Lease(dataDir, { beatMs, host }));

  const taken = await Promise.all(
    hosts.map(async (lease) => !(await lease.isHeldElsewhere()) && lease.take()),
  );
  for (const lease of hosts) await lease.release();

  assert.equal(taken.filter(Boolean).length, 1);
});

test("a lease that says nothing is waited for as another host's", async (t) => {
  for (const text of ["", "null", "{}", "garbage", '{"host":7}']) {
    const dataDir = await emptyFolder(t);
    writeFileSync(join(dataDir, "lease"), text);
    const store = await open(dataDir, { beatMs: 10 });
    await store.clients.add({ name: "A", notes: "", subnets: [] });
    await store.close();
    assert.equal(existsSync(join(dataDir, "lease")), false, text);
  }
});
