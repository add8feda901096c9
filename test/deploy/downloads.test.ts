import assert from "node:assert/strict";
import { test } from "node:test";
import { startApp } from "../support/app.ts";
import { driverZip } from "../support/drivers/driver-zip.ts";
import { appWithMixedDriver, bytesOf, noise } from "../support/drivers/mixed-driver.ts";
import { makePng } from "../support/printers/png.ts";

test("every form of range gives the right bytes, and an impossible range gives 416", async (t) => {
  const { fetch, printer } = await appWithMixedDriver(t);
  for (const format of ["rmm", "mdm"]) {
    const path = `/printers/${printer}/packages/${format}`;
    const full = await fetch(path);
    const whole = await bytesOf(full);
    const size = whole.length;
    const etag = full.headers.get("etag") ?? "";
    const date = new Date(Date.UTC(2040, 0, 1)).toUTCString();
    const get = (headers: Record<string, string>) => fetch(path, { headers });

    const ranges: [string, number, number][] = [
      ["bytes=0-0", 0, 1],
      ["bytes=10-99", 10, 100],
      [`bytes=${size - 5}-`, size - 5, size],
      ["bytes=-7", size - 7, size],
      [`bytes=5-${size * 2}`, 5, size],
      [`bytes=-${size * 2}`, 0, size],
      ["bytes=60-200000", 60, 200_001],
    ];
    for (const [range, start, end] of ranges) {
      const answer = await get({ range });
      assert.equal(answer.status, 206, range);
      assert.equal(answer.headers.get("content-range"), `bytes ${start}-${end - 1}/${size}`);
      assert.ok((await bytesOf(answer)).equals(whole.subarray(start, end)), `${format} ${range}`);
    }
    for (const range of [`bytes=${size}-`, "bytes=-0"]) {
      const answer = await get({ range });
      assert.deepEqual([answer.status, answer.headers.get("content-range")], [416, `bytes */${size}`]);
    }
    const wholes = [
      { range: "lines=1-2" },
      { range: "bytes=9-5" },
      { range: "bytes=0-1,4-5" },
      { range: "bytes=0-9", "if-range": '"old"' },
      { range: "bytes=0-9", "if-range": date },
      { "if-modified-since": date },
    ];
    for (const headers of wholes)
      assert.equal((await get(headers as Record<string, string>)).status, 200, JSON.stringify(headers));
    assert.equal(full.headers.get("last-modified"), null);
    assert.equal((await get({ range: "bytes=0-9", "if-range": etag })).status, 206);
    assert.equal((await get({ "if-none-match": etag })).status, 304);
    assert.equal((await get({ "if-none-match": `"x", W/${etag}` })).status, 304);
    assert.equal((await get({ "if-none-match": '"other"' })).status, 200);
  }
});

test("ranges across chunk borders of a package give the right bytes", async (t) => {
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

test("every kind of download supports HEAD, ETag and ranges", async (t) => {
  const { fetch, printer, upload } = await appWithMixedDriver(t);
  await upload(`/printers/${printer}/icon`, makePng(), "icon.png");
  const paths = [
    "/drivers/1/archive",
    "/drivers/1/files",
    ...["packages/rmm", "packages/mdm", "scripts/install", "icon"].map(
      (end) => `/printers/${printer}/${end}`,
    ),
  ];
  for (const path of paths) {
    const full = await fetch(path);
    const whole = await bytesOf(full);
    const etag = full.headers.get("etag") ?? "";

    const head = await fetch(path, { method: "HEAD" });
    const part = await fetch(path, { headers: { range: "bytes=3-40", "if-range": etag } });
    const known = await fetch(path, { headers: { "if-none-match": etag } });
    const beyond = await fetch(path, { headers: { range: `bytes=${whole.length}-` } });

    assert.deepEqual([head.status, part.status, known.status, beyond.status], [200, 206, 304, 416], path);
    assert.equal(head.headers.get("content-length"), String(whole.length));
    assert.ok((await bytesOf(part)).equals(whole.subarray(3, 41)), path);
    assert.equal(full.headers.get("last-modified"), null, path);
  }
});
