import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { test } from "node:test";
import { closeServer, createHttpServer } from "../src/http/server.ts";
import { client, startApp, temporaryFolder } from "./support/app.ts";
import { entriesIn } from "./support/audit/audit.ts";
import { deepTest } from "./support/depth.ts";
import { driverZip } from "./support/drivers/driver-zip.ts";
import { beginUpload } from "./support/drivers/uploads.ts";
import { connectRaw } from "./support/raw.ts";
import { serve } from "./support/service.ts";
import { until } from "./support/until.ts";

const hour = 60 * 60_000;

deepTest("after SIGTERM a running download finishes, and the service exits with 0", async (t) => {
  const folder = await temporaryFolder(t);
  const service = await serve(t, folder);
  const { addPrinter, addDriver, fetch } = client(service.url);
  const bytes = Buffer.alloc(12 * 1024 * 1024);
  const driver = await addDriver(driverZip({ extra: [{ name: "big.bin", bytes, method: 0 }] }));
  const id = await addPrinter({ driver_id: String(driver) });
  const answer = await fetch(`/printers/${id}/packages/rmm`);

  service.process.kill("SIGTERM");
  await until(() => service.output().includes("SIGTERM: finishing"));
  const whole = await answer.arrayBuffer();
  const code = await service.exited;

  assert.equal(whole.byteLength, Number(answer.headers.get("content-length")));
  assert.equal(code, 0);
});

test("SIGTERM directly after the start ends the service in order", async (t) => {
  const folder = await temporaryFolder(t);
  const service = await serve(t, folder);

  service.process.kill("SIGTERM");
  const code = await service.exited;

  assert.equal(code, 0);
  assert.deepEqual(
    entriesIn(join(folder, "data")).map(({ event }) => event),
    ["started", "stopped"],
  );
});

deepTest(
  "a connection that is busy when the server closes is closed as soon as it is idle, before its keep-alive ends",
  {
    timeout: 60_000,
  },
  async (t) => {
    const { app, addDriver } = await startApp(t);
    const bytes = Buffer.alloc(24 * 1024 * 1024);
    await addDriver(driverZip({ extra: [{ name: "large.bin", bytes, method: 0 }] }));
    const server = createHttpServer(app);
    server.keepAliveTimeout = hour;
    await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
    const busy = await connectRaw(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    busy.socket.write("GET /drivers/1/archive HTTP/1.1\r\nHost: localhost\r\n\r\n");
    await busy.until(/200 OK/);
    busy.socket.pause();

    const closed = closeServer(server, hour);
    busy.socket.resume();
    await closed;

    const text = await busy.closed;
    assert.ok(text.length > bytes.length, "the download is whole");
  },
);

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
