import type { Download, Locator, Page } from "playwright-core";

/** Presses of Tab; no form has as many fields. */
const maxTabs = 60;

/**
 * Uses a page as a person does, and counts clicks. Reaching a field with Tab and typing is no click. A choice from a list
 * is two clicks. A file is two clicks: one opens the system's window, one chooses the file.
 */
export class Hand {
  readonly clickLog: string[] = [];
  readonly #page: Page;

  constructor(page: Page) {
    this.#page = page;
  }

  get clicks(): number {
    return this.clickLog.length;
  }

  async click(role: "link" | "button", name: string): Promise<void> {
    await this.#press(this.#page.getByRole(role, { name, exact: true }).first(), name);
  }

  /** Moves to a field with Tab and types. @throws Error if Tab does not reach it */
  async type(label: string, text: string): Promise<void> {
    const field = this.#field(label);
    await field.waitFor();
    for (let i = 0; !(await hasFocus(field)); i++) {
      if (i === maxTabs) throw new Error(`Tab does not reach ${label}`);
      await this.#page.keyboard.press("Tab");
    }
    await this.#page.keyboard.type(text);
  }

  async select(label: string, option: string): Promise<void> {
    this.clickLog.push(`${label}: open`, `${label}: ${option}`);
    await this.#field(label).selectOption({ label: option });
  }

  async chooseFile(label: string, path: string): Promise<void> {
    const opening = this.#page.waitForEvent("filechooser");
    await this.#press(this.#field(label), `${label}: open`);
    this.clickLog.push(`${label}: take the file`);
    await (await opening).setFiles(path);
  }

  async download(link: string): Promise<Download> {
    const download = this.#page.waitForEvent("download");
    await this.click("link", link);
    return download;
  }

  /** Waits until the page has this text. */
  async see(text: RegExp): Promise<void> {
    await this.#page.getByText(text).first().waitFor();
  }

  #field(label: string): Locator {
    return this.#page.locator("main, dialog").getByLabel(label).locator("visible=true").first();
  }

  async #press(target: Locator, what: string): Promise<void> {
    this.clickLog.push(what);
    await target.click();
  }
}

function hasFocus(field: Locator): Promise<boolean> {
  return field.evaluate((element) => {
    const node = element as unknown as { ownerDocument: { activeElement: unknown } };
    return node.ownerDocument.activeElement === node;
  });
}
