import assert from "node:assert/strict";
import { test } from "node:test";
import { openStore } from "../../../src/store/store.ts";
import { startApp, temporaryFolder } from "../../support/app.ts";
import { entriesIn, entryText, logEntries } from "../../support/audit/audit.ts";
import { makePrinter } from "../../support/records.ts";
import { assertWithin, longestBlock } from "../../support/times.ts";

const now = Date.UTC(2026, 10, 22);

test("1,000 names from one address are one line a minute, and 50,000 addresses do not fill the disk", async (t) => {
  let time = now;
  const dataDir = await temporaryFolder(t);
  const store = await openStore(
    dataDir,
    () => time,
    () => {},
  );
  const fail = (who: string, from: string) => store.audit.record("sign-in-failed", { actor: { who, from } });

  for (let i = 0; i < 1000; i++) fail("an unknown name", "10.0.0.1");
  for (let i = 0; i < 50_000; i++) fail("admin", `2001:db8::${i.toString(16)}`);
  time += 1000;
  store.audit.record("signed-in", { actor: { who: "admin", from: "10.0.0.2" } });
  await store.close();
  const entries = entriesIn(dataDir);

  const failures = entries.filter(({ event }) => event === "sign-in-failed");
  const sum = failures.reduce((total, { count = 1 }) => total + count, 0);
  assert.equal(sum, 51_000);
  assert.ok(failures.length < 1500, `${failures.length} lines`);
  assert.deepEqual(failures.filter(({ from }) => from === "10.0.0.1").map(entryText), [
    "sign-in-failed",
    "sign-in-failed 999 times",
  ]);
  assert.equal(
    entries
      .filter(({ event }) => event === "signed-in")
      .map(({ who }) => who)
      .join(),
    "admin",
  );
});

test("a bulk change of 5,000 printers is logged for each record without blocking an idle machine for a second", async (t) => {
  const app = await startApp(t);
  const driver = await app.addDriver();
  const { store } = app.app;
  const bare = { ...makePrinter(), client_id: null, driver_id: null };
  const ids = await Promise.all(
    Array.from({ length: 5000 }, (_, i) => store.printers.add({ ...bare, name: `P ${i}` })),
  );
  await store.audit.flush();
  const models = new Map(ids.map((id) => [id, "Papyrus 100 PCL6"]));

  const longest = await longestBlock(async () => {
    await store.change(() => store.manyPrinters.useDriver(driver, models));
    await store.audit.flush();
  });

  t.diagnostic(`nothing else for ${Math.round(longest)} ms at most`);
  const changed = await logEntries(app, "changed");
  assert.equal(new Set(changed.map(({ record }) => record?.id)).size, 5000);
  await assertWithin(1000, { longest });
});
