import assert from "node:assert/strict";
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { client, startApp, temporaryFolder } from "./support/app.ts";
import { entriesIn } from "./support/audit.ts";
import { driverZip } from "./support/driver-zip.ts";
import { connectRaw } from "./support/raw.ts";
import { serve } from "./support/service.ts";
import { until } from "./support/until.ts";
import { beginUpload } from "./support/uploads.ts";

test("SIGTERM lets a running download finish, saves and ends with 0", async (t) => {
  const folder = await temporaryFolder(t);
  const service = await serve(t, folder);
  const { addPrinter, addDriver, fetch } = client(service.url);
  const big = Buffer.from(Array.from({ length: 3_000_000 }, (_, i) => (i * i * 31) >> 5));
  const driver = await addDriver(
    driverZip({
      extra: [
        { name: "big.bin", bytes: big, method: 0 },
        { name: "big2.bin", bytes: big, method: 0 },
      ],
    }),
  );
  const id = await addPrinter({ driver_id: String(driver) });
  const answer = await fetch(`/printers/${id}/packages/rmm`);

  service.process.kill("SIGTERM");
  await until(() => service.output().includes("SIGTERM: finishing"));
  const bytes = await answer.arrayBuffer();
  const code = await service.exited;

  assert.equal(bytes.byteLength, Number(answer.headers.get("content-length")));
  assert.equal(code, 0);
});

test("SIGTERM as soon as the service says that it listens ends it in order", async (t) => {
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

test("a connection that was busy at SIGTERM is closed as soon as it is idle: nobody waits for its keep-alive", async (t) => {
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

test("uploads that are broken off at the end are gone before the folder is given free", async (t) => {
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
