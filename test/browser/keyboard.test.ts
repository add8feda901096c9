import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { startApp } from "../support/app.ts";
import { openWide, overflows, withoutBrowser } from "../support/browser.ts";

describe("the keyboard focus", { skip: withoutBrowser, timeout: 300_000 }, () => {
  test("is in the message as soon as the message is visible", async (t) => {
    const { url } = await startApp(t);
    const page = await openWide(t);
    await page.goto(`${url}/clients`);
    await page.evaluate(`new MutationObserver(() => {
      const isSaid = document.querySelector("#message").textContent.includes("Papyrus GmbH");
      if (isSaid) document.body.dataset.seen ??= String(document.activeElement.closest("#message") !== null);
    }).observe(document.body, { childList: true, subtree: true })`);

    await page.getByRole("textbox", { name: "Name required" }).fill("Papyrus GmbH");
    await page.getByRole("button", { name: "Save client" }).click();
    await page.locator("#message").getByText("Papyrus GmbH").waitFor();

    assert.equal(await page.getAttribute("body", "data-seen"), "true");
  });

  test("goes first to the uncovered skip link, and stays in the search field while the service does not answer", async (t) => {
    const { url } = await startApp(t);
    const page = await openWide(t);
    await page.goto(url);
    await page.route("**/search?*", (route) => route.abort());

    await page.keyboard.press("Tab");
    const top = await page.evaluate(`(() => {
      const { x, y, width, height } = document.activeElement.getBoundingClientRect();
      return document.elementFromPoint(x + width / 2, y + height / 2).className;
    })()`);
    await page.keyboard.press("/");
    await page.keyboard.type("Kan");
    await page.getByText("Platen does not respond").waitFor();
    await page.keyboard.type("toor");

    assert.equal(top, "skip");
    assert.equal(await page.locator("#find").inputValue(), "Kantoor");
  });

  test("opens the permanent deletion on a narrow screen without sideways scrolling", async (t) => {
    const { url, fetch, addPrinter } = await startApp(t);
    await fetch(`/printers/${await addPrinter()}`, { method: "DELETE" });
    const page = await openWide(t, { viewport: { width: 360, height: 740 } });
    await page.goto(url);

    await page.getByText("Delete permanently").first().focus();
    await page.keyboard.press("Enter");
    await page.getByText("You cannot undo this").waitFor();

    assert.equal(await overflows(page), false);
  });
});
