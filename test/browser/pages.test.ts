import assert from "node:assert/strict";
import { describe, type TestContext, test } from "node:test";
import { startApp } from "../support/app.ts";
import {
  accessibilityProblems,
  openBrowser,
  overflows,
  saveScreenshot,
  watchProblems,
  withoutBrowser,
} from "../support/browser.ts";
import { isDeep, windowVariants } from "../support/depth.ts";
import { driverZip, sixtyModels as models, printerInf } from "../support/drivers/driver-zip.ts";

/** The pages of the quick tier. It checks the others in deploy-pages, driver-pages, guarded, narrow and undo. */
const quickPages = [
  "/printers",
  "/printers/1/edit",
  "/clients",
  "/drivers/3",
  "/drivers/4",
  "/packages",
  "/backups",
  "/nothing",
];

describe("an operator in a browser", { skip: withoutBrowser, timeout: 300_000 }, () => {
  test("can use every page, light and dark, wide and at 360 px", async (t) => {
    const { app, url, post, addDriver, addPrinter } = await startApp(t);
    await post("/clients", {
      name: "Kunde Müller & Söhne Vermögensverwaltungsgesellschaft mbH",
      notes: "Frau Özdemir, 2nd floor",
    });
    const clean = await addDriver(driverZip({ models }));
    await addDriver(driverZip({ catalog: null, version: "2.0.0.0", models: ["Unsigned 1"] }));
    await addDriver(
      driverZip({
        models: ["Incomplete <b>1</b>"],
        version: "3.0.0.0",
        extra: [{ name: "sub/other.inf", bytes: printerInf({ files: ["gone.dll"] }) }],
      }),
    );
    const many = Array.from({ length: 12 }, (_, i) => ({
      name: `inf${i}/x${i}.inf`,
      bytes: printerInf({ models: [`Many ${i}`], files: i % 2 ? ["gone.dll"] : [], catalog: null }),
    }));
    await addDriver(driverZip({ models: ["Many A", "Many A (v2.0.1)"], version: "4.0.0.0", extra: many }));
    for (const [i, name] of ["Office", "Warehouse 2nd floor", `Very-long-name-${"x".repeat(60)}`].entries()) {
      await addPrinter({
        name,
        client_id: i < 2 ? "1" : "",
        driver_id: String(clean),
        address: `10.0.0.${i + 1}`,
      });
    }
    await post("/printers", { name: "Without driver", address: "fe80::1234:5678:9abc:def0" });
    await app.backups.makeNow();
    const pages = [
      "/",
      "/printers",
      "/printers/1",
      "/printers/1/edit",
      "/clients",
      "/clients/1",
      "/drivers",
      "/drivers/1",
      "/drivers/2",
      "/drivers/3",
      "/drivers/4",
      "/packages",
      "/backups",
      "/nothing",
    ];
    const found: string[] = [];

    for (const { colorScheme, width } of windowVariants([1440, 360]))
      found.push(...(await faultsOf(t, url, isDeep ? pages : quickPages, colorScheme, width)));
    if (!isDeep) found.push(...(await faultsOf(t, url, ["/printers"], "light", 1440)));

    assert.deepEqual(found, []);
  });

  test("reaches everything with the keyboard, with a visible focus", async (t) => {
    const { url, addPrinter } = await startApp(t);
    await addPrinter();
    const page = await (await openBrowser(t, { viewport: { width: 1440, height: 900 } })).newPage();
    await page.goto(`${url}/printers/1`);

    const reached = new Set<string>();
    for (let i = 0; i < 60; i++) {
      await page.keyboard.press("Tab");
      const [label, outline] = (await page.evaluate(`(() => {
        const element = document.activeElement;
        const label = element.labels?.[0]?.textContent ?? element.textContent ?? "";
        const visible = element.matches(".tabs > input") ? element.nextElementSibling : element;
        return element === document.body ? ["Skip to the content Platen", ""] : [label.trim().replace(/\\s+/g, " "), getComputedStyle(visible).outlineStyle];
      })()`)) as [string, string];
      reached.add(label);
      if (!label.startsWith("Skip to the content Platen")) assert.notEqual(outline, "none", label);
    }

    for (const label of [
      "Skip to the content",
      "Printers",
      "Edit",
      "Download .intunewin",
      "Copy",
      "Upload icon",
      "Delete…",
    ]) {
      assert.ok(reached.has(label), `${label} is not reached: ${[...reached].join(" | ")}`);
    }
  });
});

/** Accessibility problems, sideways scrolling and console errors of pages. */
async function faultsOf(
  t: TestContext,
  url: string,
  pages: readonly string[],
  colorScheme: "light" | "dark",
  width: number,
): Promise<string[]> {
  const found: string[] = [];
  const browser = await openBrowser(t, {
    colorScheme,
    viewport: { width, height: 800 },
    reducedMotion: "reduce",
  });
  const page = await browser.newPage();
  const problems = watchProblems(page, url);
  for (const path of pages) {
    await page.goto(url + path);
    const where = `${colorScheme} ${width} ${path}`;
    for (const problem of await accessibilityProblems(page)) found.push(`${where}: ${problem}`);
    if (await overflows(page)) found.push(`${where}: scrolls sideways`);
    await saveScreenshot(page, `${width}-${colorScheme}${path.replaceAll("/", "-")}`);
  }
  return [...found, ...problems];
}
