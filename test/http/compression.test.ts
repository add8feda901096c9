import assert from "node:assert/strict";
import { request } from "node:http";
import { test } from "node:test";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { encodingFor } from "../../src/http/answers/compression.ts";
import { startApp, type TestApp } from "../support/app.ts";

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

/** Adds printers for a long page. */
async function addHundred({ post }: TestApp): Promise<void> {
  const rows = Array.from({ length: 100 }, (_, i) => `Printer ${i},10.0.0.1\n`);
  const { status } = await post("/import", { text: `name,address\n${rows.join("")}` });
  assert.equal(status, 200);
}

const unpack = { br: brotliDecompressSync, gzip: gunzipSync, identity: (bytes: Buffer) => bytes };

test("the smallest encoding that a client accepts is used", () => {
  const accepted: Record<string, string | undefined> = {
    "gzip, deflate, br": "br",
    "gzip, deflate": "gzip",
    "BR;q=0.1, gzip;q=1.0": "br",
    "br;q=0, gzip; q=0.5": "gzip",
    "br;q=0.000, gzip;q=0": undefined,
    "identity, xgzip": undefined,
    "*": undefined,
    "": undefined,
  };

  const found = Object.keys(accepted).map((header) => [header, encodingFor(header)]);

  assert.deepEqual(Object.fromEntries(found), accepted);
  assert.equal(encodingFor(undefined), undefined);
});

test("pages are compressed as the client accepts, and HEAD has the headers of GET", async (t) => {
  const service = await startApp(t);
  const plain = await raw(service, "/printers");

  for (const encoding of ["br", "gzip"] as const) {
    const headers = { "accept-encoding": encoding };
    const got = await raw(service, "/printers", headers);
    const head = await raw(service, "/printers", headers, "HEAD");

    assert.equal(got.headers["content-encoding"], encoding);
    assert.equal(got.headers["content-length"], String(got.body.length));
    assert.equal(unpack[encoding](got.body).toString(), plain.body.toString());
    assert.deepEqual({ ...head.headers, date: "" }, { ...got.headers, date: "" });
    assert.equal(head.body.length, 0);
  }

  assert.equal(plain.headers["content-encoding"], undefined);
  assert.equal(plain.headers.vary, "Accept-Encoding");
});

test("static files are compressed once for each encoding, with different ETags", async (t) => {
  const service = await startApp(t);
  const page = (await raw(service, "/")).body.toString();
  const [, path = ""] = /href="(\/static\/app\.css[^"]*)"/.exec(page) ?? [];
  const tags = new Set<unknown>();
  const texts = new Set<string>();

  for (const encoding of ["br", "gzip", "identity"] as const) {
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

  assert.equal(tags.size, 3);
  assert.equal(texts.size, 1);
});

test("a long page is compressed again after each change", async (t) => {
  const service = await startApp(t);
  const add = (name: string) =>
    service.post("/printers", { name, address: "10.0.0.1" }, { "upgrade-insecure-requests": "1" });
  await addHundred(service);
  const ask = async () => (await raw(service, "/printers", { "accept-encoding": "gzip" })).body;

  const [first, again] = [await ask(), await ask()];
  await add("Another");
  const changed = await ask();

  assert.ok(first.equals(again));
  assert.ok(!gunzipSync(again).includes("Another"));
  assert.ok(gunzipSync(changed).includes("Another"));
  assert.deepEqual(gunzipSync(changed), (await raw(service, "/printers")).body);
});

test("small answers and downloads are not compressed", async (t) => {
  const service = await startApp(t);
  const id = await service.addPrinter();
  const paths = [
    "/health",
    `/printers/${id}/scripts/install`,
    `/printers/${id}/packages/rmm`,
    "/drivers/1/archive",
  ];

  const answers = await Promise.all(
    paths.map((path) => raw(service, path, { "accept-encoding": "gzip, br" })),
  );

  assert.deepEqual(
    answers.map(({ status, headers }) => [status, headers["content-encoding"], headers.vary]),
    paths.map(() => [200, undefined, undefined]),
  );
});

test("many simultaneous pages are all compressed", async (t) => {
  const service = await startApp(t);
  await addHundred(service);
  const ask = () => raw(service, "/printers", { "accept-encoding": "gzip" });

  const many = await Promise.all(Array.from({ length: 60 }, ask));

  assert.ok(many.every(({ status }) => status === 200));
  assert.equal(new Set(many.map(({ body }) => gunzipSync(body).length)).size, 1);
});
