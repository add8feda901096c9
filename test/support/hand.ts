import type { Download, Locator, Page } from "playwright-core";

/** More presses of Tab than a form has fields. */
const maxTabs = 60;

/**
 * A person's hand at a page, which counts each click. A field is reached with Tab and typed into, which is no click;
 * a choice from a list is two clicks, and a file is two: one that opens the system's window, one that takes the file.
 */
export class Hand {
  readonly diary: string[] = [];
  readonly #page: Page;

  constructor(page: Page) {
    this.#page = page;
  }

  get clicks(): number {
    return this.diary.length;
  }

  async click(role: "link" | "button", name: string): Promise<void> {
    await this.#press(this.#page.getByRole(role, { name, exact: true }).first(), name);
  }

  /** Types into a field as the keyboard reaches it. @throws Error where it does not */
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
    this.diary.push(`${label}: open`, `${label}: ${option}`);
    await this.#field(label).selectOption({ label: option });
  }

  async chooseFile(label: string, path: string): Promise<void> {
    const opening = this.#page.waitForEvent("filechooser");
    await this.#press(this.#field(label), `${label}: open`);
    this.diary.push(`${label}: take the file`);
    await (await opening).setFiles(path);
  }

  async download(link: string): Promise<Download> {
    const download = this.#page.waitForEvent("download");
    await this.click("link", link);
    return download;
  }

  /** Waits until the page says it. */
  async see(text: RegExp): Promise<void> {
    await this.#page.getByText(text).first().waitFor();
  }

  #field(label: string): Locator {
    return this.#page.locator("main").getByLabel(label).locator("visible=true").first();
  }

  async #press(target: Locator, what: string): Promise<void> {
    this.diary.push(what);
    await target.click();
  }
}

function hasFocus(field: Locator): Promise<boolean> {
  return field.evaluate((element) => {
    const node = element as unknown as { ownerDocument: { activeElement: unknown } };
    return node.ownerDocument.activeElement === node;
  });
}
