import assert from "node:assert/strict";
import { test } from "node:test";
import { parsePrinter } from "../../src/domain/printer-fields.ts";
import { startApp, type TestApp } from "../support/app.ts";
import { deepTest } from "../support/depth.ts";

/** Printers that have so many characters of old names each, of two bytes. */
async function addLarge({ app }: TestApp, count: number, characters: number): Promise<number[]> {
  const replaces = Array.from({ length: characters / 100 }, (_, i) => `${i}`.padEnd(100, "ü")).join("\n");
  const settings = parsePrinter({ name: "Büro", address: "10.0.0.1", replaces });
  return Promise.all(Array.from({ length: count }, () => app.store.printers.add(settings)));
}

/** Clients that are deleted again. @returns the deletions */
async function deleteClients({ app: { store, undo } }: TestApp, count: number): Promise<number[]> {
  const names = Array.from({ length: count }, (_, i) => `Client ${i}`);
  const ids = await Promise.all(names.map((name) => store.clients.add({ name, notes: "", subnets: [] })));
  const deletions = await Promise.all(ids.map((id) => undo.removeClient(id)));
  return deletions.map((id) => id ?? 0);
}

deepTest("a deletion whose bytes are too many is final and says so, and earlier ones stay", async (t) => {
  const service = await startApp(t);
  const { undo, store } = service.app;
  const [earlier = 0] = await deleteClients(service, 1);
  const printers = await addLarge(service, 1000, 10_600);

  const deletion = await undo.removePrinters(printers);
  const kept = undo.list().map(({ id }) => id);
  const restored = await undo.restore(earlier);

  assert.equal(deletion, undefined);
  assert.deepEqual(kept, [earlier]);
  assert.equal(restored.kind, "client");
  assert.equal(store.printers.list().length, 0);
});

deepTest(
  "of two large deletions at once that have no room together, the one that is offered comes back",
  async (t) => {
    const service = await startApp(t);
    const { undo, store } = service.app;
    const printers = await addLarge(service, 1000, 10_000);

    const [first, second = 0] = await Promise.all([
      undo.removePrinters(printers.slice(0, 500)),
      undo.removePrinters(printers.slice(500)),
      // Both wait for this save, and share the next.
      store.clients.add({ name: "Alpha", notes: "", subnets: [] }),
    ]);
    await undo.restore(second);

    assert.equal(first, undefined);
    assert.equal(store.printers.list().length, 500);
  },
);

test("every one of many small deletions in a row can be taken back for its ten minutes", async (t) => {
  const service = await startApp(t);
  const { undo } = service.app;

  const promised = await deleteClients(service, 205);
  const kept = undo.list().map(({ id }) => id);
  const [first = 0] = promised;
  const restored = await undo.restore(first);

  assert.deepEqual(new Set(kept), new Set(promised));
  assert.equal(restored.name, "Client 0");
});

deepTest("why a deletion cannot be taken back any more is said as it was", async (t) => {
  const service = await startApp(t);
  const { undo } = service.app;
  const [first = 0, second = 0] = await deleteClients(service, 2);
  const printers = await addLarge(service, 1000, 10_000);
  const why = async (id: number) => undo.restore(id).catch(({ message }: Error) => message);

  await undo.end(second);
  await undo.removePrinters(printers.slice(0, 500));
  await undo.removePrinters(printers.slice(500));

  assert.match(String(await why(first)), /later deletions/);
  assert.match(String(await why(second)), /deleted for good/);
  assert.equal(await why(999), "This can no longer be taken back.");
});
