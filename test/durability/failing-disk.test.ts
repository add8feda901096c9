import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { type TestContext, test } from "node:test";
import { adminHeaders, proxySettings } from "../support/access/proxies.ts";
import { client, temporaryFolder } from "../support/app.ts";
import { AcknowledgedChanges, logProblems } from "../support/audit/audit-state.ts";
import { selectCases } from "../support/depth.ts";
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
  const start = () =>
    serve(t, folder, {
      ...proxySettings,
      NODE_OPTIONS: `--require ${resolve("test/support/durability/failing-disk.cjs")}`,
      FAILING_DISK: control,
      FAILING_FOLDER: dataDir,
    });
  return { start, fail, hits, dataDir };
}

const statusOf = async (request: Promise<Response>) => {
  const answer = await request;
  return [answer.status, await answer.text()] as const;
};

interface Outage {
  readonly site: ReturnType<typeof client>;
  readonly dataDir: string;
  readonly fail: (what: string) => void;
  readonly what: string;
  readonly n: number;
}

/** Sends two writes and reads pages while the disk fails, then sends a write when it works again. @returns the problems */
async function findProblems({ site: { post, fetch }, dataDir, fail, what, n }: Outage): Promise<string[]> {
  const saved = async () => JSON.stringify(await savedRows(dataDir));
  const before = await saved();
  fail(what);
  const writes = [
    await statusOf(post("/clients", { name: `Refused ${n}` })),
    await statusOf(post("/tokens", { name: `Refused ${n}`, scope: "read", days: "30" })),
  ];
  const pages = await Promise.all(["/", "/printers", "/clients"].map((path) => statusOf(fetch(path))));
  fail("");
  // A refused save that reached the disk is reverted when the disk works again.
  const isRefused = writes.every(([status]) => status >= 400);
  const isBack = !isRefused || (await becomesTrue(async () => (await saved()) === before));
  const next = await statusOf(post("/clients", { name: `Taken ${n}` }));
  const unclear = writes.filter(([status, text]) => status >= 400 && !isClear(status, text));
  const wrong = [
    ...unclear.map(([status, text]) => `${status} ${text.slice(0, 200)}`),
    ...(isBack ? [] : ["refused, and saved"]),
    ...(writes[1]?.[0] === 303 || writes[1]?.[0] === 200 ? ["the second write is taken"] : []),
    ...pages.filter(([status]) => status !== 200).map(([status]) => `a page is answered ${status}`),
    ...(next[0] === 200 ? [] : [`then ${next.join(" ").slice(0, 200)}`]),
  ];
  return wrong.map((found) => `${what}: ${found}`);
}

const isClear = (status: number, text: string) => status >= 500 && /othing was (?:saved|changed)/.test(text);

function becomesTrue(condition: () => Promise<boolean>): Promise<boolean> {
  return until(condition).then(
    () => true,
    () => false,
  );
}

test("while the disk fails, writes are refused and pages are served, and then writes succeed again without any loss", {
  timeout: 120_000,
}, async (t) => {
  const { start, fail, hits, dataDir } = await startFailing(t);
  const service = await start();
  const site = client(service.url, adminHeaders);
  const { addPrinter, fetch } = site;
  const printer = await addPrinter();
  const wrong: string[] = [];
  let n = 0;

  const outages = ["ENOSPC", "EIO", "EMFILE", "EROFS"].flatMap((code) =>
    [1, 5, 8].map((n) => `${code} ${n}`),
  );
  for (const what of selectCases(outages, 1))
    wrong.push(...(await findProblems({ site, dataDir, fail, what, n: ++n })));
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
  assert.equal(taken.length, n);
  assert.ok(broken[0] === 0 || broken[0] >= 500, broken.join(" ").slice(0, 300));
  assert.ok(whole.status === 200 && bytes > 1000, `${whole.status}, ${bytes} bytes`);
  assert.match(hits(), /^thread \w+Sync/m, "a thread's synchronous call failed");
  assert.deepEqual(
    [...fileProblems(dataDir, rows), ...(await logProblems(dataDir, rows, new AcknowledgedChanges()))],
    [],
  );
});

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
