import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { test } from "node:test";
import { startApp } from "../support/app.ts";
import { etagOf, fetchAll, statusesOf, textOf } from "../support/deploy/answers.ts";
import { deepTest } from "../support/depth.ts";
import { driverZip } from "../support/drivers/driver-zip.ts";
import { unpackers } from "../support/drivers/foreign.ts";
import { appWithMixedDriver, bytesOf, noise } from "../support/drivers/mixed-driver.ts";
import { makePng } from "../support/printers/png.ts";

test("every form of range gives the right bytes, and an impossible range gives 416", async (t) => {
  const { fetch, printer } = await appWithMixedDriver(t);
  for (const format of ["rmm", "mdm"]) {
    const path = `/printers/${printer}/packages/${format}`;
    const full = await fetch(path);
    const whole = await bytesOf(full);
    const size = whole.length;
    const etag = await etagOf(full);
    const date = new Date(Date.UTC(2040, 0, 1)).toUTCString();
    const get = (headers: Record<string, string>) => fetch(path, { headers });

    for (const [range, start, end] of [
      ["bytes=0-0", 0, 1],
      ["bytes=10-99", 10, 100],
      [`bytes=${size - 5}-`, size - 5, size],
      ["bytes=-7", size - 7, size],
      [`bytes=5-${size * 2}`, 5, size],
      [`bytes=-${size * 2}`, 0, size],
      ["bytes=60-200000", 60, 200_001],
    ] as const) {
      const answer = await get({ range });
      assert.equal(answer.status, 206, range);
      assert.equal(answer.headers.get("content-range"), `bytes ${start}-${end - 1}/${size}`);
      assert.ok((await bytesOf(answer)).equals(whole.subarray(start, end)), `${format} ${range}`);
    }
    for (const range of [`bytes=${size}-`, "bytes=-0"]) {
      const answer = await get({ range });
      assert.deepEqual([answer.status, answer.headers.get("content-range")], [416, `bytes */${size}`]);
    }
    for (const range of ["lines=1-2", "bytes=9-5", "bytes=0-1,4-5"])
      assert.equal((await get({ range })).status, 200, range);
    for (const [name, value, status] of [
      ["if-range", '"old"', 200],
      ["if-range", date, 200],
      ["if-range", etag, 206],
    ] as const)
      assert.equal((await get({ range: "bytes=0-9", [name]: value })).status, status, value);
    assert.equal((await get({ "if-modified-since": date })).status, 200);
    assert.equal(full.headers.get("last-modified"), null);
    for (const [tags, status] of [
      [etag, 304],
      [`"x", W/${etag}`, 304],
      ['"other"', 200],
    ] as const)
      assert.equal((await get({ "if-none-match": tags })).status, status, tags);
  }
});

deepTest("ranges across chunk borders of a package give the right bytes", async (t) => {
  const { fetch, addDriver, addPrinter } = await startApp(t);
  const big = Buffer.concat(Array.from({ length: 18 }, () => noise));
  const driver = await addDriver(driverZip({ extra: [{ name: "big.bin", bytes: big, method: 0 }] }));
  const path = `/printers/${await addPrinter({ driver_id: String(driver) })}/packages/mdm`;
  const whole = await bytesOf(fetch(path));
  const mib = 1024 * 1024;

  assert.ok(whole.length > 3 * mib);
  for (const edge of [mib, 2 * mib, 3 * mib]) {
    for (const [start, end] of [
      [edge - 40, edge + 400],
      [edge + 155, edge + 157],
      [100, edge + 156],
      [edge + 156, whole.length],
    ] as const) {
      const part = await bytesOf(fetch(path, { headers: { range: `bytes=${start}-${end - 1}` } }));
      assert.ok(part.equals(whole.subarray(start, end)), `${start}-${end}`);
    }
  }
});

test("every kind of download supports HEAD, ETag and ranges, and writes no file", async (t) => {
  const { app, fetch, printer, upload, dataDir } = await appWithMixedDriver(t);
  await upload(`/printers/${printer}/icon`, makePng(), "icon.png");
  await app.store.audit.flush();
  const listing = () => readdirSync(dataDir, { recursive: true, encoding: "utf8" }).sort();
  const before = listing();
  const ofPrinter = ["packages/rmm", "packages/mdm", "scripts/install", "icon"];
  const paths = ofPrinter.map((end) => `/printers/${printer}/${end}`);

  for (const path of ["/drivers/1/archive", "/drivers/1/files", ...paths]) {
    const full = await fetch(path);
    const whole = await bytesOf(full);
    const etag = await etagOf(full);

    const head = await fetch(path, { method: "HEAD" });
    const part = await fetch(path, { headers: { range: "bytes=3-40", "if-range": etag } });
    const known = await fetch(path, { headers: { "if-none-match": etag } });
    const beyond = await fetch(path, { headers: { range: `bytes=${whole.length}-` } });

    assert.deepEqual(statusesOf([head, part, known, beyond]), [200, 206, 304, 416], path);
    assert.equal(head.headers.get("content-length"), String(whole.length));
    assert.ok((await bytesOf(part)).equals(whole.subarray(3, 41)), path);
    assert.equal(full.headers.get("last-modified"), null, path);
  }
  assert.deepEqual(listing(), before);
});

test("scripts and packages answer 404 without a printer or for another kind, and 422 without a driver", async (t) => {
  const service = await startApp(t);
  await service.post("/printers", { name: "Bare", address: "10.0.0.1" });
  const scripts = ["install", "uninstall", "detect", "diagnose"].map((kind) => `scripts/${kind}`);
  const all = [...scripts, "packages/rmm", "packages/mdm"];
  const statuses = async (printer: string, ends: readonly string[]) => {
    const paths = ends.map((end) => `/printers/${printer}/${end}`);
    return new Set(statusesOf(await fetchAll(service, paths)));
  };

  assert.deepEqual(await statuses("99", all), new Set([404]));
  assert.deepEqual(await statuses("abc", scripts), new Set([404]));
  assert.deepEqual(await statuses("1", ["scripts/other"]), new Set([404]));
  assert.deepEqual(await statuses("1", all), new Set([422]));
});

test("scripts and packages are attachments with safe names, a length and an ETag", async (t) => {
  const { fetch, addPrinter, post } = await startApp(t);
  await post("/clients", { name: "Ärzte & Söhne" });
  const id = await addPrinter({ name: "Büro “1” / Süd", client_id: "1" });
  const scripts = ["install", "uninstall", "detect", "diagnose"].map(
    (kind) => [`scripts/${kind}`, `${kind}-buro-1-sud.ps1`] as const,
  );

  for (const [path, name] of [
    ...scripts,
    ["packages/rmm", "arzte-sohne-buro-1-sud.zip"],
    ["packages/mdm", "arzte-sohne-buro-1-sud.intunewin"],
  ] as const) {
    const answer = await fetch(`/printers/${id}/${path}`);
    const { length } = await bytesOf(answer);
    const { status, headers } = answer;
    const disposition = `attachment; filename="${name}"; filename*=UTF-8''${name}`;
    assert.deepEqual([status, headers.get("content-disposition")], [200, disposition]);
    assert.equal(Number(headers.get("content-length")), length);
    assert.equal(headers.get("accept-ranges"), "bytes");
    assert.match(headers.get("etag") ?? "", /^"[^"]+"$/);
  }
});

test("hostile descriptions appear unchanged and harmless in page, script and package", async (t) => {
  const { addDriver, addPrinter, fetch } = await startApp(t);
  const descriptions = ["O'Brien ’x’ $(calc) `n", "<script>alert(1)</script>", "x".repeat(260), 'say "hi"'];
  for (const description of descriptions) {
    const driver = await addDriver(driverZip({ models: [description] }));
    const printer = await addPrinter({ driver_id: String(driver) });

    const page = await textOf(fetch(`/drivers/${driver}`));
    const script = await textOf(fetch(`/printers/${printer}/scripts/install`));
    const zip = unpackers.fflate(await bytesOf(fetch(`/printers/${printer}/packages/rmm`)));

    const literal = `'${description.replace(/['’]/g, "$&$&")}'`;
    assert.doesNotMatch(page, /<script>alert|\u202e/);
    for (const text of [script, String(zip["install.ps1"])])
      assert.ok(text.includes(`DriverName = ${literal}`), description.slice(0, 40));
  }
});
