import assert from "node:assert/strict";
import { test } from "node:test";
import { routes } from "../../src/http/routes.ts";
import { startApp, type TestApp } from "../support/app.ts";
import { etagOf, statusesOf } from "../support/deploy/answers.ts";
import { deepTest, isDeep } from "../support/depth.ts";
import { makePng } from "../support/printers/png.ts";
import { connectRaw, exchange, postText, statusOf } from "../support/raw.ts";

const wanted: Record<string, RegExp> = {
  "content-security-policy":
    /^default-src 'none'; (?:(?:script|style|img|connect)-src 'self'; ){4}form-action 'self'; base-uri 'none'; frame-ancestors 'none'$/,
  "x-content-type-options": /^nosniff$/,
  "referrer-policy": /^same-origin$/,
  "cross-origin-opener-policy": /^same-origin$/,
  "cross-origin-embedder-policy": /^require-corp$/,
  "cross-origin-resource-policy": /^same-origin$/,
  "permissions-policy": /^[a-z-]+=\(\)(?:, [a-z-]+=\(\))+$/,
};

/** The names of missing and wrong headers. */
function lacking(headers: Headers): string[] {
  return Object.keys(wanted).filter((name) => !wanted[name]?.test(headers.get(name) ?? ""));
}

/** Status and headers of the first answer in a text from the wire. */
function parsed(answer: string): { status: number; headers: Headers } {
  const head = answer.slice(0, answer.indexOf("\r\n\r\n"));
  const lines = head.split("\r\n").slice(1);
  const pairs = lines.map((line): [string, string] => {
    const at = line.indexOf(":");
    return [line.slice(0, at), line.slice(at + 1).trim()];
  });
  return { status: statusOf(answer), headers: new Headers(pairs) };
}

/** Adds one record of each kind, so that every route has an answer. */
async function oneOfEach(service: TestApp): Promise<void> {
  await service.post("/clients", { name: "Contoso" });
  const id = await service.addPrinter({ client_id: "1" });
  await service.upload(`/printers/${id}/icon`, makePng(), "icon.png");
}

/** The addresses of a route, with each possible value of its parameters. */
function addressesOf(pattern: RegExp, names: readonly string[]): string[] {
  const values: Record<string, string[]> = {
    id: ["1", "999"],
    kind: ["install", "detect", "nothing"],
    format: ["rmm", "mdm", "nothing"],
    name: ["nothing"],
  };
  return names.reduce(
    (addresses, name) =>
      addresses.flatMap((address) =>
        (values[name] ?? []).map((value) => address.replace("([^/]+)", () => value)),
      ),
    [pattern.source.replace(/^\^|\$$/g, "").replaceAll("\\", "")],
  );
}

/** All requests to all routes; in the quick tier the first or last address of each. Reading requests come first. */
function everyAsk(): { readonly method: string; readonly path: string }[] {
  const asks = routes.flatMap(({ method, pattern, paramNames: names }, i) =>
    someOf(addressesOf(pattern, names), i).flatMap((path) =>
      (method === "GET" ? headToo(i) : [method]).map((as) => ({ method: as, path })),
    ),
  );
  const isReading = ({ method }: { method: string }) => method === "GET" || method === "HEAD";
  return [...asks.filter(isReading), ...asks.filter((ask) => !isReading(ask))];
}

/** The quick tier asks the first address of two routes, and the last address of the third. */
function someOf(addresses: readonly string[], route: number): readonly string[] {
  return isDeep ? addresses : addresses.slice(...(route % 3 === 2 ? [-1] : [0, 1]));
}

/** The quick tier sends HEAD to every fourth route. */
function headToo(route: number): readonly string[] {
  return isDeep || route % 4 === 0 ? ["GET", "HEAD"] : ["GET"];
}

deepTest("every route answers with all headers, for any method, status and client", async (t) => {
  const service = await startApp(t);
  await oneOfEach(service);
  const readers = [{ accept: "text/html" }, { accept: "*/*" }, { "hx-request": "true" }];
  const statuses = new Set<number>();
  const bad: string[] = [];

  for (const [i, { method, path }] of everyAsk().entries()) {
    for (const headers of isDeep ? readers : readers.slice(i % 3, (i % 3) + 1)) {
      const answer = await service.fetch(path, { method, headers });
      await answer.arrayBuffer();
      statuses.add(answer.status);
      bad.push(...lacking(answer.headers).map((name) => `${method} ${path} ${answer.status}: ${name}`));
    }
  }

  assert.deepEqual(bad, []);
  for (const status of [200, 303, 404, 422]) assert.ok(statuses.has(status), `no answer was ${status}`);
});

test("answers with status 206, 304, 405, 413, 416, 421, 403 and 503 have all headers", async (t) => {
  const service = await startApp(t, { limits: { bodyBytes: 2 * 1024 * 1024 } });
  await oneOfEach(service);
  const script = "/drivers/1/archive";
  const etag = await etagOf(service.fetch(script, { method: "HEAD" }));
  const form = "application/x-www-form-urlencoded";

  const answers = [
    await service.fetch(script, { headers: { range: "bytes=0-9" } }),
    await service.fetch(script, { headers: { "if-none-match": etag } }),
    await service.fetch(script, { headers: { range: "bytes=99999999-" } }),
    await service.fetch("/clients", { method: "PUT" }),
    await service.post("/clients", { name: "A" }, { "sec-fetch-site": "cross-site" }),
    await service.post("/clients", { name: "x".repeat(300_000) }),
    await service.post("/import", { text: "x".repeat(2_000_000) }),
  ];
  const host = parsed(await exchange(service.url, postText("/clients", form, "", { host: "evil.example" })));

  assert.deepEqual(statusesOf(answers), [206, 304, 416, 405, 403, 413, 503]);
  assert.equal(host.status, 421);
  for (const { status, headers } of [...answers, host]) assert.deepEqual(lacking(headers), [], `${status}`);
});

test("the answer to a broken request has all headers, and one line with the reason", async (t) => {
  const service = await startApp(t, { limits: { connections: 20 } });
  const host = "Host: localhost\r\n";
  const cases: [string, number, RegExp][] = [
    ["no HTTP\r\n\r\n", 400, /not a valid HTTP request/],
    [`GET / HTTP/1.1\r\n${host}X: ${"x".repeat(20_000)}\r\n\r\n`, 431, /16 KB at most/],
    [`GET / HTTP/1.1\r\n${host}${"X: y\r\n".repeat(150)}\r\n`, 431, /100 headers at most/],
    ["GET / HTTP/1.1\r\nConnection: close\r\n\r\n", 400, /names no host/],
    [`GET / HTTP/1.1\r\n${host}Host: evil.example\r\n\r\n`, 400, /more than once/],
    [`GET / HTTP/1.1\r\n${host}Expect: a miracle\r\n\r\n`, 417, /only the expectation 100-continue/],
    ["CONNECT evil.example:443 HTTP/1.1\r\nHost: evil.example:443\r\n\r\n", 405, /not a proxy/],
  ];

  for (const [request, status, why] of cases) {
    const text = await exchange(service.url, request);
    const answer = parsed(text);

    assert.equal(answer.status, status, request.slice(0, 60));
    assert.deepEqual(lacking(answer.headers), [], request.slice(0, 60));
    assert.match(text, why);
    assert.equal(answer.headers.get("connection"), "close");
  }
  const waiting = await Promise.all(Array.from({ length: 12 }, () => connectRaw(service.url)));
  const full = parsed((await Promise.race(waiting.map(({ closed }) => closed))) ?? "");
  for (const { socket } of waiting) socket.destroy();
  assert.equal(full.status, 503);
  assert.deepEqual(lacking(full.headers), []);
  assert.equal(full.headers.get("retry-after"), "5");
});

test("browsers are told to stay on https where PUBLIC_URL is https, and only there", async (t) => {
  const name = "strict-transport-security";
  const services = [
    await startApp(t, { publicUrl: "https://platen.example" }),
    await startApp(t, { publicUrl: "http://platen.example" }),
    await startApp(t),
  ];

  const pages = await Promise.all(services.map(async ({ fetch }) => (await fetch("/")).headers.get(name)));
  const broken = await exchange(services[0]?.url ?? "", "no HTTP\r\n\r\n");

  assert.deepEqual(pages, ["max-age=31536000", null, null]);
  assert.equal(parsed(broken).headers.get(name), "max-age=31536000");
});

test("no answer can be read by another origin, and pages are not cached", async (t) => {
  const service = await startApp(t);
  await oneOfEach(service);
  const origin = { origin: "https://other.example", "access-control-request-method": "POST" };

  for (const path of ["/", "/printers/1", "/clients/1", "/nothing", "/health", "/drivers/1/archive"]) {
    const answers = [
      await service.fetch(path, { headers: origin }),
      await service.fetch(path, { method: "OPTIONS", headers: origin }),
    ];
    for (const { headers } of answers) {
      const allowed = [...headers.keys()].filter((name) => name.startsWith("access-control-"));
      assert.deepEqual(allowed, [], path);
    }
    const isPage = answers[0]?.headers.get("content-type")?.startsWith("text/");
    if (isPage) assert.equal(answers[0]?.headers.get("cache-control"), "no-store", path);
  }
});
