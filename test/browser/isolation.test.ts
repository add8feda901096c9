import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type TestContext, test } from "node:test";
import { startApp } from "../support/app.ts";
import { openWide, withoutBrowser } from "../support/browser.ts";
import { makePng } from "../support/printers/png.ts";

/** Starts another web site with one page. @returns its URL */
async function startSite(t: TestContext, html: string): Promise<string> {
  const server = createServer((_, response) => response.setHeader("Content-Type", "text/html").end(html));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => server.closeAllConnections());
  t.after(() => server.close());
  return `http://localhost:${(server.address() as AddressInfo).port}/`;
}

test("pages work isolated and without browser permissions, and the console stays empty", {
  skip: withoutBrowser,
}, async (t) => {
  const service = await startApp(t);
  const id = await service.addPrinter();
  await service.upload(`/printers/${id}/icon`, makePng(), "icon.png");
  const page = await openWide(t);
  const consoleTexts: string[] = [];
  page.on("console", (message) => consoleTexts.push(message.text()));
  page.on("pageerror", (error) => consoleTexts.push(error.message));

  for (const path of ["/", "/printers", "/clients", "/drivers", "/import", "/packages", `/printers/${id}`]) {
    await page.goto(service.url + path, { waitUntil: "networkidle" });
  }
  const isIsolated = await page.evaluate("crossOriginIsolated");
  const camera = await page.evaluate(
    "navigator.permissions.query({ name: 'camera' }).then(({ state }) => state)",
  );
  const pictures = await page.evaluate<boolean[]>(
    "[...document.images].map(({ naturalWidth }) => naturalWidth > 0)",
  );

  assert.deepEqual(consoleTexts, []);
  assert.equal(isIsolated, true);
  assert.equal(camera, "denied");
  assert.ok(pictures.length > 0 && !pictures.includes(false), "the pages' pictures are visible");
});

test("another web site cannot frame Platen, and cannot access a window that it opened", {
  skip: withoutBrowser,
}, async (t) => {
  const service = await startApp(t);
  const evil = await startSite(
    t,
    `<iframe src="${service.url}/printers"></iframe><img src="${service.url}/favicon.ico">
     <button onclick="ours = window.open('${service.url}/printers')">open</button>`,
  );
  const page = await openWide(t);

  await page.goto(evil, { waitUntil: "networkidle" });
  const framed = await Promise.all(
    page
      .frames()
      .slice(1)
      .map((frame) => frame.content().catch(() => "")),
  );
  const [popup] = await Promise.all([page.waitForEvent("popup"), page.click("button")]);
  await popup.waitForLoadState();
  const isOutOfReach = await page.evaluate("ours.closed");
  const width = await page.evaluate("document.images[0].naturalWidth");

  assert.equal(framed.length, 1);
  assert.doesNotMatch(framed[0] ?? "", /Platen/);
  assert.match(await popup.content(), /<h1>Printers/);
  assert.equal(await popup.evaluate("window.opener"), null);
  assert.deepEqual([isOutOfReach, width], [true, 0]);
});
