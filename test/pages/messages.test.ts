import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Page } from "playwright-core";
import { startApp } from "../support/app.ts";
import {
  isFocusIn,
  isFocusLost,
  overflows,
  saveScreenshot,
  waitUntilDrawn,
  watchProblems,
  withoutBrowser,
} from "../support/browser.ts";
import { deepTest, rounds, selectCases } from "../support/depth.ts";
import { withOnePrinter } from "../support/printers/one-printer.ts";
import { makePng } from "../support/printers/png.ts";
import { chooseAction, openPage, rowBoxes, startShop } from "../support/printers/shop-lists.ts";

const inBrowser = { skip: withoutBrowser, timeout: 300_000 };
const message = (page: Page) => page.locator("#message > .notice");
const icon = { name: "icon.png", mimeType: "image/png", buffer: makePng() };

/** Fills and sends the form for a new client. */
async function saveClient(page: Page, name: string): Promise<void> {
  await page.getByRole("textbox", { name: "Name required" }).fill(name);
  await page.getByRole("button", { name: "Save client" }).click();
}

/** Fills and sends the form for a new printer. */
async function savePrinter(page: Page, name: string): Promise<void> {
  await page.getByRole("textbox", { name: "Name" }).fill(name);
  await page.getByLabel("Address").fill("10.0.0.8");
  await page.getByRole("button", { name: "Save printer" }).click();
}

/** Waits for a text inside an element, which has the focus or gets it. */
async function expectFocused(page: Page, text: string | RegExp, inside = "#message"): Promise<void> {
  await page.locator(inside).getByText(text).first().waitFor();
  assert.ok(await isFocusIn(page, inside), `${text}: the focus is in ${inside}`);
}

describe("a message in a browser", inBrowser, () => {
  deepTest("names each kind of change and takes the focus, which never falls back to the page", async (t) => {
    const service = await withOnePrinter(t);
    await service.post("/clients", { name: "Alpha" });
    const fields = { name: "Office", address: "10.0.0.9", client_id: "1", driver_id: "1" };
    await service.post("/printers/1", fields);
    const page = await openPage(t, service, "/printers?new=1&client_id=1&driver_id=1#new-printer");
    const problems = watchProblems(page, service.url);

    await savePrinter(page, "A,B");
    await expectFocused(page, "cannot contain", ".problems");
    await savePrinter(page, "Second");
    await expectFocused(page, "Saved: Second");
    const next = ["#f-client_id", "#f-driver_id", "#f-name"].map((field) => page.locator(field).inputValue());
    assert.deepEqual(await Promise.all(next), ["1", "1", ""], "the next one has the same client and driver");
    await saveScreenshot(page, "message-saved");
    await chooseAction(page, "Second", "Delete");
    await expectFocused(page, "Deleted: Second");
    await page.goto(`${service.url}/printers/1`);
    await page.getByLabel("Icon file").setInputFiles(icon);
    await page.getByRole("button", { name: "Upload icon" }).click();
    await expectFocused(page, "Saved: icon of Office");
    await page.getByRole("button", { name: "Delete icon" }).click();
    await expectFocused(page, "Deleted: icon of Office");
    await (await service.fetch("/printers/1/packages/rmm")).arrayBuffer();
    await page.goto(`${service.url}/printers/1/edit`);
    await page.getByLabel("Address").fill("10.0.0.77");
    await page.keyboard.press("Enter");
    await expectFocused(page, "Download and deploy the new package.");
    await page.goto(`${service.url}/clients/1`);
    await page.getByText("Delete…").click();
    await page.getByRole("button", { name: "Delete client" }).click();
    await expectFocused(page, "The client “Alpha” was not deleted");
    await page.locator("#message").getByRole("link", { name: "Office" }).click();

    assert.equal(page.url(), `${service.url}/printers/1`);
    assert.equal(service.app.store.printers.list().length, 1);
    assert.deepEqual(problems, []);
  });

  for (const how of selectCases(["Escape", "its button"] as const, 1))
    test(`is closed by ${how} and returns the focus`, async (t) => {
      const page = await openPage(t, await withOnePrinter(t), "/printers/1");
      await page.getByLabel("Icon file").setInputFiles(icon);

      await page.getByRole("button", { name: "Upload icon" }).press("Enter");
      await message(page).waitFor();
      const isFocused = await isFocusIn(page, "#message");
      if (how === "Escape") await page.keyboard.press("Escape");
      else await page.getByRole("button", { name: "Close this message" }).press("Enter");
      await message(page).waitFor({ state: "detached" });

      assert.ok(isFocused);
      assert.ok(await isFocusIn(page, ".icon-form button"));
    });

  deepTest(
    "of a URL takes the focus, never covers the focused element at 360 px, and is not shown again after a reload",
    async (t) => {
      const service = await withOnePrinter(t);
      const viewport = { width: 360, height: 640 };
      const page = await openPage(t, service, "/printers/1?done=redeploy&q=x", { viewport });
      const covered = () =>
        page.evaluate(`(() => {
        const element = document.activeElement;
        if (element === document.body || element.closest("#message")) return "";
        const { left, right, top, bottom } = element.getBoundingClientRect();
        const over = document.querySelector("#message").getBoundingClientRect();
        const isUnder = bottom > over.top + 1 && top < over.bottom && right > over.left && left < over.right;
        return isUnder ? element.outerHTML.slice(0, 100) : "";
      })()`);

      await expectFocused(page, "Saved: Office");
      const address = page.url();
      const found = new Set<unknown>();
      for (let i = 0; i < rounds(15, 60); i++) {
        await page.keyboard.press("Tab");
        found.add(await covered());
      }
      await page.reload();

      assert.equal(address, `${service.url}/printers/1?q=x`);
      assert.deepEqual([...found], [""]);
      assert.equal(await message(page).count(), 0);
    },
  );

  test("is shown for an error of the network or a proxy, typed text stays, and the form can be sent again", async (t) => {
    const page = await openPage(t, await startApp(t), "/clients");
    const answer = { contentType: "text/html", body: "<!doctype html><title>x</title><h1>nginx</h1>" };

    for (const [status, text] of [
      [413, "A proxy in front of Platen refused the file (413)"],
      [504, "does not respond (504)"],
      [500, "answers with an error (500)"],
      [0, "Platen does not respond. Your input is still here."],
    ] as const) {
      await page.route("**/clients", (route) =>
        status === 0 ? route.abort() : route.fulfill({ ...answer, status }),
      );
      await saveClient(page, "Typed");
      await page.locator("#message > .notice.bad").getByText(text).waitFor();

      assert.equal(await page.getByRole("textbox", { name: "Name required" }).inputValue(), "Typed");
      assert.equal(await isFocusLost(page), false);
      assert.equal(await page.locator("#client-list").count(), 1, "the page is whole");
    }
    await page.unrouteAll();
    await page.evaluate(`new MutationObserver(() => {
      const isSaid = document.querySelector("#message").textContent.includes("Saved: Typed");
      if (isSaid) document.body.dataset.seen ??= String(document.activeElement.closest("#message") !== null);
    }).observe(document.body, { childList: true, subtree: true })`);
    await page.getByRole("button", { name: "Save client" }).click();
    await page.locator("body[data-seen]").waitFor();

    assert.equal(await page.getAttribute("body", "data-seen"), "true", "the focus comes with the message");
  });

  deepTest("is shown for a slow request, which can be cancelled", async (t) => {
    const service = await startApp(t);
    const page = await openPage(t, service, "/clients");
    const { clients } = service.app.store;
    t.mock.method(clients, "add", () => new Promise<number>((resolve) => t.after(() => resolve(1))));

    await saveClient(page, "Typed");
    await page.getByText("Platen is still working.").waitFor();
    await page.getByRole("button", { name: "Cancel" }).click();
    await page.getByText("Cancelled. Reload the page").waitFor();

    assert.equal(await page.getByText("Platen is still working.").count(), 0);
    assert.equal(await isFocusLost(page), false);
    assert.ok(await page.getByRole("button", { name: "Save client" }).isEnabled());
  });

  deepTest(
    "about a service that does not answer fits the request, and disappears when it answers again",
    async (t) => {
      const page = await openPage(t, await withOnePrinter(t), "/printers");
      const state = page.getByLabel("State", { exact: true });
      await page.route("**/*", (route) => route.abort());

      await state.selectOption("Ready");
      await expectFocused(page, "Platen does not respond. The list is as it was.");
      await chooseAction(page, "Office", "Delete");
      await expectFocused(page, "Platen did not confirm the deletion. Reload the page to check.");
      await page.keyboard.press("Escape");
      await page.getByLabel("Choose Office").check();
      await page.locator(".bulk summary").getByText("Client", { exact: true }).click();
      await page.getByRole("button", { name: "Show preview" }).click();
      await expectFocused(page, "Platen did not confirm the change. Your rows are still chosen.");
      await page.keyboard.press("/");
      await page.keyboard.type("Kan");
      await page.getByText("Platen does not respond").waitFor();
      await page.keyboard.type("toor");
      const searched = await page.locator("#find").inputValue();
      await page.unroute("**/*");
      await state.selectOption("Blocked");
      await message(page).waitFor({ state: "detached" });
      await page.locator("input[name=ids]").waitFor({ state: "detached" });

      assert.equal(searched, "Kantoor", "the focus stays in the search");
    },
  );
});

/** Elements of the bar, its open sheet and the message that something else covers. */
function coveredOf(page: Page): Promise<string[]> {
  return page.evaluate(`[...document.querySelectorAll(".bulk > .chosen, .bulk summary, .bulk .sheet > *, #message p, #message button")]
    .filter((element) => element.checkVisibility())
    .filter((element) => {
      const { left, top, width, height } = element.getBoundingClientRect();
      const seen = document.elementFromPoint(left + width / 2, top + height / 2);
      return !seen || !(element.contains(seen) || seen.contains(element)) || seen === document.body;
    })
    .map((element) => element.outerHTML.slice(0, 80))`) as Promise<string[]>;
}

describe("a message and the bar of chosen rows", inBrowser, () => {
  for (const [width, height] of Object.entries({ 320: 568, 360: 640, 1440: 900 }))
    deepTest(`are both uncovered at ${width} px, at every scroll position and for short lists`, async (t) => {
      const service = await startShop(t);
      const page = await openPage(t, service, "/printers", { viewport: { width: Number(width), height } });
      const found: string[] = [];
      const inspect = async (where: string) => {
        await waitUntilDrawn(page);
        for (const text of await coveredOf(page)) found.push(`${where}: ${text}`);
        if (await overflows(page)) found.push(`${where}: scrolls sideways`);
        await saveScreenshot(page, `${width}-message-and-bar-${where.replaceAll(" ", "-")}`);
      };

      for (const [path, moved, client] of [
        ["/printers", 2, "Zeta"],
        ["/printers?q=B%C3%BCro+11", 1, "Alpha"],
      ] as const) {
        await page.goto(service.url + path);
        for (let i = 0; i < moved; i++) await rowBoxes(page).nth(i).check();
        await page.locator(".bulk summary").getByText("Client", { exact: true }).click();
        await page.getByLabel("Move to").selectOption(client);
        await page.getByRole("button", { name: "Show preview" }).click();
        await page.getByRole("button", { name: /^Change \d+ printers?$/ }).click();
        await message(page).getByText(`moved to ${client}`).waitFor();
        await rowBoxes(page).first().check();
        await inspect(`top of ${moved}`);
        await page.evaluate("window.scrollTo(0, document.documentElement.scrollHeight / 2)");
        await inspect(`middle of ${moved}`);
        await page.evaluate("window.scrollTo(0, document.documentElement.scrollHeight)");
        await inspect(`end of ${moved}`);
        await page.locator(".bulk summary").getByText("Download", { exact: true }).click();
        await inspect(`sheet of ${moved}`);
      }

      assert.deepEqual(found, []);
    });
});
