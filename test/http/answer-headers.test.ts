import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { routes } from "../../src/http/routes.ts";
import { startApp, type TestApp } from "../support/app.ts";
import { etagOf, fetchAll, statusesOf } from "../support/deploy/answers.ts";
import { deepTest } from "../support/depth.ts";
import { makePng } from "../support/printers/png.ts";
import { exchange, postText, statusOf } from "../support/raw.ts";

const wanted: Record<string, RegExp> = {
  "content-security-policy":
    /^default-src 'none'; (?:(?:script|style|img|connect)-src 'self'; ){4}form-action 'self'; base-uri 'none'; frame-ancestors 'none'$/,
  "x-content-type-options": /^nosniff$/,
  "referrer-policy": /^same-origin$/,
  "cross-origin-opener-policy": /^same-origin$/,
  "cross-origin-resource-policy": /^same-origin$/,
};

/** The names of missing and wrong headers. No answer may be read by another origin, and pages are not cached. */
function lacking(headers: Headers): string[] {
  const isPage = headers.get("content-type")?.startsWith("text/html") === true;
  const found = Object.keys(wanted).filter((name) => !wanted[name]?.test(headers.get(name) ?? ""));
  const forbidden = [...headers.keys()].filter((name) => name.startsWith("access-control-"));
  if (isPage && headers.get("cache-control") !== "no-store") forbidden.push("cache-control");
  return [...found, ...forbidden];
}

/** Status and headers of the first answer in a text from the wire. */
function parsed(answer: string): { status: number; headers: Headers } {
  const [head = ""] = answer.split("\r\n\r\n");
  const pairs = [...head.matchAll(/^([\w-]+): *(.*)$/gm)].map(([, name = "", value = ""]) => [name, value]);
  return { status: statusOf(answer), headers: new Headers(pairs as [string, string][]) };
}

/** Adds one record of each kind, so that every route has an answer. */
async function startWithRecords(t: TestContext): Promise<TestApp> {
  const service = await startApp(t, { limits: { bodyBytes: 2 * 1024 * 1024 } });
  await service.post("/clients", { name: "Contoso" });
  const id = await service.addPrinter({ client_id: "1" });
  await service.upload(`/printers/${id}/icon`, makePng(), "icon.png");
  return service;
}

/** The addresses of a route, with a value for each parameter that leads to a record, and one that leads to none. */
function addressesOf(path: string): string[] {
  const found = path.replace(":id", "1").replace(":kind", "install").replace(":format", "rmm");
  return [found, path.replace(":id", "1"), path.replace(":id", "999")];
}

deepTest("every route answers with all headers, for any method, status and client", async (t) => {
  const service = await startWithRecords(t);
  const readers = [{ accept: "text/html" }, { accept: "*/*" }, { "hx-request": "true" }];
  const reading = routes.filter(({ method }) => method === "GET");
  const changing = routes.filter(({ method }) => method !== "GET");
  const asks = [...reading, ...reading.map((route) => ({ ...route, method: "HEAD" })), ...changing];
  const statuses = new Set<number>();
  const bad: string[] = [];

  for (const { method, path: pattern } of asks)
    for (const path of new Set(addressesOf(pattern)))
      for (const headers of readers) {
        const answer = await service.fetch(path, { method, headers });
        await answer.arrayBuffer();
        statuses.add(answer.status);
        bad.push(...lacking(answer.headers).map((name) => `${method} ${path} ${answer.status}: ${name}`));
      }

  assert.deepEqual(bad, []);
  for (const status of [200, 303, 404, 422]) assert.ok(statuses.has(status), `no answer was ${status}`);
});

test("answers of every status have all headers, and none can be read by another origin", async (t) => {
  const service = await startWithRecords(t);
  const script = "/drivers/1/archive";
  const etag = await etagOf(service.fetch(script, { method: "HEAD" }));
  const form = "application/x-www-form-urlencoded";
  const paths = ["/", "/printers/1", "/printers/999", "/static/app.css", "/printers/1/icon"];
  const foreign = { origin: "https://other.example", "access-control-request-method": "POST" };

  const answers = [
    ...(await fetchAll(service, paths)),
    await service.fetch("/printers/1", { headers: foreign }),
    await service.fetch("/printers/1", { method: "OPTIONS", headers: foreign }),
    await service.fetch(script, { headers: { range: "bytes=0-9" } }),
    await service.fetch(script, { headers: { "if-none-match": etag } }),
    await service.fetch(script, { headers: { range: "bytes=99999999-" } }),
    await service.fetch("/clients", { method: "PUT" }),
    await service.post("/clients", { name: "A" }, { "sec-fetch-site": "cross-site" }),
    await service.post("/clients", { name: "x".repeat(300_000) }),
    await service.post("/import", { text: "x".repeat(2_000_000) }),
    parsed(await exchange(service.url, postText("/clients", form, "", { host: "evil.example" }))),
  ];

  const first = [200, 200, 404, 200, 200, 200, 405];
  assert.deepEqual(statusesOf(answers), [...first, 206, 304, 416, 405, 403, 413, 503, 421]);
  for (const { status, headers } of answers) assert.deepEqual(lacking(headers), [], `${status}`);
});

test("browsers are told to stay on https where PUBLIC_URL is https, and only there", async (t) => {
  const name = "strict-transport-security";
  const services = [
    await startApp(t, { publicUrl: "https://platen.example" }),
    await startApp(t, { publicUrl: "http://platen.example" }),
    await startApp(t),
  ];

  const pages = await Promise.all(services.map(async ({ fetch }) => (await fetch("/")).headers.get(name)));

  assert.deepEqual(pages, ["max-age=31536000", null, null]);
});
