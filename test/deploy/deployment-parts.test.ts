import assert from "node:assert/strict";
import { test } from "node:test";
import { counted, download, startWithPrinter } from "../support/audit/counted.ts";
import { until } from "../support/until.ts";

test("a download in parts counts once, with the part that holds its last byte", async (t) => {
  const { app, printer } = await startWithPrinter(t);
  const path = `/printers/${printer}/packages/mdm`;
  const size = Number((await app.fetch(path, { method: "HEAD" })).headers.get("content-length"));
  const part = async (range: string) => {
    await (await app.fetch(path, { headers: { range: `bytes=${range}` } })).arrayBuffer();
    return counted(app, printer);
  };

  const parts = [await part("100-299"), await part("0-150"), await part(`151-${size - 2}`)];
  await part(`${size - 10}-`);
  await until(() => app.app.deployments.latest(printer) !== undefined);

  assert.deepEqual(parts.flat(), []);
  assert.deepEqual(await counted(app, printer), ["mdm script 1"]);
});

test("what a page of another site lets a browser fetch counts for nothing", async (t) => {
  const { app, printer } = await startWithPrinter(t);
  const path = `/printers/${printer}/scripts/install`;
  const { host } = new URL(app.url);
  const browser = { "user-agent": "Mozilla/5.0 (X11; Linux x86_64) Chrome/130", "accept-language": "en" };
  const foreign: Record<string, string>[] = [
    { "sec-fetch-site": "cross-site" },
    { "sec-fetch-site": "same-site", referer: `${app.url}/printers` },
    { origin: "http://elsewhere.test" },
    { referer: "http://elsewhere.test/" },
    { referer: `http://elsewhere.test/${host}` },
    {},
  ];
  const own: Record<string, string>[] = [
    { "sec-fetch-site": "same-origin" },
    { "sec-fetch-site": "none" },
    { referer: `${app.url}/printers/${printer}` },
  ];

  for (const headers of foreign)
    await (await app.fetch(path, { headers: { ...browser, ...headers } })).arrayBuffer();
  for (const headers of own) await download(app, path, { ...browser, ...headers });

  // Downloads are counted in their order: those from elsewhere would be in it.
  assert.deepEqual(await counted(app, printer), ["install browser 3"]);
});
