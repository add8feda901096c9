import assert from "node:assert/strict";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { parseClient } from "../../src/domain/printers/client.ts";
import { addPerson, ownPassword, signIn, signInAdmin, startClosed } from "../support/access/people.ts";
import { startApp, type TestApp, temporaryFolder } from "../support/app.ts";
import { entriesIn, entryText } from "../support/audit/audit.ts";
import { openAt } from "../support/backup/backup.ts";
import { copyData } from "../support/copies.ts";
import { watchDisk } from "../support/durability/disk-calls.ts";
import { until } from "../support/until.ts";

const clientNamed = (name: string) => parseClient({ name });

/** The log after the next start, as if the service was killed now. */
async function logAfterKill(t: TestContext, { dataDir }: TestApp): Promise<string[]> {
  const copy = join(await temporaryFolder(t), "data");
  await copyData(dataDir, copy);
  await (await openAt(copy)).close();
  return entriesIn(copy).map(entryText);
}

const acts: readonly (readonly [string, (app: TestApp) => Promise<unknown>, string])[] = [
  [
    "revoking a printer's links",
    ({ app }) => app.store.linkGenerations.revoke({ kind: "printer", id: 1, name: "Office" }),
    "links-ended printer 1 Office",
  ],
  [
    "ending other sessions",
    async (app) => {
      const cookie = await addPerson(app, "eve");
      await signIn(app, "eve", ownPassword);
      await app.post("/account/sessions/end", {}, { cookie });
    },
    "sessions-ended 1 browser",
  ],
  [
    "making a deletion final",
    async (app) => {
      const cookie = await signInAdmin(app);
      await app.post("/clients", { name: "Contoso" }, { cookie });
      for (const path of ["/clients/1/delete", "/deletions/1/delete"]) await app.post(path, {}, { cookie });
    },
    "deleted-for-good client 1 Contoso",
  ],
];
for (const [what, act, line] of acts) {
  test(`${what} is in the audit log even if the service is killed at once`, async (t) => {
    const app = await startClosed(t);

    await act(app);
    const log = await logAfterKill(t, app);

    assert.ok(log.includes(line), log.join("\n"));
  });
}

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
  await (await openAt(copy)).close();

  const changes = entriesIn(copy).filter(({ change }) => change !== undefined);
  assert.deepEqual(changes.map(entryText), ["created client 1 A: name A", "created client 2 B: name B"]);
});

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
