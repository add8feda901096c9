import assert from "node:assert/strict";
import { request } from "node:http";
import { test } from "node:test";
import { gunzipSync } from "node:zlib";
import { acceptsGzip } from "../../src/http/answers/compression.ts";
import { navigation, startApp, type TestApp } from "../support/app.ts";

/** Sends a request without decompressing the answer. */
function raw(
  { url }: TestApp,
  path: string,
  headers: Record<string, string> = {},
  method = "GET",
): Promise<{ status: number; headers: Record<string, unknown>; body: Buffer }> {
  return new Promise((resolve, reject) => {
    const sent = request(url + path, { method, headers, agent: false }, (answer) => {
      const chunks: Buffer[] = [];
      answer.on("data", (chunk: Buffer) => chunks.push(chunk));
      answer.on("end", () =>
        resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body: Buffer.concat(chunks) }),
      );
    });
    sent.on("error", reject).end();
  });
}

const unpack = { gzip: gunzipSync, identity: (bytes: Buffer) => bytes };

test("gzip is used if the client accepts it", () => {
  const accepting = ["gzip, deflate, br", "GZIP;q=0.1", "br;q=0, gzip; q=0.5", ["br", "gzip"]];
  const refusing = ["gzip;q=0", "gzip;q=0.000, br", "identity, xgzip", "*", "", undefined];

  for (const header of accepting) assert.ok(acceptsGzip(header), String(header));
  for (const header of refusing) assert.ok(!acceptsGzip(header), header);
});

test("pages are compressed if the client accepts it, and HEAD has the headers of GET", async (t) => {
  const service = await startApp(t);
  const plain = await raw(service, "/printers");
  const headers = { "accept-encoding": "gzip" };
  const got = await raw(service, "/printers", headers);
  const head = await raw(service, "/printers", headers, "HEAD");

  assert.equal(got.headers["content-encoding"], "gzip");
  assert.equal(got.headers["content-length"], String(got.body.length));
  assert.equal(gunzipSync(got.body).toString(), plain.body.toString());
  assert.deepEqual({ ...head.headers, date: "" }, { ...got.headers, date: "" });
  assert.equal(head.body.length, 0);
  assert.deepEqual([plain.headers["content-encoding"], plain.headers.vary], [undefined, "Accept-Encoding"]);
});

test("static files are compressed once, with an ETag of their own", async (t) => {
  const service = await startApp(t);
  const page = (await raw(service, "/")).body.toString();
  const [, path = ""] = /href="(\/static\/app\.css[^"]*)"/.exec(page) ?? [];
  const [tags, texts] = [new Set<unknown>(), new Set<string>()];

  for (const encoding of ["gzip", "identity"] as const) {
    const headers = { "accept-encoding": encoding };
    const { headers: said, body } = await raw(service, path, headers);
    const notModified = await raw(service, path, { ...headers, "if-none-match": String(said.etag) });
    tags.add(said.etag);
    texts.add(unpack[encoding](body).toString());
    assert.equal(said.vary, "Accept-Encoding");
    assert.equal(said["content-encoding"], encoding === "identity" ? undefined : encoding);
    assert.match(String(said["cache-control"]), /immutable/);
    assert.deepEqual([notModified.status, notModified.headers.vary], [304, "Accept-Encoding"]);
  }

  assert.deepEqual([tags.size, texts.size], [2, 1]);
});

test("a long page is compressed again after each change, also for many clients at once", async (t) => {
  const service = await startApp(t);
  const rows = Array.from({ length: 100 }, (_, i) => `Printer ${i},10.0.0.1\n`);
  await service.post("/import", { text: `name,address\n${rows.join("")}` });
  const ask = async () => (await raw(service, "/printers", { "accept-encoding": "gzip" })).body;

  const [first, again] = [await ask(), await ask()];
  await service.post("/printers", { name: "Another", address: "10.0.0.1" }, navigation);
  const [changed = Buffer.alloc(0), ...others] = await Promise.all(Array.from({ length: 20 }, ask));

  const text = gunzipSync(changed);
  assert.ok(first.equals(again) && !gunzipSync(again).includes("Another"));
  assert.ok(text.includes("Printer 99") && text.includes("Another"));
  assert.deepEqual(text, (await raw(service, "/printers")).body);
  assert.ok(others.every((page) => gunzipSync(page).equals(text)));
});

test("small answers and downloads are not compressed, and HEAD has their length without a body", async (t) => {
  const service = await startApp(t);
  await service.addPrinter();
  const downloads = ["scripts/detect", "packages/rmm", "packages/mdm"].map((name) => `/printers/1/${name}`);
  const headers = { "accept-encoding": "gzip, br" };

  for (const path of ["/health", "/drivers/1/archive", ...downloads]) {
    const { status, headers: said } = await raw(service, path, headers);
    const head = await raw(service, path, headers, "HEAD");

    assert.deepEqual([status, said["content-encoding"], said.vary], [200, undefined, undefined], path);
    assert.deepEqual([head.status, head.headers["content-length"]], [200, said["content-length"]], path);
    assert.equal(head.body.length, 0);
  }
});
