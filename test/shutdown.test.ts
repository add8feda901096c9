import assert from "node:assert/strict";
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { client, startApp, temporaryFolder } from "./support/app.ts";
import { entriesIn } from "./support/audit/audit.ts";
import { deepTest } from "./support/depth.ts";
import { driverZip } from "./support/drivers/driver-zip.ts";
import { beginUpload } from "./support/drivers/uploads.ts";
import { connectRaw } from "./support/raw.ts";
import { serve } from "./support/service.ts";
import { until } from "./support/until.ts";

test("SIGTERM directly after the start ends the service in order", async (t) => {
  const folder = await temporaryFolder(t);
  const service = await serve(t, folder);

  service.process.kill("SIGTERM");
  const code = await service.exited;

  assert.equal(code, 0);
  const events = entriesIn(join(folder, "data")).map(({ event }) => event);
  assert.deepEqual(events, ["started", "stopped"]);
});

test("a stopping service deletes unfinished uploads before it releases its folder", async (t) => {
  const { url, dataDir, stop } = await startApp(t, { workers: "own" });
  const files = () => readdirSync(join(dataDir, "incoming")).length;
  const uploads = await Promise.all(
    Array.from({ length: 6 }, () => beginUpload(url, Buffer.alloc(40 * 1024 * 1024))),
  );
  for (const upload of uploads) upload.send(20 * 1024 * 1024);
  await until(() => files() === 6);

  await stop();

  assert.equal(files(), 0);
});

deepTest(
  "a connection that is busy at SIGTERM is closed as soon as it is idle, before its keep-alive ends",
  async (t) => {
    const service = await serve(t, await temporaryFolder(t));
    const { addDriver } = client(service.url);
    const bytes = Buffer.alloc(24 * 1024 * 1024);
    await addDriver(driverZip({ extra: [{ name: "large.bin", bytes, method: 0 }] }));
    const busy = await connectRaw(service.url);
    busy.socket.write("GET /drivers/1/archive HTTP/1.1\r\nHost: localhost\r\n\r\n");
    await busy.until(/200 OK/);
    busy.socket.pause();

    service.process.kill("SIGTERM");
    await until(() => service.output().includes("SIGTERM: finishing"));
    const started = performance.now();
    busy.socket.resume();
    const [code] = await once(service.process, "exit");
    const took = performance.now() - started;

    assert.equal(code, 0);
    assert.ok(busy.text().length > bytes.length, "the download is whole");
    assert.ok(took < 4000, `it took ${took.toFixed(0)} ms`);
  },
);
