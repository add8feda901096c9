import assert from "node:assert/strict";
import { describe, type TestContext, test } from "node:test";
import type { Page } from "playwright-core";
import {
  accessibilityProblems,
  openBrowser,
  overflows,
  pasteText,
  saveScreenshot,
  watchProblems,
  wide,
  withoutBrowser,
} from "../support/browser.ts";
import { textOf } from "../support/deploy/answers.ts";
import { deepTest, isDeep, selectCases, windowVariants } from "../support/depth.ts";
import { startShop } from "../support/printers/shop.ts";
import { until } from "../support/until.ts";

/** Needs less time to be drawn. */
const small = { width: 480, height: 360 };

/** Opens a page of a service with four printers. */
async function open(t: TestContext, path: string, options = {}) {
  const service = await startShop(t);
  const browser = await openBrowser(t, { ...wide, acceptDownloads: true, ...options });
  await browser.grantPermissions(["clipboard-write"]);
  const page = await browser.newPage();
  const problems = watchProblems(page, service.url);
  await page.goto(service.url + path);
  return { ...service, page, problems };
}

describe("deploying in a browser", { skip: withoutBrowser, timeout: 300_000 }, () => {
  test("a printer’s page has three equal cards, and one click shows and copies the fields for Intune", async (t) => {
    const { page, problems } = await open(t, "/printers/1");

    const cards = await page.locator(".card").all();
    const titles = await page.locator(".card h3").allInnerTexts();
    const boxes = await Promise.all(cards.map((card) => card.boundingBox()));
    const buttons = await Promise.all(cards.map((card) => card.locator("a.button:visible").allInnerTexts()));
    await page.getByText("Fields for Intune").click();
    const groups = await page.locator("#card-mdm h4:not(.apart *)").allInnerTexts();
    const labels = await page
      .locator("#card-mdm dl.values > div:not(.apart *)")
      .evaluateAll((rows) => rows.map((row) => row.querySelector("dt")?.textContent?.trim()));
    const copyButtons = await page.locator("#card-mdm button[data-copy]:visible").all();
    const values = await Promise.all(
      copyButtons.map(async (button) =>
        page.locator(`#${await button.getAttribute("data-copy")}`).textContent(),
      ),
    );
    for (const [i, button] of selectCases([...copyButtons.entries()], 3)) {
      await button.click();
      await button.getByText("Copied").waitFor();
      await until(async () => values[i] === (await pasteText(page)));
    }
    await saveScreenshot(page, "1440-deploy");
    problems.push(...(await accessibilityProblems(page)));

    const sides = boxes.map((box) => [box?.y, box?.width, box?.height].map((side) => Math.round(side ?? 0)));
    assert.deepEqual(titles, ["Publish to Intune", "Intune by hand", "RMM and scripts"]);
    assert.equal(new Set(sides.map(String)).size, 1);
    assert.deepEqual(buttons, [["Download publish.ps1"], ["Download .intunewin"], ["Download ZIP"]]);
    assert.deepEqual(groups, [
      ...["App information", "Program", "Requirements", "Detection rules"],
      ...["Dependencies", "Supersedence", "Assignments"],
    ]);
    assert.deepEqual(labels, [
      ...["Name", "Description", "Publisher", "App Version", "Notes", "Logo"],
      ...["Install command", "Uninstall command", "Installation time required (mins)"],
      ...["Allow available uninstall", "Install behavior", "Device restart behavior", "Return codes"],
      ...["Operating system architecture", "Minimum operating system"],
      ...["Rules format", "Script file", "Run script as 32-bit process on 64-bit clients"],
      ...["Enforce script signature check and run script silently", "Add", "Add"],
      ...["Required", "Available for enrolled devices", "Uninstall"],
      ...["End user notifications", "Delivery optimization priority"],
    ]);
    const [all = "", ...single] = values.map((value) => value ?? "");
    assert.match(
      all,
      /^Name: Office \(Kunde Müller\)\nDescription: Printer Office of Kunde Müller\nPublisher: Ricoh\n/,
    );
    assert.match(all, /\nInstall command: powershell\.exe .*-File \.\\install\.ps1\n/);
    assert.match(single[4] ?? "", /^platen:[0-9a-f]{12}:printer:1 revision:[0-9a-f]{12}$/);
    assert.ok(single.includes("detect-office.ps1"));
    assert.equal(single.length, all.split("\n").length, "one button for each value");
    assert.deepEqual(problems, []);
  });

  deepTest("the guide of the RMM that was opened last stands on the card of every printer", async (t) => {
    const { url, page, problems } = await open(t, "/printers/1", { viewport: small });
    const before = await page.locator("#card-rmm > [data-guide]").count();

    await page.getByText("Guides, commands and scripts").click();
    await page.getByText("Tactical RMM", { exact: true }).click();
    await page.goto(`${url}/clients/1`);

    const guides = await page.locator("#card-rmm > [data-guide] > summary").allInnerTexts();
    assert.equal(before, 0);
    assert.deepEqual(guides, ["Tactical RMM"]);
    assert.equal(await page.locator("#card-rmm > .more:last-child [data-guide='Tactical RMM']").count(), 0);
    assert.deepEqual(problems, []);
  });

  deepTest("without JavaScript the cards unfold, and buttons without a function are hidden", async (t) => {
    const { page } = await open(t, "/clients/1", { javaScriptEnabled: false, viewport: small });

    for (const title of ["Permission and parameters", "Fields for Intune", "Guides, commands and scripts"])
      await page.getByText(title).click();

    await page.getByText("-WhatIf").waitFor();
    await page.getByText("Installation time required (mins)", { exact: true }).waitFor();
    await page.getByText("URL of the install script").waitFor();
    assert.equal(await page.getByRole("button", { name: "Copy" }).count(), 0);
  });

  deepTest(
    "an address can name the tab of a driver’s page, and arrow keys and clicks open the others alone",
    async (t) => {
      const { page, problems } = await open(t, "/drivers/1?tab=deploy", { viewport: small });
      const visibleTabs = () => page.locator(".tab:visible > h2").allTextContents();

      const seen = [await visibleTabs()];
      await page.locator("#tab-deploy").press("ArrowRight");
      seen.push(await visibleTabs());
      await page.locator(".tabs > label", { hasText: "Printers" }).click();
      seen.push(await visibleTabs());

      assert.deepEqual(seen, [["Deploy"], ["INF and model"], ["Printers"]]);
      assert.deepEqual(problems, []);
    },
  );
});

test("downloads that would be refused are not offered, but their remedy is; those that will fail are folded", async (t) => {
  const { app, fetch } = await startShop(t);
  const offer = /href="[^"]*\/(?:packages\/(?:mdm|rmm)|scripts\/)/;
  const page = (id: number) => textOf(fetch(`/printers/${id}?check=1`));
  const stateOf = async (id: number) => {
    const text = await page(id);
    assert.doesNotMatch(text, offer);
    return text.slice(text.indexOf('class="downloaded state-line"')).split("</section>")[0] ?? "";
  };

  const [unsigned, incomplete, bare] = [await page(2), await stateOf(3), await stateOf(4)];
  await app.store.blobs.remove("drivers", app.store.drivers.get(1).sha256);
  const [gone, client] = [await stateOf(1), await fetch("/clients/1?check=1")];

  const [shown = "", folded = ""] = unsigned.split("<summary>Download anyway</summary>");
  assert.match(shown, /state-line[\s\S]*Unsigned: 64-bit Windows will refuse this driver/);
  assert.doesNotMatch(shown, offer);
  assert.match(folded, offer);
  assert.match(incomplete, /has no model[\s\S]*href="\/drivers\/3"/);
  assert.match(bare, /No driver assigned[\s\S]*href="\/printers\/4\/edit#f-driver_id"/);
  assert.equal(client.status, 200);
  assert.match(gone, /missing on the server\. Upload driver\.zip again\.[\s\S]*Upload driver/);
});

/** The deep tier also opens the longest page. */
const paths = [
  ...["/printers/4", "/printers/1", "/printers/2", "/clients/1", "/drivers/2", "/printers/1/read/detect"],
  ...(isDeep ? ["/printers/1/read/publish"] : []),
];

describe("pages about deployment in a browser", { skip: withoutBrowser, timeout: 300_000 }, () => {
  for (const { colorScheme, width } of windowVariants([1440, 320]))
    for (const path of selectCases(paths, 1))
      deepTest(`are accessible, ${path}, ${colorScheme}, at ${width} px`, async (t) => {
        const viewport = { width, height: 900 };
        const { page, problems } = await open(t, path, { colorScheme, viewport, reducedMotion: "reduce" });

        await page.evaluate("for (const fold of document.querySelectorAll('details')) fold.open = true");
        const faults = await faultsOfTabs(page);
        await saveScreenshot(page, `${width}-${colorScheme}-deploy${path.replaceAll("/", "-")}`);

        assert.deepEqual([...faults, ...problems], []);
      });
});

/** Problems of a page with each of its tabs open. In the quick tier, axe checks all tabs open at once. */
async function faultsOfTabs(page: Page): Promise<string[]> {
  const tabs = await page.locator(".tabs > label").all();
  const found: string[] = [];
  for (let i = 0; i < Math.max(1, tabs.length); i++) {
    await tabs[i]?.click();
    if (isDeep) found.push(...(await accessibilityProblems(page)));
    found.push(...(await smallTargets(page)));
    if (await overflows(page)) found.push(`tab ${i} scrolls sideways`);
  }
  if (isDeep) return found;
  await page.evaluate("for (const tab of document.querySelectorAll('.tab')) tab.style.display = 'block'");
  return [...found, ...(await accessibilityProblems(page))];
}

/** Buttons that are too low: below 40 px in a narrow window, below 24 px in others. */
function smallTargets(page: Page): Promise<string[]> {
  const least = (page.viewportSize()?.width ?? 0) < 640 ? 40 : 24;
  return page.evaluate(`[...document.querySelectorAll("main button.copy, .deploy .button")]
    .map((button) => [button.textContent, button.getBoundingClientRect()])
    .filter(([, { width, height }]) => width > 0 && height > 0 && height < ${least})
    .map(([text, { height }]) => text + " is " + height + " px high")`) as Promise<string[]>;
}
