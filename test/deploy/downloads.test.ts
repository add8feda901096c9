import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { test } from "node:test";
import { packageFormats } from "../../src/pkg/formats/formats.ts";
import { startApp } from "../support/app.ts";
import { etagOf, fetchAll, statusesOf } from "../support/deploy/answers.ts";
import { rounds } from "../support/depth.ts";
import { driverZip } from "../support/drivers/driver-zip.ts";
import { appWithMixedDriver, bytesOf, noise } from "../support/drivers/mixed-driver.ts";
import { makePng } from "../support/printers/png.ts";

const mebi = 2 ** 20;

test("every kind of download supports HEAD, ETag and ranges, and writes no file", async (t) => {
  const { app, fetch, printer, upload, dataDir } = await appWithMixedDriver(t);
  await upload(`/printers/${printer}/icon`, makePng(), "icon.png");
  await app.store.audit.flush();
  const listing = () => readdirSync(dataDir, { recursive: true, encoding: "utf8" }).sort();
  const before = listing();
  const ofPrinter = [...packageFormats.map(({ id }) => `packages/${id}`), "scripts/install", "icon"];
  const paths = ofPrinter.map((end) => `/printers/${printer}/${end}`);

  for (const path of ["/drivers/1/archive", "/drivers/1/files", ...paths]) {
    const get = (headers: Record<string, string>) => fetch(path, { headers });
    const full = await get({});
    const whole = await bytesOf(full);
    const [size, etag] = [whole.length, await etagOf(full)];
    const head = await fetch(path, { method: "HEAD" });
    const others = [
      [{ "if-none-match": `"x", W/${etag}` }, 304],
      [{ "if-none-match": '"other"' }, 200],
      [{ range: "bytes=3-4", "if-range": '"old"' }, 200],
      [{ range: "lines=1-2" }, 200],
      [{ range: `bytes=${size}-` }, 416],
    ] as const;

    for (const [range, start, end] of [
      ["3-40", 3, 41],
      [`${size - 5}-`, size - 5, size],
      ["-7", size - 7, size],
      [`5-${size * 2}`, 5, size],
    ] as const) {
      const part = await get({ range: `bytes=${range}`, "if-range": etag });
      assert.equal(part.headers.get("content-range"), `bytes ${start}-${end - 1}/${size}`, path);
      assert.equal(part.status, 206);
      assert.ok((await bytesOf(part)).equals(whole.subarray(start, end)), `${path} ${range}`);
    }
    for (const [headers, status] of others)
      assert.equal((await get(headers)).status, status, `${path} ${JSON.stringify(headers)}`);
    assert.equal(head.headers.get("content-length"), String(size));
    assert.equal(full.headers.get("last-modified"), null, path);
    for (const name of ["content-type", "etag", "content-disposition", "accept-ranges"])
      assert.equal(head.headers.get(name), full.headers.get(name), name);
  }
  assert.deepEqual(listing(), before);
});

test("ranges across the chunk borders of a package give the right bytes", async (t) => {
  const { fetch, addDriver, addPrinter } = await startApp(t);
  const chunks = rounds(1, 3);
  const bytes = Buffer.concat(Array.from({ length: 6 * chunks }, () => noise));
  const driver = await addDriver(driverZip({ extra: [{ name: "big.bin", bytes, method: 0 }] }));
  const path = `/printers/${await addPrinter({ driver_id: String(driver) })}/packages/mdm`;
  const whole = await bytesOf(fetch(path));

  for (let edge = mebi; edge <= chunks * mebi; edge += mebi)
    for (const [start, end] of [
      [edge - 40, edge + 400],
      [edge + 155, edge + 157],
      [100, edge + 156],
      [edge + 156, whole.length],
    ] as const) {
      const part = await bytesOf(fetch(path, { headers: { range: `bytes=${start}-${end - 1}` } }));
      assert.ok(end <= whole.length && part.equals(whole.subarray(start, end)), `${start}-${end}`);
    }
});

const scripts = ["install", "uninstall", "detect", "diagnose"];

test("scripts and packages answer 404 without a record or for another kind, and 422 without a driver", async (t) => {
  const service = await startApp(t);
  for (const name of ["Empty", "Bare"]) await service.post("/clients", { name });
  for (let i = 1; i <= 5; i++)
    await service.post("/printers", { name: `P${i}`, client_id: "2", address: "10.0.0.1" });
  const ends = [...scripts.map((kind) => `scripts/${kind}`), "packages/rmm", "packages/mdm"];
  const unknown = ["/printers/abc/scripts/install", "/printers/1/scripts/other", "/clients/1/packages/xyz"];
  const statuses = async (...paths: string[]) => new Set(statusesOf(await fetchAll(service, paths)));

  for (const end of ends) {
    assert.deepEqual(await statuses(`/printers/99/${end}`, `/clients/9/${end}`, ...unknown), new Set([404]));
    assert.deepEqual(await statuses(`/printers/1/${end}`, `/clients/1/${end}`), new Set([422]), end);
  }
  const [refused, page] = await fetchAll(service, ["/clients/2/packages/mdm?all=1", "/clients/2"]);
  const why = /“Bare” can be deployed: “P1”: No driver.* “P3”: .* And 2 more\./;
  assert.match((await refused?.text()) ?? "", why);
  assert.doesNotMatch((await page?.text()) ?? "", /packages\/mdm|scripts\/install/);
});

test("scripts and packages are attachments with safe names, a type, a length and an ETag", async (t) => {
  const { fetch, addPrinter, post } = await startApp(t);
  await post("/clients", { name: "Ärzte & Söhne" });
  const id = await addPrinter({ name: "Büro “1” / Süd", client_id: "1" });
  const rows = [
    ...scripts.map((kind) => [`scripts/${kind}`, `${kind}-buro-1-sud.ps1`, /./] as const),
    ...packageFormats.map(
      (format) =>
        [
          `packages/${format.id}`,
          `arzte-sohne-buro-1-sud${format.extension}`,
          new RegExp(`^${format.contentType}$`),
        ] as const,
    ),
  ];

  for (const [path, name, type] of rows) {
    const answer = await fetch(`/printers/${id}/${path}`);
    const { length } = await bytesOf(answer);
    const { status, headers } = answer;
    const disposition = `attachment; filename="${name}"; filename*=UTF-8''${name}`;
    assert.deepEqual([status, headers.get("content-disposition")], [200, disposition]);
    assert.match(headers.get("content-type") ?? "", type);
    assert.equal(Number(headers.get("content-length")), length);
    assert.equal(headers.get("accept-ranges"), "bytes");
    assert.match(headers.get("etag") ?? "", /^"[^"]+"$/);
  }
});
