import assert from "node:assert/strict";
import { test } from "node:test";
import { parsePrinter } from "../../../src/domain/printers/printer-fields.ts";
import { startApp, type TestApp } from "../../support/app.ts";
import { driverZip } from "../../support/drivers/driver-zip.ts";
import { connectRaw, statusOf } from "../../support/raw.ts";
import { longestHold } from "../../support/times.ts";

const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`;

/** Counts how many plans of moving a driver's printers are begun and not yet made, at most. */
function countPlans({ app }: TestApp, ids: readonly number[]): () => number {
  const { printers } = app.store;
  const models = printers.models.bind(printers);
  let open = 0;
  let most = 0;
  printers.models = (part) => {
    if (part.includes(ids[0] ?? 0)) most = Math.max(most, ++open);
    // Others have their turn after a step that takes as long as this.
    const end = performance.now() + 15;
    while (performance.now() < end);
    if (part.includes(ids.at(-1) ?? 0)) open--;
    return models(part);
  };
  return () => most;
}

test("moving printers is shown one page after the other, however many ask", async (t) => {
  const service = await startApp(t);
  const models = Array.from({ length: 500 }, (_, i) => `Model ${i}`);
  await service.addDriver(driverZip({ models }));
  await service.addDriver(driverZip({ models: ["One", "Two"], version: "2.0.0.0" }));
  const settings = models.map((driver_desc) =>
    parsePrinter({ name: "Office", address: "10.0.0.1", driver_id: "1", driver_desc }),
  );
  const ids = await Promise.all(settings.map((printer) => service.app.store.printers.add(printer)));
  await (await service.fetch("/drivers/1/move?to=2")).text();
  const raws = await Promise.all(Array.from({ length: 60 }, () => connectRaw(service.url)));
  // A turn of the event loop takes in one connection: only what all of them ask for afterwards comes at once.
  raws.forEach(({ socket }) => void socket.write(get("/health")));
  await Promise.all(raws.map((raw) => raw.until(/ok/)));
  const atOnce = countPlans(service, ids);

  const statuses: number[] = [];
  const hold = await longestHold(async () => {
    raws.forEach(({ socket }, i) => void socket.write(get(`/drivers/1/move?to=2&x=${i}`)));
    const answers = await Promise.all(raws.map((raw) => raw.until(/HTTP[\s\S]+HTTP[\s\S]+\r\n\r\n/)));
    statuses.push(...answers.map((answer) => statusOf(answer.slice(answer.lastIndexOf("HTTP/1.1 ")))));
  });

  for (const { socket } of raws) socket.destroy();
  t.diagnostic(`held for ${Math.round(hold)} ms, ${atOnce()} at once`);
  assert.deepEqual(new Set(statuses), new Set([200]));
  // One that takes very long on a busy machine is not waited for.
  assert.ok(atOnce() >= 1 && atOnce() <= 10, `${atOnce()} at once`);
  assert.ok(hold < 1000, `${hold} ms`);
});
