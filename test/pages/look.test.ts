import assert from "node:assert/strict";
import { describe, type TestContext, test } from "node:test";
import type { Page } from "playwright-core";
import type { TestApp } from "../support/app.ts";
import {
  accessibilityProblems,
  openWide,
  overflows,
  saveScreenshot,
  smallTargets,
  watchProblems,
  withoutBrowser,
} from "../support/browser.ts";
import { deepTest, isDeep, rounds, selectCases, windowVariants } from "../support/depth.ts";
import { driverZip, sixtyModels as models, printerInf } from "../support/drivers/driver-zip.ts";
import { startFilled } from "../support/filled.ts";
import { withOnePrinter } from "../support/printers/one-printer.ts";
import { makePng } from "../support/printers/png.ts";
import { openPage } from "../support/printers/shop-lists.ts";

/** A service with long names and right-to-left names; drivers 2 to 4 have problems. */
const fullService = (t: TestContext) => startFilled(t, fill);

async function fill({ app, fetch, post, addDriver, addPrinter }: TestApp): Promise<void> {
  const name = "Kunde Müller & Söhne Vermögensverwaltungsgesellschaft mbH";
  await post("/clients", { name, notes: "Ask for the key\nat the desk" });
  await post("/clients", { name: "مكتب القاهرة 2" });
  const driver_id = String(await addDriver(driverZip({ models })));
  await addPrinter({ name: "Office", client_id: "1", driver_id });
  await addPrinter({ name: `Long-${"x".repeat(80)}`, client_id: "1", driver_id, address: "10.2.0.17" });
  await addPrinter({ name: "طابعة 3", client_id: "2", driver_id, address: "10.2.0.18" });
  await post("/printers", { name: "Without client", address: "fe80::1234:5678:9abc:def0" });
  await post("/printers", { name: "Bare", client_id: "1", address: "10.2.0.99" });
  await addDriver(driverZip({ catalog: null, version: "2.0.0.0", models: ["Unsigned 1"] }));
  const extra = [{ name: "sub/other.inf", bytes: printerInf({ files: ["gone.dll"] }) }];
  await addDriver(driverZip({ models: ["Incomplete <b>1</b>"], version: "3.0.0.0", extra }));
  const many = Array.from({ length: 12 }, (_, i) => ({
    name: `inf${i}/x${i}.inf`,
    bytes: printerInf({ models: [`Many ${i}`], files: i % 2 ? ["gone.dll"] : [], catalog: null }),
  }));
  await addDriver(driverZip({ models: ["Many A", "Many A (v2.0.1)"], version: "4.0.0.0", extra: many }));
  await app.backups.makeNow();
  await fetch(`/printers/${await addPrinter({ name: "Gone", driver_id })}`, { method: "DELETE" });
}

const pages = [
  ...["/", "/printers", "/printers?new=1&client_id=1", "/printers/1", "/printers/2/edit", "/clients"],
  ...["/clients/1", "/drivers", "/drivers/1", "/drivers/2", "/drivers/3", "/drivers/4", "/packages"],
  ...["/import", "/printers/1/read/install", "/nothing", "/backups"],
  ...["/printers?q=long", "/printers?q=nothing", "/search?q=papyrus"],
  ...["/help", "/help?q=subnets", "/help/limits", "/help/drivers", "/help/licences", "/help/intune"],
];

/** Visible controls, except links. */
function clickable(page: Page): Promise<string[]> {
  return page.evaluate(`[...document.querySelectorAll("button, .button, form:not(.list), input, select, nav, .row-actions")]
    .filter((element) => element.checkVisibility())
    .map((element) => element.outerHTML.slice(0, 80))`) as Promise<string[]>;
}

const openDetails = "document.querySelectorAll('details').forEach((details) => { details.open = true; })";

describe("every page", { skip: withoutBrowser, timeout: 300_000 }, () => {
  // The quick tier checks other pages with axe in the tests of their subjects.
  for (const path of selectCases(pages, 1))
    test(`has no accessibility problem and fits the window: ${path}`, async (t) => {
      const service = await fullService(t);
      const found: string[] = [];

      for (const { colorScheme, width } of windowVariants([1440, 360])) {
        const page = await openPage(t, service, path, { colorScheme, viewport: { width, height: 800 } });
        found.push(...(await accessibilityProblems(page)));
        if (await overflows(page)) found.push(`${colorScheme} ${width}: scrolls sideways`);
        await saveScreenshot(page, `${width}-${colorScheme}${path.replaceAll(/[/?=&]/g, "-")}`);
      }

      assert.deepEqual(found, []);
    });

  for (const width of selectCases([320, 360], 1))
    for (const path of selectCases(pages, 1))
      test(`has targets large enough at ${width} px and for the mouse, and is printed without controls: ${path}`, async (t) => {
        const page = await openPage(t, await fullService(t), path);
        const found = (await smallTargets(page, 24)).map((target) => `in a wide window ${target}`);

        await page.setViewportSize({ width: 700, height: 900 });
        await page.emulateMedia({ media: "print" });
        for (const element of await clickable(page)) found.push(`on paper ${element}`);
        if (!(await page.locator("main h1").isVisible())) found.push("nothing on paper");
        await saveScreenshot(page, `print${path.replaceAll(/[/?=&]/g, "-")}`);
        await page.emulateMedia({ media: "screen" });
        await page.setViewportSize({ width, height: 640 });
        await page.evaluate(openDetails);
        if (await overflows(page)) found.push("scrolls sideways");
        found.push(...(await smallTargets(page, 40)));
        await saveScreenshot(page, `narrow-${width}${path.replaceAll(/[/?=&]/g, "-")}`);

        const isInHelp = (target: string) => path.startsWith("/help") && target.includes('<a href="#');
        const others = found.filter((target) => !isInHelp(target));
        assert.deepEqual(others, []);
      });

  deepTest("is usable with a message or a refused form", async (t) => {
    const service = await fullService(t);
    const found: string[] = [];

    for (const { colorScheme, width } of windowVariants([1440, 320])) {
      const path = "/printers?new=1&client_id=1#new-printer";
      const page = await openPage(t, service, path, { colorScheme, viewport: { width, height: 700 } });
      const inspect = async (name: string) => {
        const where = `${name} ${colorScheme} ${width}`;
        found.push(...(isDeep ? await accessibilityProblems(page) : []));
        if (await overflows(page)) found.push(`${where}: scrolls sideways`);
        await saveScreenshot(page, where.replaceAll(" ", "-"));
      };
      const save = async (name: string, address: string) => {
        await page.getByRole("textbox", { name: "Name" }).fill(name);
        await page.getByLabel("Address").fill(address);
        await page.getByRole("button", { name: "Save printer" }).click();
      };

      await save("A,B", "fe80::1%eth0");
      await page.locator(".problems:focus").waitFor();
      await inspect("refused");
      if (!isDeep) continue;
      await save("Office", "");
      await page.locator("#message > .notice").waitFor();
      await inspect("saved");
      await page.goto(`${service.url}/clients/1`);
      await page.getByText("Delete…").press("Enter");
      await page.getByRole("button", { name: "Delete client" }).click();
      await page.locator("#message > .notice.bad").waitFor();
      await inspect("in-the-way");
    }

    assert.deepEqual(found, []);
  });

  deepTest("of a client is printed as a sheet with its notes, printers and their findings", async (t) => {
    const viewport = { width: 700, height: 900 };
    const page = await openPage(t, await fullService(t), "/clients/1", { viewport, media: "print" });

    const found = await clickable(page);
    const sheet = String(await page.evaluate("document.querySelector('main').innerText"));
    const bare = await page.locator(".printers tbody tr", { hasText: "Bare" }).boundingBox();
    await saveScreenshot(page, "print-client-sheet");

    assert.deepEqual(found, []);
    for (const text of ["Kunde Müller", "Ask for the key\nat the desk", "Office", "10.2.0.17"])
      assert.ok(sheet.includes(text), text);
    assert.match(sheet, /Blocked\s+No driver assigned\. Choose a driver/);
    assert.doesNotMatch(sheet, /Settings|Edit|Delete|Deploy all|Intune|What goes in|anyway|…/);
    assert.ok((bare?.height ?? 99) < 70, `a printer and its reason take two lines: ${bare?.height}`);
  });

  test("is reached with the keyboard, with a visible focus, first on the uncovered skip link", async (t) => {
    const page = await openPage(t, await withOnePrinter(t), "/printers/1");
    const reached: [label: string, outline: string][] = [];

    await page.keyboard.press("Tab");
    const top = await page.evaluate(`(() => {
      const { x, y, width, height } = document.activeElement.getBoundingClientRect();
      return document.elementFromPoint(x + width / 2, y + height / 2).className;
    })()`);
    for (let i = 0; i < rounds(12, 60); i++) {
      reached.push(await focusedLabel(page));
      await page.keyboard.press("Tab");
    }

    const labels = reached.map(([label]) => label);
    const late = ["Edit", "Download .intunewin", "Copy", "Upload icon", "Delete…"];
    const expected = ["Skip to the content", "Printers", ...(isDeep ? late : [])];
    const missing = expected.filter((label) => !labels.includes(label));
    assert.equal(top, "skip");
    assert.deepEqual(missing, [], labels.join(" | "));
    assert.ok(!reached.some(([, outline]) => outline === "none"), reached.join(" | "));
  });
});

/** The label and the outline of the element with the focus; no outline where none has it. */
function focusedLabel(page: Page): Promise<[label: string, outline: string]> {
  return page.evaluate(`(() => {
    const element = document.activeElement;
    if (element === document.body) return ["", ""];
    const label = element.labels?.[0]?.textContent ?? element.textContent ?? "";
    const visible = element.matches(".tabs > input") ? element.nextElementSibling : element;
    return [label.trim().replace(/\\s+/g, " "), getComputedStyle(visible).outlineStyle];
  })()`) as Promise<[string, string]>;
}

describe("Platen in a browser", { skip: withoutBrowser, timeout: 300_000 }, () => {
  const paths = ["/", "/printers/1", "/printers", "/clients", "/drivers", "/packages", "/import"];
  for (const path of selectCases(paths, 1))
    test(`shows its pictures, and the console stays empty: ${path}`, async (t) => {
      const service = await withOnePrinter(t);
      if (path === "/printers/1") await service.upload(`${path}/icon`, makePng(), "icon.png");
      const page = await openWide(t);
      const problems = watchProblems(page, service.url);
      page.on("console", (message) => problems.push(message.text()));

      await page.goto(service.url + path, { waitUntil: "networkidle" });
      const pictures = await page.evaluate<boolean[]>(
        "[...document.images].map(({ naturalWidth }) => naturalWidth > 0)",
      );

      assert.deepEqual(problems, []);
      assert.ok(!pictures.includes(false), "the page's pictures are visible");
      assert.ok(pictures.length > 0 || path !== "/printers/1");
    });
});
