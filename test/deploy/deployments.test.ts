import assert from "node:assert/strict";
import { test } from "node:test";
import { startApp, temporaryFolder } from "../support/app.ts";
import { logEntries } from "../support/audit/audit.ts";
import { download, downloadCounts, recordDownload, startWithPrinter } from "../support/audit/counted.ts";
import { etagOf, statusesOf, textOf, textsOf } from "../support/deploy/answers.ts";
import { makeTicket } from "../support/printers/tickets.ts";
import { makePrinter } from "../support/records.ts";
import { until } from "../support/until.ts";

test("a download counts once, with the part that has its last byte; HEAD, 304, 416 and refusals are not logged", async (t) => {
  const { app, printer } = await startWithPrinter(t);
  const path = `/printers/${printer}/packages/rmm`;
  const bare = await app.addPrinter({ driver_id: "", name: "Bare" });
  const ask = (headers: Record<string, string>, method = "GET") => app.fetch(path, { method, headers });
  const head = await ask({}, "HEAD");
  const size = Number(head.headers.get("content-length"));

  const answers = [
    await ask({ range: "bytes=0-9" }, "HEAD"),
    await ask({ "if-none-match": await etagOf(head) }),
  ];
  answers.push(await ask({ range: "bytes=999999999-" }));
  for (const id of [bare, 99]) answers.push(await app.fetch(`/printers/${id}/packages/rmm`));
  const logged = await logEntries(app, "downloaded");
  for (const range of ["0-9", "5-200", `10-${size - 2}`])
    answers.push(await ask({ range: `bytes=${range}` }));
  const before = await downloadCounts(app, printer);
  answers.push(await ask({ range: `bytes=${size - 10}-` }));
  await until(() => app.app.deployments.lastDeployed(printer) !== undefined);

  assert.deepEqual(statusesOf(answers), [206, 304, 416, 422, 404, 206, 206, 206, 206]);
  assert.deepEqual([logged, before], [[], []]);
  assert.deepEqual(await downloadCounts(app, printer), ["rmm script 1"]);
});

test("downloads count by kind and class of client; one that a page of another site starts is logged, but does not count", async (t) => {
  const { app, printer } = await startWithPrinter(t);
  const path = `/printers/${printer}/scripts/install`;
  const { host } = new URL(app.url);
  const browser = { "user-agent": "Mozilla/5.0 (X11; Linux x86_64) Chrome/130", "accept-language": "en" };
  const foreign: Record<string, string>[] = [
    ...[{ "sec-fetch-site": "cross-site" }, { origin: "http://elsewhere.test" }],
    { ...browser, "sec-fetch-site": "cross-site" },
    { ...browser, "sec-fetch-site": "same-site", referer: `${app.url}/printers` },
    { ...browser, origin: "http://elsewhere.test" },
    { ...browser, referer: "http://elsewhere.test/" },
    { ...browser, referer: `http://elsewhere.test/${host}` },
    browser,
  ];
  const own = [{ "sec-fetch-site": "same-origin" }, { "sec-fetch-site": "none" }];
  const powershell = { "user-agent": "Mozilla/5.0 (Windows NT; en-US) WindowsPowerShell/5.1.22621.1" };

  for (const headers of foreign) await (await app.fetch(path, { headers })).arrayBuffer();
  for (const headers of [...own, { referer: `${app.url}/printers/${printer}` }])
    await download(app, path, { ...browser, ...headers } as Record<string, string>);
  for (const end of ["scripts/install", "scripts/detect", "scripts/diagnose", "packages/mdm"])
    await download(app, `/printers/${printer}/${end}`, powershell);

  // Downloads are counted in order, so the cross-site ones would be counted by now.
  assert.deepEqual(await downloadCounts(app, printer), [
    ...["detect script 1", "diagnose script 1", "install browser 3", "install script 1", "mdm script 1"],
  ]);
  const logged = await logEntries(app, "downloaded");
  const strange = logged.filter(({ by }) => by === "page of another site");
  assert.deepEqual([logged.length, strange.length], [foreign.length + 7, foreign.length]);
  assert.equal(strange[0]?.printers?.[0]?.[0], printer);
});

test("a package or script of several printers counts for each with its own revision", async (t) => {
  const { app, printer } = await startWithPrinter(t);
  const other = await app.addPrinter({ client_id: "1", driver_id: "1", name: "Second" });
  const { deployments } = app.app;

  await download(app, "/clients/1/packages/rmm");
  await download(app, "/clients/1/scripts/install");
  await download(app, `/packages/mdm?ids=${printer},${other}`);
  const revisions = [printer, other].map((id) => deployments.lastDeployed(id)?.revision);
  const own = await textsOf(
    app,
    [printer, other].map((id) => `/printers/${id}/scripts/detect`),
  );

  for (const id of [printer, other]) {
    const counts = (await downloadCounts(app, id)).filter((text) => !text.startsWith("detect"));
    assert.deepEqual(counts, ["install script 1", "mdm script 1", "rmm script 1"]);
  }
  assert.notEqual(revisions[0], revisions[1]);
  for (const [i, revision] of revisions.entries()) assert.ok(own[i]?.includes(`Revision = '${revision}'`));
});

test("a printer's page shows the last download and whether the printer has changed since, if only its PrintTicket", async (t) => {
  let now = Date.UTC(2026, 10, 21);
  const app = await startApp(t, { clock: () => now++ });
  await app.post("/clients", { name: "Alpha" });
  const printer = await app.addPrinter({ client_id: "1" });
  const page = () => textOf(app.fetch(`/printers/${printer}`));
  const changed = async () => (await app.app.overview.printer(printer)).row.changed;
  const save = (fields: Record<string, string>) =>
    app.post(`/printers/${printer}`, { name: "Office", address: "10.0.0.9", driver_id: "1", ...fields });

  const found: boolean[] = [];
  const after = async (act: Promise<unknown>) => {
    await act;
    found.push(await changed());
  };

  const never = await page();
  await after(download(app, `/printers/${printer}/scripts/detect`));
  const detected = await page();
  await after(download(app, `/printers/${printer}/packages/rmm`));
  const current = await page();
  await after(save({ location: "Hall" }));
  const moved = await page();
  await after(save({ location: "" }));
  await after(save({ print_ticket: makeTicket() }));
  await after(save({}));
  await after(app.post("/drivers/1", { trust_publisher: "on" }));
  await after(download(app, `/printers/${printer}/scripts/install`));

  assert.match(never, /Ready<\/strong>, never deployed/);
  assert.match(detected, /never deployed.*All downloads.*detect\.ps1, revision/s);
  assert.match(current, /Ready<\/strong>, last download <time[^>]*>21 Nov 2026<\/time>/);
  assert.match(current, /RMM, revision <code>\w{12}<\/code>/);
  assert.match(
    moved,
    /Ready<\/strong>, .*changed since <time[^>]*>21 Nov 2026<\/time><\/strong>: deploy again/,
  );
  assert.deepEqual(found, [false, false, true, false, true, false, true, false]);
});

test("a client's page counts the printers that have changed and those that were never downloaded", async (t) => {
  const { app, printer } = await startWithPrinter(t);
  const page = () => textOf(app.fetch("/clients/1"));

  const never = await page();
  await download(app, "/clients/1/packages/rmm");
  const current = await page();
  await app.addPrinter({ client_id: "1", driver_id: "1", name: "Second" });
  const fields = { name: "First", address: "10.0.0.9", driver_id: "1", client_id: "1" };
  await app.post(`/printers/${printer}`, fields);
  const changed = await page();

  assert.match(never, /Ready<\/strong>: 1 printer, never deployed/);
  assert.match(current, /Ready<\/strong>: 1 printer, last download <time[^>]*>21 Nov 2026<\/time>/);
  assert.match(
    changed,
    /1 printer changed since the last download<\/strong>: deploy again; 1 printer never deployed/,
  );
});

test("many downloads need few saves, and none is lost when the service stops", async (t) => {
  const dataDir = await temporaryFolder(t);
  const app = await startApp(t, { dataDir });
  const printer = await app.addPrinter();
  const before = app.app.store.version();

  for (let i = 0; i < 60; i++) {
    recordDownload(app, [{ id: printer, revision: "r" }], "detect");
    await new Promise((resolve) => setImmediate(resolve));
  }
  const saves = app.app.store.version() - before;
  await app.stop();
  const restarted = await startApp(t, { dataDir });

  assert.ok(saves < 12, `${saves} changes of the database`);
  const [{ count } = { count: 0 }, ...more] = restarted.app.deployments.ofPrinter(printer);
  assert.deepEqual([count, more], [60, []]);
});

test("counts that could not be saved, also of very many printers, are saved later", async (t) => {
  const { app, printer } = await startWithPrinter(t);
  const { downloads } = app.app.store;
  const saved: number[] = [];
  t.mock.method(downloads, "add", async (counts: readonly unknown[]) => {
    saved.push(counts.length);
    if (saved.length === 1) throw new Error("the disk is full");
  });

  recordDownload(app, Array(150_000).fill({ id: printer, revision: "r" }), "rmm");
  await app.app.deployments.flush();
  await app.app.deployments.flush();

  assert.deepEqual(saved, [150_000, 150_000]);
});

test("a download is counted as soon as it is being written to the log, and once even while it is being saved", async (t) => {
  const { app, printer } = await startWithPrinter(t);
  const { deployments, store } = app.app;
  await store.audit.flush();

  recordDownload(app, [{ id: printer, revision: "r1" }], "rmm");
  const written = store.audit.flush();
  await Promise.resolve();
  await app.app.overview.printer(printer);
  const last = deployments.lastDeployed(printer);
  await written;
  const seen = new Set<string>();
  let isSaved = false;
  const saved = deployments.flush().then(() => {
    isSaved = true;
  });
  for (; !isSaved; await new Promise((resolve) => setImmediate(resolve)))
    for (const { what, count } of deployments.ofPrinter(printer)) seen.add(`${what} ${count}`);
  await saved;

  assert.equal(last?.revision, "r1");
  assert.deepEqual([...seen], ["rmm 1"]);
});

test("the five most recent revisions of each kind are kept, even if the clock is set back", async (t) => {
  let now = 1_800_000_000_000;
  const app = await startApp(t, { clock: () => now });
  const { store, deployments } = app.app;
  const id = await store.printers.add({ ...makePrinter(), client_id: null, driver_id: null });

  for (let i = 0; i < 9; i++) {
    now -= 60_000;
    for (const what of ["rmm", "detect"]) recordDownload(app, [{ id, revision: `r${i}` }], what);
    await deployments.flush();
  }
  const kept = store.downloads.ofPrinter(id).filter(({ what }) => what === "rmm");

  assert.equal(kept.map(({ revision }) => revision).join(), "r8,r7,r6,r5,r4");
  assert.equal(store.downloads.ofPrinter(id).length, 10);
  assert.equal(deployments.lastDeployed(id)?.revision, "r8");
  assert.deepEqual(store.downloads.lastDeployed().get(id), deployments.lastDeployed(id));
});
