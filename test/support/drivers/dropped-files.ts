import type { Page } from "playwright-core";

/** Drops files `dropped0.zip`, `dropped1.zip`, … on an element. */
export async function dropFiles(page: Page, selector: string, contents: readonly Buffer[]): Promise<void> {
  const files = contents.map((bytes) => bytes.toString("base64"));
  await page.evaluate(`(() => {
    const data = new DataTransfer();
    ${JSON.stringify(files)}.forEach((text, i) => {
      const bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
      data.items.add(new File([bytes], "dropped" + i + ".zip"));
    });
    const drop = new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true });
    document.querySelector(${JSON.stringify(selector)}).dispatchEvent(drop);
  })()`);
}
