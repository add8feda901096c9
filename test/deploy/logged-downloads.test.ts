import assert from "node:assert/strict";
import { test } from "node:test";
import { startGuarded } from "../support/access/guarded.ts";
import type { TestApp } from "../support/app.ts";
import { logEntries } from "../support/audit/audit.ts";
import { textOf } from "../support/deploy/answers.ts";
import { until } from "../support/until.ts";

const take = async (app: Pick<TestApp, "fetch">, range: string) =>
  (await app.fetch("/printers/1/packages/rmm", { headers: { range: `bytes=${range}` } })).arrayBuffer();

test("the log has a line for each user who downloaded the last byte of a package, or any of a backup, with the record", async (t) => {
  const { service, admin, operator, viewer } = await startGuarded(t);
  await operator.addPrinter();

  await take(operator, "0-9");
  for (let i = 0; i < 3; i++) await take(viewer, "10-");
  await until(async () => (await logEntries(service, "downloaded")).length === 3);
  await admin.post("/backups", {});
  const [{ name } = { name: "" }] = service.app.backups.list();
  await (await admin.fetch(`/backups/${name}`, { headers: { range: "bytes=0-4094" } })).arrayBuffer();
  const [backup] = await logEntries(service, "backup-fetched");

  assert.deepEqual([backup?.who, backup?.what], ["boss", name]);
  for (const { who, record, printers, count } of await logEntries(service, "downloaded"))
    assert.deepEqual([who, record?.name, printers?.[0]?.[0], count], ["seller", "Office", 1, undefined]);
});

test("reading a script on its page makes a line, because the script contains a link to its driver", async (t) => {
  const { service, viewer, admin } = await startGuarded(t);
  await admin.addPrinter();

  const page = await textOf(viewer.fetch("/printers/1/read/install"));
  const link = /\/drivers\/1\/files\?link=[\w.-]+/.exec(page)?.[0] ?? "";
  const [made, ...more] = await logEntries(service, "link-made");
  await (await service.fetch(link)).arrayBuffer();
  await until(async () => (await logEntries(service, "downloaded")).length === 1);

  const [fetched] = await logEntries(service, "downloaded");
  const what = "in /printers/1/scripts/install, on its page";
  assert.match(fetched?.who ?? "", /^link driver 1, made by seller, until 20/);
  assert.deepEqual([made?.who, made?.record?.name, made?.what, more], ["seller", "Office", what, []]);
});
