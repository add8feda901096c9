import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import type { AuditEvent } from "../../src/domain/audit/audit.ts";
import { parseClient } from "../../src/domain/printers/client.ts";
import { parsePrinter } from "../../src/domain/printers/printer-fields.ts";
import { narrowPrinters, parseNarrowing } from "../../src/domain/printers/search.ts";
import { planMove } from "../../src/services/printers/move-printers.ts";
import { navigation, startApp, type TestApp } from "../support/app.ts";
import { logEntries } from "../support/audit/audit.ts";
import { driverZip } from "../support/drivers/driver-zip.ts";
import { previewFieldsIn } from "../support/printers/lists.ts";
import { makePrinter } from "../support/records.ts";
import { assertWithin, leastBlock, leastTime, longestBlock } from "../support/times.ts";

const timeout = 120_000;

/** Adds printers with these settings. @returns their ids */
function fill({ app }: TestApp, settings: readonly Record<string, string>[]): Promise<number[]> {
  const usual = { name: "Büro", address: "10.0.0.1" };
  return Promise.all(settings.map((each) => app.store.printers.add(parsePrinter({ ...usual, ...each }))));
}

test("a thousand printers with 20 KB of replaced names each do not block other requests during a save", {
  timeout,
}, async (t) => {
  const service = await startApp(t);
  const replaces = Array.from({ length: 90 }, (_, i) => `${i} ${"x".repeat(200)}`).join("\n");
  await fill(service, Array(1000).fill({ replaces }));
  await service.fetch("/printers");

  const hold = await longestBlock(async () => {
    const saved = await service.post("/printers", { name: "New", address: "10.0.0.2" });
    assert.deepEqual([saved.status, (await service.fetch("/printers")).status], [200, 200]);
  });

  await assertWithin(400, { hold });
});

const modelsOf = (count: number) => Array.from({ length: count }, (_, i) => `Papyrus ${i} PCL6`);

/** A service with two versions of a driver. `send` waits until the audit log is written. */
async function startShop(t: TestContext, models: readonly string[]) {
  const service = await startApp(t);
  for (const version of ["1.0.0.0", "2.0.0.0"]) await service.addDriver(driverZip({ models, version }));
  const send = async (path: string, fields: Record<string, string>) => {
    const answer = await service.post(path, fields, navigation);
    await service.app.store.audit.flush();
    assert.equal(answer.status, 303);
  };
  return { ...service, send };
}

test("a move and a driver change of 2000 printers with 2000 models each block the event loop for less than half a second", {
  timeout,
}, async (t) => {
  const models = modelsOf(2000);
  const service = await startShop(t, models);
  const { app, send } = service;
  const settings = models.map((driver_desc) => ({ driver_id: "1", driver_desc }));
  const ids = await fill(service, settings);
  await app.overview.read();

  const { digest } = await planMove(app.store, 1, 2);
  const moving = await longestBlock(() => send("/drivers/1/move", { to: "2", preview: digest }));
  const change = { ids: ids.join(), action: "driver", driver_id: "1", confirmed: "1" };
  const giving = await longestBlock(() => send("/printers/bulk", change));

  const rows = app.store.printers.list();
  assert.ok(rows.every(({ printer, driver }) => driver?.id === 1 && printer.driver_desc !== ""));
  assert.equal(new Set(rows.map(({ printer }) => printer.driver_desc)).size, 2000);
  await assertWithin(500, { moving, giving });
});

const count = 1000;
const models = modelsOf(400);

/**
 * A list of a thousand printers of forty clients.
 * @param series part of the names
 * @param octet second octet of the addresses
 */
function csvOf(series: string, octet = 0): string {
  const rows = Array.from({ length: count }, (_, i) => {
    const place = `10.${octet}.${i >> 8}.${i & 255},${models[i % models.length]},Building ${i % 5}; floor ${i % 7}`;
    return `Office ${series} “${i}”,Client & Sons ${i % 40},${place},long_edge,yes`;
  });
  return `name,client,address,driver_desc,location,duplex,snmp\r\n${rows.join("\r\n")}\r\n`;
}

async function preview({ post }: TestApp, text: string): Promise<Record<string, string>> {
  const answer = await post("/import/preview", { text }, navigation);
  assert.equal(answer.status, 200);
  return previewFieldsIn(await answer.text());
}

/** The number of printers with this event in the audit log. */
const printersIn = async (shop: TestApp, event: AuditEvent) =>
  (await logEntries(shop, event)).filter(({ record }) => record?.kind === "printer").length;

test("previews and imports of a thousand printers block the event loop for less than 900 ms each on an idle machine", {
  timeout,
}, async (t) => {
  const shop = await startShop(t, models);
  const importList = async (text: string) => shop.send("/import", await preview(shop, text));

  const previewed = await leastBlock(3, () => preview(shop, csvOf("A")));
  const made = await leastBlock(3, (run) => importList(csvOf(`series ${run}`)));
  const previewedChanges = await leastBlock(3, () => preview(shop, csvOf("series 0", 1)));
  const changed = await leastBlock(3, (run) => importList(csvOf("series 0", run + 1)));

  assert.equal(shop.app.store.printers.list().length, 3 * count);
  assert.equal(await printersIn(shop, "created"), 3 * count);
  assert.equal(await printersIn(shop, "changed"), 3 * count);
  await assertWithin(900, { previewed, made, "previewed changes": previewedChanges, changed });
});

test("bulk changes, deletions and restores of a thousand printers block the event loop for less than 250 ms each on an idle machine", {
  timeout,
}, async (t) => {
  const shop = await startShop(t, models);
  const { app, send } = shop;
  await send("/import", await preview(shop, csvOf("A")));
  const ids = app.store.printers.list().map(({ printer }) => printer.id);
  const bulk = (fields: Record<string, string>) =>
    send("/printers/bulk", { ids: ids.join(), confirmed: "1", ...fields });
  const ofDriver = (run: number) => ({ action: "driver", driver_id: `${1 + (run % 2)}` });

  const client = await leastBlock(3, (run) => bulk({ action: "client", client_id: `${run + 1}` }));
  const driver = await leastBlock(3, (run) => bulk(ofDriver(run)));
  const model = await leastBlock(3, (run) => bulk({ ...ofDriver(0), driver_desc: models[run] ?? "" }));
  const removals: number[] = [];
  const returns: number[] = [];
  for (let run = 0; run < 3; run++) {
    removals.push(await longestBlock(() => bulk({ action: "delete" })));
    assert.equal(app.store.printers.list().length, 0);
    returns.push(await longestBlock(() => send(`/deletions/${app.undo.list()[0]?.id}/undo`, {})));
  }

  assert.equal(app.store.printers.list().length, count);
  // Fewer than 9 × 1000: some printers already have the new client or model.
  assert.ok((await printersIn(shop, "changed")) > 8 * count);
  const [deleted, restored] = [Math.min(...removals), Math.min(...returns)];
  await assertWithin(250, { client, driver, model, deleted, restored });
});

test("reading two thousand printers for lists blocks the event loop for less than 50 ms on an idle machine", {
  timeout,
}, async (t) => {
  const service = await startApp(t);
  const { app } = service;
  const client_id = String(await app.store.clients.add(parseClient({ name: "Contoso" })));
  const settings = Array.from({ length: 2000 }, (_, i) => {
    const place = { address: `10.0.${i >> 8}.${i & 255}`, location: `Floor ${i % 7}` };
    return { ...place, name: `Office ${i}`, client_id };
  });
  await fill(service, settings);

  const read = await leastBlock(8, async (run) => {
    await app.store.clients.add(parseClient({ name: `Client ${run}` }));
    assert.equal((await app.overview.read()).printers.length, 2000);
    await new Promise((resolve) => setTimeout(resolve, 5));
  });

  await assertWithin(50, { read });
});

test("hostile queries take no longer than ordinary ones", async (t) => {
  const name = `e${"\u0301".repeat(30)}`.repeat(7);
  const ready = { state: "ready", changed: false, findings: [] } as const;
  const rows = Array.from({ length: 1000 }, (_, i) => ({
    ...{ ...ready, client: undefined, driver: undefined, arm64Driver: undefined },
    printer: { ...makePrinter({ id: String(i + 1) }), name, location: `${"ab".repeat(120)}c` },
  }));
  const words = Array.from({ length: 66 }, (_, i) => `${String.fromCharCode(97 + (i % 26))}${i % 10}`);
  const queries = [`e${"\u0301".repeat(199)}`, "e\u0301".repeat(100), words.join(" ")];
  queries.push(
    `${"ab".repeat(99)}b`,
    "\ufdfa".repeat(200),
    [..."abcefghijklmnopqrstuvwxyz1234567890"].join(" "),
  );

  const times: number[] = [];
  for (const q of queries) times.push(await leastTime(() => narrowPrinters(rows, parseNarrowing({ q }))));

  t.diagnostic(`${times.map((ms) => ms.toFixed(1))} ms`);
  await assertWithin(250, { longest: Math.max(...times) });
});
