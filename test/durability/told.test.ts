import assert from "node:assert/strict";
import { cp } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { openStore } from "../../src/store/store.ts";
import { temporaryFolder } from "../support/app.ts";
import { entriesIn, said } from "../support/audit.ts";
import { startClosed } from "../support/people.ts";

test("that a printer's links were ended is in the audit log however soon the service is killed", async (t) => {
  const app = await startClosed(t);
  const copy = join(await temporaryFolder(t), "data");
  const links = { kind: "printer", id: 1, name: "Office" } as const;

  await app.app.links.revoke(links);
  await cp(app.dataDir, copy, { recursive: true, filter: (path) => !/[\\/](?:lock-|lease)/.test(path) });
  await (await openStore(copy, Date.now, () => {})).close();

  const told = entriesIn(copy).map(said);
  assert.ok(told.includes("links-ended printer 1 Office"), told.join("\n"));
});
