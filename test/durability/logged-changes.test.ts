import assert from "node:assert/strict";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { parseClient } from "../../src/domain/printers/client.ts";
import { openStore } from "../../src/store/store.ts";
import { addPerson, ownPassword, signIn, signInAdmin, startClosed } from "../support/access/people.ts";
import { startApp, type TestApp, temporaryFolder } from "../support/app.ts";
import { entriesIn, entryText } from "../support/audit/audit.ts";
import { copyData } from "../support/copies.ts";
import { watchDisk } from "../support/durability/disk-calls.ts";
import { until } from "../support/until.ts";

/** The log after the next start, as if the service was killed now. */
async function logAfterKill(t: TestContext, { dataDir }: TestApp): Promise<string[]> {
  const copy = join(await temporaryFolder(t), "data");
  await copyData(dataDir, copy);
  await (await openStore(copy, Date.now, () => {})).close();
  return entriesIn(copy).map(entryText);
}

test("revoking a printer's links is in the audit log even if the service is killed at once", async (t) => {
  const app = await startClosed(t);

  await app.app.store.linkGenerations.revoke({ kind: "printer", id: 1, name: "Office" });
  const log = await logAfterKill(t, app);

  assert.ok(log.includes("links-ended printer 1 Office"), log.join("\n"));
});

test("ending other sessions is in the audit log even if the service is killed at once", async (t) => {
  const app = await startClosed(t);
  const cookie = await addPerson(app, "eve");
  await signIn(app, "eve", ownPassword);

  await app.post("/account/sessions/end", {}, { cookie });
  const log = await logAfterKill(t, app);

  assert.ok(log.includes("sessions-ended 1 browser"), log.join("\n"));
});

test("making a deletion final is in the audit log even if the service is killed at once", async (t) => {
  const app = await startClosed(t);
  const cookie = await signInAdmin(app);
  await app.post("/clients", { name: "Contoso" }, { cookie });
  await app.post("/clients/1/delete", {}, { cookie });

  await app.post("/deletions/1/delete", {}, { cookie });
  const log = await logAfterKill(t, app);

  assert.ok(log.includes("deleted-for-good client 1 Contoso"), log.join("\n"));
});

test("a write during the closing of the audit log's file does not log a change twice", async (t) => {
  const { app, dataDir, post } = await startApp(t);
  const { audit } = app.store;
  const copy = join(await temporaryFolder(t), "data");
  let written: Promise<unknown> | undefined;
  const opened = (result: unknown) => {
    const file = result as { close: () => Promise<void> };
    const close = file.close;
    file.close = async () => {
      await close();
      written ??= app.store.clients.add(clientNamed("B"));
      await written;
    };
  };
  await watchDisk(t, dataDir, ({ name, path, args }) =>
    name === "open" && path.endsWith(".jsonl") && args[1] === "a" ? opened : undefined,
  );

  await post("/clients", { name: "A" });
  const flushed = audit.flush();
  await until(() => written !== undefined);
  await written;
  await copyData(dataDir, copy);
  await flushed;
  await (await openStore(copy, Date.now, () => {})).close();

  const changes = entriesIn(copy).filter(({ change }) => change !== undefined);
  assert.deepEqual(changes.map(entryText), ["created client 1 A: name A", "created client 2 B: name B"]);
});

const clientNamed = (name: string) => parseClient({ name });

test("a write that arrives during a save is in the audit log only after its own save", async (t) => {
  const { app, dataDir } = await startApp(t);
  const { audit, clients } = app.store;
  const database = join(dataDir, "platen.sqlite");
  let holding: ((error: Error) => void) | undefined;
  let isHeld = false;
  await watchDisk(t, dataDir, ({ name, path }) => {
    if (!isHeld || name !== "rename" || path !== `${database}.new`) return undefined;
    return new Promise<undefined>((_, fail) => {
      holding = fail;
    });
  });
  const createdIn = () => entriesIn(dataDir).filter(({ change }) => change !== undefined);

  await clients.add(clientNamed("Saved"));
  isHeld = true;
  const refused = assert.rejects(clients.add(clientNamed("Refused")), /EIO/);
  await audit.flush();
  await until(() => holding !== undefined);
  await audit.flush();
  isHeld = false;
  holding?.(new Error("EIO"));
  await refused;
  await clients.add(clientNamed("Later"));
  await audit.flush();

  assert.deepEqual(createdIn().map(entryText), [
    "created client 1 Saved: name Saved",
    "created client 2 Later: name Later",
  ]);
});
