import assert from "node:assert/strict";
import { describe, type TestContext, test } from "node:test";
import type { Page } from "playwright-core";
import type { TestApp } from "../../support/app.ts";
import {
  accessibilityProblems,
  openBrowser,
  saveScreenshot,
  watchProblems,
  withoutBrowser,
} from "../../support/browser.ts";
import { withOnePrinter } from "../../support/printers/one-printer.ts";
import { makePng } from "../../support/printers/png.ts";

async function printerPage(t: TestContext): Promise<{ service: TestApp; page: Page }> {
  const service = await withOnePrinter(t);
  const page = await (await openBrowser(t, { viewport: { width: 1440, height: 900 } })).newPage();
  await page.goto(`${service.url}/printers/1`);
  return { service, page };
}

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

describe("an icon in a browser", { skip: withoutBrowser, timeout: 300_000 }, () => {
  test("is made from any picture, with a preview, and keeps the proportions", async (t) => {
    const { service, page } = await printerPage(t);
    const problems = watchProblems(page, service.url);
    const pictures = [
      { name: "wide.png", mimeType: "image/png", buffer: await redPicture(page, "image/png", 900, 300) },
      { name: "tall.jpg", mimeType: "image/jpeg", buffer: await redPicture(page, "image/jpeg", 40, 400) },
      {
        name: "large.webp",
        mimeType: "image/webp",
        buffer: await redPicture(page, "image/webp", 1500, 500),
      },
      { name: "dot.gif", mimeType: "image/gif", buffer: gif },
    ];

    for (const file of pictures) {
      const before = service.app.store.icons.find(1)?.sha256;
      await page.getByLabel("Icon file").setInputFiles(file);
      await page.locator(".icon-preview").getByText(`${file.name}: `).waitFor();
      assert.equal(service.app.store.icons.find(1)?.sha256, before, "nothing is saved yet");
      if (file.name === "wide.png") {
        await saveScreenshot(page, "icon-preview");
        assert.deepEqual(await accessibilityProblems(page), []);
      }
      await page.getByRole("button", { name: "Upload icon" }).click();
      await page.locator("#message").getByText("Saved: icon").waitFor();
      const { size, corner, middle } = await readSavedIcon(page);
      const margin = file.name === "dot.gif" ? 255 : 0;
      assert.deepEqual([size, corner[3], middle[3]], [[256, 256], margin, 255], file.name);
      assert.ok((middle[0] ?? 0) > 240 && (middle[1] ?? 255) < 15, `${file.name}: ${middle}`);
      assert.ok((service.app.store.icons.find(1)?.size ?? 0) <= 768_000);
      assert.equal(await page.locator(".icon-preview").isVisible(), false);
      await page.keyboard.press("Escape");
    }

    assert.deepEqual(problems, []);
  });

  test("can be dropped, and a valid icon is uploaded unchanged", async (t) => {
    const { service, page } = await printerPage(t);
    const data = (await redPicture(page, "image/png", 64, 32)).toString("base64");

    await page.evaluate(`(() => {
      const bytes = Uint8Array.from(atob(${JSON.stringify(data)}), (character) => character.charCodeAt(0));
      const dataTransfer = new DataTransfer();
      dataTransfer.items.add(new File([bytes], "dropped.png", { type: "image/png" }));
      const form = document.querySelector(".icon-form");
      for (const type of ["dragover", "drop"])
        form.dispatchEvent(new DragEvent(type, { dataTransfer, bubbles: true, cancelable: true }));
    })()`);
    const isKept = await page.evaluate(`(() => {
      const dataTransfer = new DataTransfer();
      dataTransfer.items.add(new File(["x"], "missed.zip"));
      return !document.querySelector("h1").dispatchEvent(new DragEvent("drop", { dataTransfer, bubbles: true, cancelable: true }));
    })()`);
    assert.equal(isKept, true, "a file dropped beside the form does not replace the page");
    await page.locator("#upload-dialog").getByRole("button", { name: "Close" }).click();
    await page.getByText("dropped.png: 64 × 32 pixels, fitted to 256 × 256").waitFor();
    await page.getByText("will look blurred").waitFor();
    await page.getByRole("button", { name: "Upload icon" }).click();
    await page.locator("#message").getByText("Saved: icon").waitFor();

    assert.deepEqual((await readSavedIcon(page)).size, [256, 256]);
    await page.keyboard.press("Escape");
    const buffer = makePng();
    await page.getByLabel("Icon file").setInputFiles({ name: "icon.png", mimeType: "image/png", buffer });
    await page.getByText("used unchanged").waitFor();
    await page.getByRole("button", { name: "Upload icon" }).click();
    await page.locator("#message").getByText("Saved: icon").waitFor();
    const kept = await (await service.fetch("/printers/1/icon")).arrayBuffer();
    assert.deepEqual(Buffer.from(kept), buffer);
  });

  test("that no browser can read is refused with a remedy, and nothing is sent", async (t) => {
    const { service, page } = await printerPage(t);
    const refused = [
      ["notes.txt", "text/plain", Buffer.from("text"), "This browser cannot read"],
      ["broken.png", "image/png", makePng().subarray(0, 100), "This browser cannot read"],
      ["logo.svg", "image/svg+xml", Buffer.from("<svg/>"), "SVG is not supported. Save the picture as PNG."],
    ] as const;

    for (const [name, mimeType, buffer, text] of refused) {
      await page.getByLabel("Icon file").setInputFiles({ name, mimeType, buffer });
      await page.locator(".icon-problem").getByText(text).waitFor();
      assert.equal(await page.getByLabel("Icon file").inputValue(), "", name);
      assert.equal(await page.locator(".icon-preview").isVisible(), false);
    }

    assert.equal(service.app.store.icons.find(1), undefined);
  });
});
