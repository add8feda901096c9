import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Page } from "playwright-core";
import { accessibilityProblems, saveScreenshot, watchProblems, withoutBrowser } from "../support/browser.ts";
import { deepTest, isDeep, selectCases } from "../support/depth.ts";
import { withOnePrinter } from "../support/printers/one-printer.ts";
import { makePng } from "../support/printers/png.ts";
import { makePreferences } from "../support/printers/preferences-files.ts";
import { openPage } from "../support/printers/shop-lists.ts";

/** A red picture, encoded by the browser. */
async function redPicture(page: Page, type: string, width: number, height: number): Promise<Buffer> {
  const text = await page.evaluate(`new Promise((done) => {
    const canvas = document.createElement("canvas");
    canvas.width = ${width};
    canvas.height = ${height};
    const context = canvas.getContext("2d");
    context.fillStyle = "red";
    context.fillRect(0, 0, ${width}, ${height});
    done(canvas.toDataURL(${JSON.stringify(type)}));
  })`);
  const [kind = "", data = ""] = String(text).split(",");
  assert.ok(kind.startsWith(`data:${type}`), `this browser writes no ${type}`);
  return Buffer.from(data, "base64");
}

/** Size and two pixels of the saved icon, each as red, green, blue and opacity. */
function readSavedIcon(page: Page): Promise<{ size: number[]; corner: number[]; middle: number[] }> {
  return page.evaluate(`(async () => {
    const bitmap = await createImageBitmap(await (await fetch("/printers/1/icon", { cache: "no-store" })).blob());
    const canvas = document.createElement("canvas");
    canvas.width = bitmap.width;
    canvas.height = bitmap.height;
    const context = canvas.getContext("2d");
    context.drawImage(bitmap, 0, 0);
    const at = (x, y) => [...context.getImageData(x, y, 1, 1).data];
    return { size: [bitmap.width, bitmap.height], corner: at(2, 2), middle: at(128, 128) };
  })()`);
}

const gif = Buffer.from("R0lGODlhAQABAIAAAP8AAP///ywAAAAAAQABAAACAkQBADs=", "base64");

/** Sends the icon that the page shows in its preview. */
async function uploadIcon(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Upload icon" }).click();
  await page.locator("#message").getByText("Saved: icon").waitFor();
}

describe("an icon in a browser", { skip: withoutBrowser, timeout: 300_000 }, () => {
  for (const [name, type, width, height] of selectCases(
    [
      ["wide.png", "image/png", 900, 300],
      ["tall.jpg", "image/jpeg", 40, 400],
      ["large.webp", "image/webp", 1500, 500],
      ["dot.gif", "image/gif", 1, 1],
    ] as const,
    1,
  ))
    test(`is made from any picture, such as ${name}, with a preview, and keeps the proportions`, async (t) => {
      const service = await withOnePrinter(t);
      const page = await openPage(t, service, "/printers/1");
      const problems = watchProblems(page, service.url);
      const buffer = type === "image/gif" ? gif : await redPicture(page, type, width, height);

      await page.getByLabel("Icon file").setInputFiles({ name, mimeType: type, buffer });
      await page.locator(".icon-preview").getByText(`${name}: `).waitFor();
      const before = service.app.store.icons.find(1);
      await saveScreenshot(page, "icon-preview");
      const faults = isDeep ? await accessibilityProblems(page) : [];
      await uploadIcon(page);
      const { size, corner, middle } = await readSavedIcon(page);

      assert.equal(before, undefined, "nothing is saved yet");
      assert.deepEqual([size, corner[3], middle[3]], [[256, 256], type === "image/gif" ? 255 : 0, 255]);
      assert.ok(Number(middle[0]) > 240 && Number(middle[1]) < 15, `${middle}`);
      assert.ok(Number(service.app.store.icons.find(1)?.size) <= 768_000);
      assert.equal(await page.locator(".icon-preview").isVisible(), false);
      assert.deepEqual([...faults, ...problems], []);
    });

  deepTest("can be dropped on its form, and a file dropped beside it keeps the page", async (t) => {
    const page = await openPage(t, await withOnePrinter(t), "/printers/1");
    const data = (await redPicture(page, "image/png", 64, 32)).toString("base64");
    const dropOn = (selector: string, file: string) =>
      page.evaluate(`(() => {
      const dataTransfer = new DataTransfer();
      dataTransfer.items.add(${file});
      const options = { dataTransfer, bubbles: true, cancelable: true };
      const place = document.querySelector("${selector}");
      return ["dragover", "drop"].map((type) => place.dispatchEvent(new DragEvent(type, options))).at(-1);
    })()`);

    const bytes = `Uint8Array.from(atob(${JSON.stringify(data)}), (character) => character.charCodeAt(0))`;
    await dropOn(".icon-form", `new File([${bytes}], "dropped.png", { type: "image/png" })`);
    const isLost = await dropOn("h1", 'new File(["x"], "missed.zip")');
    await page.locator("#upload-dialog").getByRole("button", { name: "Close" }).click();
    await page.getByText("dropped.png: 64 × 32 pixels, fitted to 256 × 256").waitFor();
    await page.getByText("will look blurred").waitFor();
    await uploadIcon(page);

    assert.equal(isLost, false);
    assert.deepEqual((await readSavedIcon(page)).size, [256, 256]);
  });

  deepTest("that no browser can read is not sent, and a valid one is sent unchanged", async (t) => {
    const service = await withOnePrinter(t);
    const page = await openPage(t, service, "/printers/1");
    const buffer = makePng();
    const refused = [
      ["notes.txt", "text/plain", Buffer.from("text"), "This browser cannot read"],
      ["broken.png", "image/png", buffer.subarray(0, 100), "This browser cannot read"],
      ["logo.svg", "image/svg+xml", Buffer.from("<svg/>"), "SVG is not supported. Save the picture as PNG."],
    ] as const;

    for (const [name, mimeType, bytes, text] of refused) {
      await page.getByLabel("Icon file").setInputFiles({ name, mimeType, buffer: bytes });
      await page.locator(".icon-problem").getByText(text).waitFor();
      assert.equal(await page.getByLabel("Icon file").inputValue(), "", name);
      assert.equal(await page.locator(".icon-preview").isVisible(), false);
    }
    const sent = service.app.store.icons.find(1);
    await page.getByLabel("Icon file").setInputFiles({ name: "icon.png", mimeType: "image/png", buffer });
    await page.getByText("used unchanged").waitFor();
    await uploadIcon(page);

    const kept = await (await service.fetch("/printers/1/icon")).arrayBuffer();
    assert.equal(sent, undefined);
    assert.deepEqual(Buffer.from(kept), buffer);
  });
});

deepTest(
  "vendor preferences are refused, uploaded and deleted in a browser, and the page shows the revision",
  {
    skip: withoutBrowser,
  },
  async (t) => {
    const service = await withOnePrinter(t);
    const page = await openPage(t, service, "/printers/1");
    const problems = watchProblems(page, service.url);
    const revision = () =>
      page.locator("#printer-settings div", { hasText: "Revision" }).locator("code").textContent();
    const upload = async (buffer: Buffer) => {
      const file = { name: "preferences.dat", mimeType: "application/octet-stream", buffer };
      await page.getByLabel("Preferences file").setInputFiles(file);
      await page.getByRole("button", { name: "Upload preferences" }).click();
    };
    const before = await revision();

    await upload(Buffer.from("a text"));
    await page.getByText("This file is a text file, not preferences.").waitFor();
    await upload(makePreferences());
    await page.getByText("Saved: vendor preferences of").waitFor();
    const after = await revision();
    const faults = await accessibilityProblems(page);
    await page.getByRole("button", { name: "Delete preferences" }).click();
    await page.getByText("Deleted: ").waitFor();

    assert.ok(before !== after && before === (await revision()));
    assert.deepEqual([...faults, ...problems], []);
  },
);
