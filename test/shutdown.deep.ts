import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import { client, temporaryFolder } from "./support/app.ts";
import { driverZip } from "./support/drivers/driver-zip.ts";
import { connectRaw } from "./support/raw.ts";
import { serve } from "./support/service.ts";
import { until } from "./support/until.ts";

test("a connection that is busy at SIGTERM is closed as soon as it is idle, before its keep-alive ends", async (t) => {
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
});
