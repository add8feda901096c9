import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, type TestContext, test } from "node:test";
import { startApp } from "../support/app.ts";
import { openWide, overflows, watchProblems, withoutBrowser } from "../support/browser.ts";
import { deepTest, selectCases } from "../support/depth.ts";
import { withOnePrinter } from "../support/printers/one-printer.ts";
import { makePng } from "../support/printers/png.ts";
import { openPage } from "../support/printers/shop-lists.ts";

describe("the keyboard focus", { skip: withoutBrowser, timeout: 300_000 }, () => {
  test("goes first to the uncovered skip link", async (t) => {
    const page = await openPage(t, await startApp(t));

    await page.keyboard.press("Tab");
    const top = await page.evaluate(`(() => {
      const { x, y, width, height } = document.activeElement.getBoundingClientRect();
      return document.elementFromPoint(x + width / 2, y + height / 2).className;
    })()`);

    assert.equal(top, "skip");
  });

  test("stays in the search field while the service does not answer", async (t) => {
    const page = await openPage(t, await startApp(t));
    await page.route("**/search?*", (route) => route.abort());

    await page.keyboard.press("/");
    await page.keyboard.type("Kan");
    await page.getByText("Platen does not respond").waitFor();
    await page.keyboard.type("toor");

    assert.equal(await page.locator("#find").inputValue(), "Kantoor");
  });

  test("opens the permanent deletion on a narrow screen without sideways scrolling", async (t) => {
    const service = await startApp(t);
    await service.post("/printers", { name: "Office", address: "10.0.0.9" });
    await service.fetch("/printers/1", { method: "DELETE" });
    const page = await openPage(t, service, "/", { viewport: { width: 360, height: 740 } });

    await page.getByText("Delete permanently").first().press("Enter");
    await page.getByText("You cannot undo this").waitFor();

    assert.equal(await overflows(page), false);
  });
});

/** Starts another web site with one page. @returns its URL */
async function startSite(t: TestContext, html: string): Promise<string> {
  const server = createServer((_, response) => response.setHeader("Content-Type", "text/html").end(html));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => server.closeAllConnections());
  t.after(() => server.close());
  return `http://localhost:${(server.address() as AddressInfo).port}/`;
}

describe("Platen in a browser", { skip: withoutBrowser, timeout: 300_000 }, () => {
  const paths = ["/", "/printers/1", "/printers", "/clients", "/drivers", "/packages", "/import"];
  for (const path of selectCases(paths, 1))
    test(`works isolated and without browser permissions, and the console stays empty: ${path}`, async (t) => {
      const service = await withOnePrinter(t);
      if (path === "/printers/1") await service.upload(`${path}/icon`, makePng(), "icon.png");
      const page = await openWide(t);
      const problems = watchProblems(page, service.url);
      page.on("console", (message) => problems.push(message.text()));

      await page.goto(service.url + path, { waitUntil: "networkidle" });
      const [isIsolated, camera, pictures] = await page.evaluate<[boolean, string, boolean[]]>(`(async () => [
        crossOriginIsolated,
        (await navigator.permissions.query({ name: "camera" })).state,
        [...document.images].map(({ naturalWidth }) => naturalWidth > 0),
      ])()`);

      assert.deepEqual(problems, []);
      assert.deepEqual([isIsolated, camera], [true, "denied"]);
      assert.ok(!pictures.includes(false), "the page's pictures are visible");
      assert.ok(pictures.length > 0 || path !== "/printers/1");
    });

  deepTest("cannot be framed by another web site, which cannot access a window that it opened", async (t) => {
    const { url } = await startApp(t);
    const evil = await startSite(
      t,
      `<iframe src="${url}/printers"></iframe><img src="${url}/favicon.ico">
     <button onclick="ours = window.open('${url}/printers')">open</button>`,
    );
    const page = await openWide(t);

    await page.goto(evil, { waitUntil: "networkidle" });
    const frames = page.frames().slice(1);
    const framed = await Promise.all(frames.map((frame) => frame.content().catch(() => "")));
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
});
