import assert from "node:assert/strict";
import { test } from "node:test";
import { parseClient } from "../../../src/domain/printers/client.ts";
import { parsePrinter } from "../../../src/domain/printers/printer-fields.ts";
import { startApp, type TestApp } from "../../support/app.ts";
import { deepTest } from "../../support/depth.ts";

/** Adds clients and deletes them. @returns the deletions */
async function deleteClients({ app: { store, undo } }: TestApp, count: number): Promise<number[]> {
  const names = Array.from({ length: count }, (_, i) => `Client ${i}`);
  const ids = await Promise.all(names.map((name) => store.clients.add(parseClient({ name }))));
  const deletions = await Promise.all(ids.map((id) => undo.removeClient(id)));
  return deletions.map((id) => id ?? 0);
}

test("each of many small deletions can be undone for ten minutes", async (t) => {
  const service = await startApp(t);
  const { undo } = service.app;

  const promised = await deleteClients(service, 205);
  const kept = undo.list().map(({ id }) => id);
  const [first = 0] = promised;
  const restored = await undo.restore(first);

  assert.deepEqual(new Set(kept), new Set(promised));
  assert.equal(restored.name, "Client 0");
});

deepTest("a thousand printers with 20 MB of settings are deleted and restored", async (t) => {
  const { app } = await startApp(t);
  const { store, undo } = app;
  const replaces = Array.from({ length: 100 }, (_, i) => `${i}`.padEnd(100, "ü")).join("\n");
  const settings = parsePrinter({ name: "Büro", address: "10.0.0.1", replaces });
  const ids = await Promise.all(Array.from({ length: 1000 }, () => store.printers.add(settings)));
  const before = store.printers.findMany(ids);

  const deletion = await undo.removePrinters(ids);
  const meanwhile = store.printers.list().length;
  await undo.restore(deletion ?? 0);

  assert.equal(meanwhile, 0);
  assert.deepEqual(store.printers.findMany(ids), before);
});
