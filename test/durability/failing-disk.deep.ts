import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { type TestContext, test } from "node:test";
import { adminHeaders, proxySettings } from "../support/access/proxies.ts";
import { client, temporaryFolder } from "../support/app.ts";
import { AcknowledgedChanges, logProblems } from "../support/audit/audit-state.ts";
import { deepTest, selectCases } from "../support/depth.ts";
import { fileProblems, savedRows } from "../support/durability/disk-state.ts";
import { serve } from "../support/service.ts";
import { until } from "../support/until.ts";

// The bundled service on a disk that fails for a while, also in synchronous calls and on other threads. A preloaded shim
// makes the calls fail.

/** The service, and a switch for its disk. */
async function startFailing(t: TestContext) {
  const folder = await temporaryFolder(t);
  const [control, dataDir] = [join(folder, "failing"), join(folder, "data")];
  writeFileSync(control, "");
  mkdirSync(dataDir);
  const fail = (what: string) => writeFileSync(control, what);
  const hits = () => (existsSync(`${control}.hits`) ? readFileSync(`${control}.hits`, "utf8") : "");
  const environment = {
    ...proxySettings,
    NODE_OPTIONS: `--require ${resolve("test/support/durability/failing-disk.cjs")}`,
    FAILING_DISK: control,
    FAILING_FOLDER: dataDir,
  };
  return { start: () => serve(t, folder, environment), fail, hits, dataDir };
}

const statusOf = async (request: Promise<Response>) => {
  const answer = await request;
  return [answer.status, await answer.text()] as const;
};
const isClear = (status: number, text: string) => status >= 500 && /othing was (?:saved|changed)/.test(text);

type Site = ReturnType<typeof client>;
type Disk = Awaited<ReturnType<typeof startFailing>>;

/** Sends two writes and reads pages while the disk fails, then sends a write when it works again. @returns the problems */
async function findProblems({ post, fetch }: Site, { dataDir, fail }: Disk, what: string): Promise<string[]> {
  const saved = async () => JSON.stringify(await savedRows(dataDir));
  const before = await saved();
  fail(what);
  const writes = [
    await statusOf(post("/clients", { name: `Refused ${what}` })),
    await statusOf(post("/tokens", { name: `Refused ${what}`, scope: "read", days: "30" })),
  ];
  const pages = await Promise.all(["/", "/printers", "/clients"].map((path) => statusOf(fetch(path))));
  fail("");
  const wrong: string[] = [];
  // A refused save that reached the disk is reverted when the disk works again.
  if (writes.every(([status]) => status >= 400))
    await until(async () => (await saved()) === before).catch(() => wrong.push("refused, and saved"));
  const next = await statusOf(post("/clients", { name: `Taken ${what}` }));
  if ((writes[1]?.[0] ?? 0) < 400) wrong.push("the second write is taken");
  for (const [status, text] of writes)
    if (status >= 400 && !isClear(status, text)) wrong.push(`${status} ${text.slice(0, 200)}`);
  for (const [status] of pages) if (status !== 200) wrong.push(`a page is answered ${status}`);
  if (next[0] !== 200) wrong.push(`then ${next.join(" ").slice(0, 200)}`);
  return wrong.map((found) => `${what}: ${found}`);
}

deepTest(
  "while the disk fails, writes are refused and pages are served, and then writes succeed again without any loss",
  {
    timeout: 120_000,
  },
  async (t) => {
    const disk = await startFailing(t);
    const { start, fail, hits, dataDir } = disk;
    const service = await start();
    const site = client(service.url, adminHeaders);
    const { addPrinter, fetch } = site;
    const printer = await addPrinter();
    const outages = ["ENOSPC", "EIO", "EMFILE", "EROFS"].flatMap((code) =>
      [1, 5, 8].map((from) => `${code} ${from}`),
    );
    const tried = selectCases(outages, 1);
    const wrong: string[] = [];

    for (const what of tried) wrong.push(...(await findProblems(site, disk, what)));
    fail("EIO sync");
    const broken = await statusOf(fetch(`/printers/${printer}/packages/mdm`)).catch(() => [0, ""] as const);
    fail("");
    const whole = await fetch(`/printers/${printer}/packages/mdm`);
    const bytes = (await whole.arrayBuffer()).byteLength;
    service.process.kill("SIGTERM");
    await service.exited;

    const rows = await savedRows(dataDir);
    const taken = rows.clients.filter(({ name }) => String(name).startsWith("Taken"));
    assert.deepEqual(wrong, []);
    assert.equal(taken.length, tried.length);
    assert.ok(broken[0] === 0 || broken[0] >= 500, broken.join(" ").slice(0, 300));
    assert.ok(whole.status === 200 && bytes > 1000, `${whole.status}, ${bytes} bytes`);
    assert.match(hits(), /^thread \w+Sync/m, "a thread's synchronous call failed");
    assert.deepEqual(
      [...fileProblems(dataDir, rows), ...(await logProblems(dataDir, rows, new AcknowledgedChanges()))],
      [],
    );
  },
);

test("when a call of the lock fails, the start says so, and the next start works", async (t) => {
  const { start, fail, hits } = await startFailing(t);

  fail("EIO sync");
  const failed = await start();
  const code = await failed.exited;
  fail("");
  const next = await start();
  const answer = await client(next.url, adminHeaders).post("/clients", { name: "Works" });

  assert.equal(failed.url, "");
  assert.notEqual(code, 0);
  assert.match(failed.output(), /EIO: injected/);
  assert.match(hits(), /^main openSync/m);
  assert.equal(answer.status, 200);
});
