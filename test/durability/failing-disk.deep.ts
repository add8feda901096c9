import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { test } from "node:test";
import { adminHeaders, proxySettings } from "../support/access/proxies.ts";
import { client, temporaryFolder } from "../support/app.ts";
import { AcknowledgedChanges, logProblems } from "../support/audit/audit-state.ts";
import { fileProblems, savedRows } from "../support/durability/disk-state.ts";
import { serve } from "../support/service.ts";
import { until } from "../support/until.ts";

// The bundled service on a disk that fails for a while, also in synchronous calls and on other threads. A preloaded shim
// makes the calls fail.

const resultOf = async (request: Promise<Response>) => {
  const answer = await request;
  return `${answer.status} ${await answer.text()}`;
};
const clear = /^5.*othing was (?:saved|changed)/s;

test("while the disk fails, writes are refused and pages are served, and then writes succeed again without any loss", {
  timeout: 120_000,
}, async (t) => {
  const folder = await temporaryFolder(t);
  const [control, dataDir] = [join(folder, "failing"), join(folder, "data")];
  const fail = (what: string) => writeFileSync(control, what);
  const hits = () => (existsSync(`${control}.hits`) ? readFileSync(`${control}.hits`, "utf8") : "");
  fail("");
  mkdirSync(dataDir);
  const shim = resolve("test/support/durability/failing-disk.cjs");
  const environment = { NODE_OPTIONS: `--require ${shim}`, FAILING_DISK: control, FAILING_FOLDER: dataDir };
  const start = () => serve(t, folder, { ...proxySettings, ...environment });
  const saved = async () => JSON.stringify(await savedRows(dataDir));
  const service = await start();
  const { addPrinter, post, fetch } = client(service.url, adminHeaders);
  const printer = await addPrinter();
  const codes = ["ENOSPC", "EIO", "EMFILE", "EROFS"];
  const outages = codes.flatMap((code) => [1, 5, 8].map((from) => `${code} ${from}`));

  for (const what of outages) {
    const before = await saved();
    fail(what);
    const first = await resultOf(post("/clients", { name: `Refused ${what}` }));
    const second = await resultOf(post("/tokens", { name: what, scope: "read", days: "30" }));
    const pages = await Promise.all(["/", "/printers", "/clients"].map((path) => fetch(path)));
    fail("");
    // Before a later call fails, the first write may have succeeded. A refused save that reached the disk is reverted.
    if (!first.startsWith("200")) await until(async () => clear.test(first) && (await saved()) === before);
    const next = await post("/clients", { name: `Taken ${what}` });
    assert.match(second, clear, what);
    for (const { status } of [...pages, next]) assert.equal(status, 200, what);
  }
  fail("EIO sync");
  const broken = await resultOf(fetch(`/printers/${printer}/packages/mdm`)).catch(() => "5");
  fail("");
  const whole = await resultOf(fetch(`/printers/${printer}/packages/mdm`));
  service.process.kill("SIGTERM");
  await service.exited;
  const rows = await savedRows(dataDir);
  const log = await logProblems(dataDir, rows, new AcknowledgedChanges());
  fail("EIO sync");
  const failed = await start();
  const code = await failed.exited;
  fail("");
  const restarted = client((await start()).url, adminHeaders);

  const taken = rows.clients.filter(({ name }) => String(name).startsWith("Taken"));
  assert.equal(taken.length, outages.length);
  assert.match(broken, /^5/);
  assert.ok(whole.startsWith("200") && whole.length > 1000, whole.slice(0, 300));
  assert.match(hits(), /^thread \w+Sync/m, "a thread's synchronous call failed");
  assert.deepEqual([...fileProblems(dataDir, rows), ...log], []);
  assert.deepEqual([failed.url, code !== 0], ["", true]);
  assert.match(failed.output(), /EIO: injected/);
  assert.equal((await restarted.post("/clients", { name: "Works" })).status, 200);
});
