import assert from "node:assert/strict";
import { test } from "node:test";
import { download, downloadCounts, startWithPrinter } from "../support/audit/counted.ts";
import { until } from "../support/until.ts";

test("a download in parts counts once, with the part that contains the last byte", async (t) => {
  const { app, printer } = await startWithPrinter(t);
  const path = `/printers/${printer}/packages/mdm`;
  const size = Number((await app.fetch(path, { method: "HEAD" })).headers.get("content-length"));
  const part = async (range: string) => {
    await (await app.fetch(path, { headers: { range: `bytes=${range}` } })).arrayBuffer();
    return downloadCounts(app, printer);
  };

  const parts = [await part("100-299"), await part("0-150"), await part(`151-${size - 2}`)];
  await part(`${size - 10}-`);
  await until(() => app.app.deployments.lastDeployed(printer) !== undefined);

  assert.deepEqual(parts.flat(), []);
  assert.deepEqual(await downloadCounts(app, printer), ["mdm script 1"]);
});

test("a download that a page of another site starts in a browser does not count", async (t) => {
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

  // Downloads are counted in order, so the cross-site ones would be counted by now.
  assert.deepEqual(await downloadCounts(app, printer), ["install browser 3"]);
});
