import type { Page } from "playwright-core";
import { archives } from "./drivers.ts";
import { archiveBytes } from "./inf.ts";

/** What a person does on a page before its screenshot. */
export interface Scene {
  readonly path: string;
  perform(page: Page): Promise<void>;
}

/**
 * Scenes by screenshot name, for what pages show only after an action.
 * @param spare the path of a printer that may be deleted
 */
export function scenesOf(
  pages: Readonly<Record<string, string>>,
  spare: string,
): Readonly<Record<string, Scene>> {
  const { printer = "/", client = "/", driver = "/" } = pages;
  return {
    "printer-fields": {
      path: printer,
      perform: (page) => page.getByText("Fields for Intune").click(),
    },
    "printer-rmm": {
      path: printer,
      perform: (page) => page.getByText("Guides, commands and scripts").click(),
    },
    "driver-printers": {
      path: driver,
      perform: (page) => page.locator("label[for=tab-printers]").click(),
    },
    "driver-deploy": {
      path: driver,
      perform: (page) => page.locator("label[for=tab-deploy]").click(),
    },
    "driver-model": {
      path: driver,
      perform: (page) => page.locator("label[for=tab-model]").click(),
    },
    "printer-copied": {
      path: printer,
      perform: (page) => page.getByRole("button", { name: "Copy" }).first().click(),
    },
    "printer-refused": {
      path: "/printers?new=1&client_id=2",
      perform: (page) => savePrinter(page, "A, B", "10.14.2.999"),
    },
    "printer-saved": {
      path: "/printers?new=1&client_id=2",
      perform: (page) => savePrinter(page, "Besprechung 3", "10.14.2.99"),
    },
    "client-delete-refused": { path: client, perform: pressDelete },
    "printer-deleted": { path: spare, perform: pressDelete },
    "import-preview": {
      path: "/import",
      perform: async (page) => {
        await page.locator("main textarea").fill(list);
        await page.getByRole("button", { name: "Show preview" }).click();
        await page.getByRole("heading", { name: "Preview" }).waitFor();
      },
    },
    "dashboard-after-deletion": { path: "/", perform: async () => {} },
    "driver-uploaded": {
      path: "/drivers",
      perform: async (page) => {
        const { fileName } = archives.dealer;
        const buffer = archiveBytes({ ...archives.dealer, beside: { "Anleitung neu.pdf": 700 } });
        const file = { name: fileName, mimeType: "application/zip", buffer };
        await page.locator(".fold > summary").click();
        await page.locator("main input[type=file]").first().setInputFiles(file);
        await page.locator("#upload-lines .notice").waitFor();
      },
    },
  };
}

/** A customer's list of printers: two are new, one changes, one is wrong. */
const list = `name,client,address,location
Kopierer 3. OG,Kanzlei Hartmann & Sölle,10.14.2.60,3. OG
Empfang,Kanzlei Hartmann & Sölle,10.14.2.61,EG
Archiv,Kanzlei Hartmann & Sölle,10.14.2.24,"UG, hinten"
"A, B",Kanzlei Hartmann & Sölle,10.14.2.999,
`;

async function pressDelete(page: Page): Promise<void> {
  const fold = page.locator("main").getByText(/^Delete/);
  await fold.first().click();
  await page
    .getByRole("button", { name: /^Delete/ })
    .last()
    .click();
}

async function savePrinter(page: Page, name: string, address: string): Promise<void> {
  await page.getByRole("textbox", { name: "Name" }).fill(name);
  await page.getByLabel("Address").fill(address);
  await page.getByRole("button", { name: "Save printer" }).click();
}
