import assert from "node:assert/strict";
import { test } from "node:test";
import { parsePrinter } from "../../../src/domain/printers/printer-fields.ts";
import { startApp, type TestApp } from "../../support/app.ts";
import { driverZip } from "../../support/drivers/driver-zip.ts";
import { connectRaw, statusOf } from "../../support/raw.ts";
import { assertWithin, longestBlock } from "../../support/times.ts";

const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`;

/** @returns a function with the highest number of plans that were in progress at the same time */
function countPlans({ app }: TestApp, ids: readonly number[]): () => number {
  const { printers } = app.store;
  const models = printers.modelsOf.bind(printers);
  let open = 0;
  let most = 0;
  printers.modelsOf = (part) => {
    if (part.includes(ids[0] ?? 0)) most = Math.max(most, ++open);
    // Work of this length lets other requests run afterwards.
    const end = performance.now() + 15;
    while (performance.now() < end);
    if (part.includes(ids.at(-1) ?? 0)) open--;
    return models(part);
  };
  return () => most;
}

test("previews of a move are made a few at a time, however many clients request them", async (t) => {
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
  // The event loop accepts one connection at a time. Only requests on open connections arrive together.
  raws.forEach(({ socket }) => void socket.write(get("/health")));
  await Promise.all(raws.map((raw) => raw.until(/ok/)));
  const maxConcurrent = countPlans(service, ids);

  const statuses: number[] = [];
  const hold = await longestBlock(async () => {
    raws.forEach(({ socket }, i) => void socket.write(get(`/drivers/1/move?to=2&x=${i}`)));
    const answers = await Promise.all(raws.map((raw) => raw.until(/HTTP[\s\S]+HTTP[\s\S]+\r\n\r\n/)));
    statuses.push(...answers.map((answer) => statusOf(answer.slice(answer.lastIndexOf("HTTP/1.1 ")))));
  });

  for (const { socket } of raws) socket.destroy();
  t.diagnostic(`held for ${Math.round(hold)} ms, ${maxConcurrent()} at once`);
  assert.deepEqual(new Set(statuses), new Set([200]));
  // More than one is possible: on a busy machine the queue does not wait for a slow page.
  assert.ok(maxConcurrent() >= 1 && maxConcurrent() <= 10, `${maxConcurrent()} at once`);
  await assertWithin(1000, { hold });
});
