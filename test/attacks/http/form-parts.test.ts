import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { startApp } from "../../support/app.ts";
import { driverZip } from "../../support/drivers/driver-zip.ts";
import { makePng } from "../../support/printers/png.ts";
import { exchange, postText, statusOf } from "../../support/raw.ts";
import { assertWithin, longestBlock } from "../../support/times.ts";

const multipart = "multipart/form-data; boundary=b";
const field = (name: string) => `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\nx\r\n`;
const file = (name: string, bytes: Buffer | string) =>
  `--b\r\nContent-Disposition: form-data; name="file"; filename="${name}"\r\n\r\n${bytes.toString("latin1")}\r\n`;
const fields = (count: number) => Array.from({ length: count }, (_, i) => field(`f${i}`)).join("");

test("a form with a file has at most 250 parts: a longer one is refused, at any position of its file", async (t) => {
  const service = await startApp(t);
  await service.post("/printers", { name: "Bare", address: "10.0.0.1" });
  const list = "name,address\nListed,10.0.0.2";
  const send = async (path: string, body: string) =>
    statusOf(
      await exchange(service.url, postText(path, multipart, Buffer.from(`${body}--b--\r\n`, "latin1"))),
    );

  const refused = [
    await send("/drivers/upload", file("a.zip", driverZip()) + fields(300)),
    await send("/drivers/upload", fields(300) + file("a.zip", driverZip())),
    await send("/printers/1/icon", file("a.png", makePng()) + fields(300)),
    await send("/import", file("a.csv", list) + fields(300)),
    await send("/clients", fields(8001)),
  ];
  const taken = await send("/drivers/upload", fields(248) + file("a.zip", driverZip()));

  assert.deepEqual(refused, [413, 413, 413, 413, 413]);
  assert.equal(taken, 200);
  assert.deepEqual(readdirSync(join(service.dataDir, "incoming")), []);
  assert.deepEqual(readdirSync(join(service.dataDir, "icons")), []);
  assert.equal(service.app.store.drivers.list().length, 1);
  assert.equal(service.app.store.printers.list().length, 1);
});

test("a form of a hundred thousand empty fields does not delay other requests", async (t) => {
  const service = await startApp(t);
  const bodies = ["a&".repeat(125_000), "a=&".repeat(80_000), "%61=b&".repeat(40_000), "=".repeat(250_000)];

  const answers: number[] = [];
  const held = await longestBlock(async () => {
    for (const body of bodies) {
      const answer = await exchange(
        service.url,
        postText("/clients", "application/x-www-form-urlencoded", body),
      );
      answers.push(statusOf(answer));
    }
  });

  assert.deepEqual(answers, [422, 422, 422, 422]);
  await assertWithin(400, { held });
});
