import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import type { AuditEvent } from "../../../src/domain/audit/audit.ts";
import { parseClient } from "../../../src/domain/printers/client.ts";
import { parsePrinter } from "../../../src/domain/printers/printer-fields.ts";
import { addPerson, startClosed } from "../../support/access/people.ts";
import { navigation, startApp, type TestApp } from "../../support/app.ts";
import { logEntries } from "../../support/audit/audit.ts";
import { driverZip } from "../../support/drivers/driver-zip.ts";
import { previewFieldsIn } from "../../support/printers/lists.ts";
import { assertWithin, leastBlock, longestBlock } from "../../support/times.ts";

const count = 1000;
const models = Array.from({ length: 400 }, (_, i) => `Papyrus ${i} PCL6`);

interface Shop extends TestApp {
  readonly drivers: readonly number[];
  /** Sends a form as an operator, and waits until the audit log is written. */
  send(path: string, fields: Record<string, string>): Promise<Response>;
}

/** A service with sign-in, an operator and two drivers. */
async function openShop(t: TestContext): Promise<Shop> {
  const service = await startClosed(t);
  const cookie = await addPerson(service, "operator", "operator");
  const drivers: number[] = [];
  for (const version of ["1.0.0.0", "2.0.0.0"]) {
    const zip = driverZip({ models, version });
    const answer = await service.upload("/drivers/upload", zip, "driver.zip", { cookie });
    drivers.push(Number(/href="\/drivers\/(\d+)">Open driver/.exec(await answer.text())?.[1]));
  }
  const send = async (path: string, fields: Record<string, string>) => {
    const answer = await service.post(path, fields, { ...navigation, cookie });
    await service.app.store.audit.flush();
    return answer;
  };
  return { ...service, drivers, send };
}

/**
 * A list of a thousand printers of forty clients.
 * @param series part of the names
 * @param octet second octet of the addresses
 */
function csvOf(series: string, octet = 0): string {
  const rows = Array.from({ length: count }, (_, i) =>
    [
      `Office ${series} “${i}”`,
      `Client & Sons ${i % 40}`,
      `10.${octet}.${i >> 8}.${i & 255}`,
      models[i % models.length],
      `Building ${i % 5}; floor ${i % 7}`,
      "long_edge",
      "yes",
    ].join(","),
  );
  return `name,client,address,driver_desc,location,duplex,snmp\r\n${rows.join("\r\n")}\r\n`;
}

async function preview({ send }: Shop, text: string): Promise<Record<string, string>> {
  const answer = await send("/import/preview", { text });
  assert.equal(answer.status, 200);
  return previewFieldsIn(await answer.text());
}

async function send(shop: Shop, path: string, fields: Record<string, string>): Promise<void> {
  const answer = await shop.send(path, fields);
  assert.equal(answer.status, 303, await answer.text());
}

/** The number of printers with this event in the audit log. */
async function printersIn(shop: Shop, event: AuditEvent): Promise<number> {
  return (await logEntries(shop, event)).filter(({ record }) => record?.kind === "printer").length;
}

test("previews and imports of a thousand printers block the event loop for less than 900 ms each on an idle machine", {
  timeout: 120_000,
}, async (t) => {
  const shop = await openShop(t);
  const importList = async (text: string) => send(shop, "/import", await preview(shop, text));

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
  timeout: 120_000,
}, async (t) => {
  const shop = await openShop(t);
  const { drivers, app } = shop;
  await send(shop, "/import", await preview(shop, csvOf("A")));
  const ids = app.store.printers.list().map(({ printer }) => printer.id);
  const bulk = (fields: Record<string, string>) =>
    send(shop, "/printers/bulk", { ids: ids.join(), confirmed: "1", ...fields });
  const ofDriver = (run: number) => ({ action: "driver", driver_id: `${drivers[run % 2]}` });

  const client = await leastBlock(3, (run) => bulk({ action: "client", client_id: `${run + 1}` }));
  const driver = await leastBlock(3, (run) => bulk(ofDriver(run)));
  const model = await leastBlock(3, (run) => bulk({ ...ofDriver(0), driver_desc: models[run] ?? "" }));
  const removals: number[] = [];
  const returns: number[] = [];
  for (let run = 0; run < 3; run++) {
    removals.push(await longestBlock(() => bulk({ action: "delete" })));
    assert.equal(app.store.printers.list().length, 0);
    returns.push(await longestBlock(() => send(shop, `/deletions/${app.undo.list()[0]?.id}/undo`, {})));
  }

  assert.equal(app.store.printers.list().length, count);
  // Fewer than 9 × 1000: some printers already have the new client or model.
  assert.ok((await printersIn(shop, "changed")) > 8 * count);
  await assertWithin(250, {
    client,
    driver,
    model,
    deleted: Math.min(...removals),
    restored: Math.min(...returns),
  });
});

test("reading two thousand printers for lists blocks the event loop for less than 50 ms on an idle machine", {
  timeout: 120_000,
}, async (t) => {
  const { app } = await startApp(t);
  const client = await app.store.clients.add(parseClient({ name: "Contoso" }));
  const made = Array.from({ length: 2000 }, (_, i) => {
    const fields = { name: `Office ${i}`, address: `10.0.${i >> 8}.${i & 255}`, location: `Floor ${i % 7}` };
    return app.store.printers.add(parsePrinter({ ...fields, client_id: String(client) }));
  });
  await Promise.all(made);

  const read = await leastBlock(8, async (run) => {
    await app.store.clients.add(parseClient({ name: `Client ${run}` }));
    assert.equal((await app.overview.read()).printers.length, 2000);
    await new Promise((resolve) => setTimeout(resolve, 5));
  });

  await assertWithin(50, { read });
});
