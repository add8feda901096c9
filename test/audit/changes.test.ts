import assert from "node:assert/strict";
import { test } from "node:test";
import { parseClient } from "../../src/domain/printers/client.ts";
import { runAs } from "../../src/store/actor.ts";
import { openStore } from "../../src/store/store.ts";
import { startApp, temporaryFolder } from "../support/app.ts";
import { entriesIn, entryText, logEntries } from "../support/audit/audit.ts";
import { download } from "../support/audit/counted.ts";
import { makePng } from "../support/printers/png.ts";
import { makeTicket } from "../support/printers/tickets.ts";
import { until } from "../support/until.ts";

const office = { name: "Office", address: "10.0.0.9", driver_id: "1" };

test("each change of a record is logged with its user, network address, and old and new field values", async (t) => {
  const app = await startApp(t);

  await app.post("/clients", { name: "Contoso" });
  const printer = await app.addPrinter({ client_id: "1" });
  await app.post(`/printers/${printer}`, { ...office, name: "Hall", client_id: "", address: "10.0.0.10" });
  await app.post("/drivers/1", { name: "Papyrus", trust_publisher: "on" });
  await app.post("/clients/1", { name: "Contoso Ltd" });
  const secrets = { snmp: "on", snmp_community: "very-secret", print_ticket: makeTicket() };
  await app.post(`/printers/${printer}`, { ...office, name: "Hall", address: "10.0.0.10", ...secrets });
  const entries = await logEntries(app);

  assert.deepEqual(entries.map(entryText), [
    "created client 1 Contoso: name Contoso",
    `created driver 1 Papyrus 100 PCL6 1.2: name Papyrus 100 PCL6 1.2; file_name driver.zip; sha256 ${entries[1]?.fields?.[2]?.to}; inf_path papyrus.inf; driver_desc Papyrus 100 PCL6`,
    "created printer 1 Office: name Office; client_id 1 Contoso; driver_id 1 Papyrus 100 PCL6 1.2; address 10.0.0.9; port_name IP_10.0.0.9",
    "changed printer 1 Hall: name Office → Hall; client_id 1 Contoso → ; address 10.0.0.9 → 10.0.0.10; port_name IP_10.0.0.9 → IP_10.0.0.10",
    "changed driver 1 Papyrus: name Papyrus 100 PCL6 1.2 → Papyrus; trust_publisher no → yes",
    "changed client 1 Contoso Ltd: name Contoso → Contoso Ltd",
    "changed printer 1 Hall: snmp no → yes; snmp_community; print_ticket",
  ]);
  // Secret and large fields have no values.
  assert.doesNotMatch(JSON.stringify(entries), /very-secret|PrintTicket/);
  assert.deepEqual(new Set(entries.map(({ who, from }) => `${who} ${from}`)), new Set(["anyone 127.0.0.1"]));
  for (const [i, { seq }] of entries.entries()) assert.equal(seq, i + 1);
});

test("a deletion, its undo, and a deletion made final by a user are logged once, with the record's name only", async (t) => {
  const app = await startApp(t);
  await app.post("/clients", { name: "Contoso", notes: "Call Mrs Example" });

  await app.post("/clients/1/delete", {});
  await app.post("/deletions/1/undo", {});
  await app.post("/clients/1/delete", {});
  for (let i = 0; i < 2; i++) await app.post("/deletions/2/delete", {});
  const entries = (await logEntries(app)).slice(1);
  const page = await (await app.fetch("/audit")).text();

  assert.equal(page.match(/href="\/clients\/1"/g)?.length, 2, "only the other entries are links");
  assert.deepEqual(entries.map(entryText), [
    "deleted client 1 Contoso",
    "restored client 1 Contoso",
    "deleted client 1 Contoso",
    "deleted-for-good client 1 Contoso",
  ]);
  for (const { who, from, fields = [] } of entries)
    assert.deepEqual([who, from, fields], ["anyone", "127.0.0.1", []]);
});

test("a refused change, or one that changes nothing, is not logged", async (t) => {
  const app = await startApp(t);
  await app.addPrinter();
  await app.post("/clients", { name: "Contoso" });
  await app.upload("/printers/1/icon", makePng(), "icon.png");
  const before = (await logEntries(app)).length;

  const refused = await app.post("/clients", { name: "CONTOSO" });
  const same = await app.post("/printers/1", office);
  const picture = await app.upload("/printers/1/icon", makePng(), "again.png");
  const after = (await logEntries(app)).length;

  assert.deepEqual([refused.status, same.status, picture.status], [409, 200, 200]);
  assert.equal(after, before);
});

test("downloads are logged with their record, the class of the client, and their digest", async (t) => {
  const app = await startApp(t);
  await app.post("/clients", { name: "Contoso" });
  await app.addPrinter({ client_id: "1" });

  await download(app, "/printers/1/packages/rmm");
  await download(app, "/clients/1/scripts/install");
  await (await app.fetch("/drivers/1/files")).arrayBuffer();
  await until(async () => (await logEntries(app, "downloaded")).length === 3);
  await (await app.fetch("/export/printers.csv")).arrayBuffer();
  await until(async () => (await logEntries(app, "downloaded")).length === 4);
  const entries = await logEntries(app, "downloaded");

  assert.deepEqual(entries.map(entryText), [
    "downloaded printer 1 Office rmm",
    "downloaded client 1 Contoso install",
    "downloaded driver 1 Papyrus 100 PCL6 1.2 files",
    "downloaded printers.csv",
  ]);
  for (const { digest, by } of entries) assert.match(`${by} ${digest}`, /^script [\w-]{20,}/);
  const counts = entries.map(({ printers }) => printers?.length ?? 0);
  assert.deepEqual(counts, [1, 1, 0, 0]);
});

test("requests at the same time are logged with the right users", async (t) => {
  const app = await startApp(t);
  const { store } = app.app;
  const names = Array.from({ length: 40 }, (_, i) => `Client ${i}`);
  const settings = (name: string) => parseClient({ name });

  const add = (name: string) => store.clients.add(settings(name));
  await Promise.all(names.map((name) => runAs({ who: `asks ${name}`, from: "10.0.0.1" }, () => add(name))));
  const entries = await logEntries(app, "created");

  assert.equal(entries.length, 40);
  for (const { who, record } of entries) assert.equal(who, `asks ${record?.name}`);
});

test("a change is logged once, even when the listener throws", async (t) => {
  const dataDir = await temporaryFolder(t);
  const store = await openStore(dataDir, Date.now, () => {});
  let calls = 0;
  store.audit.onWritten(() => {
    calls++;
    throw new Error("the listener fails");
  });

  await store.clients.add(parseClient({ name: "Contoso" }));
  for (let i = 0; i < 3; i++) await store.audit.flush();
  await store.clients.add(parseClient({ name: "Fabrikam" }));
  await store.close();

  assert.ok(calls > 0);
  assert.deepEqual(entriesIn(dataDir).map(entryText), [
    "created client 1 Contoso: name Contoso",
    "created client 2 Fabrikam: name Fabrikam",
  ]);
});
