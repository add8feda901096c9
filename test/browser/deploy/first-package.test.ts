import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, type TestContext, test } from "node:test";
import { archives } from "../../../demo/drivers.ts";
import { archiveBytes } from "../../../demo/inf.ts";
import { startApp, temporaryFolder } from "../../support/app.ts";
import { openBrowser, saveScreenshot, watchProblems, withoutBrowser } from "../../support/browser.ts";
import { verifyIntunewin, without } from "../../support/drivers/foreign.ts";
import { Hand } from "../../support/keyboard-user.ts";

const maxClicks = 8;

/** An empty service in a browser, and the file of a vendor's ZIP. */
async function start(t: TestContext) {
  const { url, app } = await startApp(t);
  const browser = await openBrowser(t, { viewport: { width: 1440, height: 900 }, acceptDownloads: true });
  const page = await browser.newPage();
  const problems = watchProblems(page, url);
  const zip = join(await temporaryFolder(t), "driver.zip");
  await writeFile(zip, archiveBytes(archives.papyrusNew));
  await page.goto(url);
  return { url, app, page, problems, zip, hand: new Hand(page) };
}

describe("a first package", { skip: withoutBrowser, timeout: 300_000 }, () => {
  test(`takes at most ${maxClicks} clicks from an empty service on, with a client of its own`, async (t) => {
    const { url, app, page, problems, zip, hand } = await start(t);

    await hand.click("link", "New client");
    await hand.type("Name", "Kunde Müller");
    await hand.click("button", "Save client");
    await hand.see(/Saved: Kunde Müller/);
    await hand.click("link", "Drivers");
    await hand.chooseFile("Driver ZIP", zip);
    await hand.see(/was uploaded/);
    await hand.type("Name", "Office");
    await hand.type("Address", "10.0.0.9");
    await hand.click("button", "Save printer");
    await hand.see(/Saved: Office\. Your first package is ready\./);
    await saveScreenshot(page, "1440-first-package");
    const package_ = await hand.download("Download Intune package");

    const [saved] = app.store.printers.list();
    assert.ok(hand.clicks <= maxClicks, `${hand.clicks} clicks: ${hand.clickLog.join(", ")}`);
    assert.equal(saved?.client?.name, "Kunde Müller");
    assert.equal(saved?.driver?.driver_desc, "Papyrus Universal PCL 6");
    assert.match(package_.suggestedFilename(), /\.intunewin$/);
    const bytes = await readFile(await package_.path());
    const answer = await fetch(`${url}/printers/${saved?.printer.id}/packages/mdm`, { method: "HEAD" });
    assert.equal(bytes.length, Number(answer.headers.get("content-length")));
    if (without.verifier === false) {
      const tree = verifyIntunewin(bytes);
      assert.ok("install.ps1" in tree && "driver/disk1/papyrusu.inf" in tree);
    }
    assert.deepEqual(problems, []);
  });

  test(`takes at most ${maxClicks} clicks from an empty service on, without a client`, async (t) => {
    const { app, page, problems, zip, hand } = await start(t);

    await hand.click("link", "Upload driver");
    await hand.chooseFile("Driver ZIP", zip);
    await hand.see(/was uploaded/);
    await saveScreenshot(page, "1440-first-upload");
    await hand.type("Name", "Office");
    await hand.type("Address", "10.0.0.9");
    await hand.click("button", "Save printer");
    await hand.see(/Saved: Office\. Your first package is ready\./);
    const package_ = await hand.download("Download Intune package");

    const [saved] = app.store.printers.list();
    assert.ok(hand.clicks <= maxClicks, `${hand.clicks} clicks: ${hand.clickLog.join(", ")}`);
    assert.equal(saved?.client, undefined);
    assert.match(package_.suggestedFilename(), /\.intunewin$/);
    assert.deepEqual(problems, []);
  });

  test("is offered after the first save of the printer's form; later saves stay on the list", async (t) => {
    const { page, problems, url } = await start(t);
    const save = async (name: string, address: string) => {
      await page.getByRole("textbox", { name: "Name" }).fill(name);
      await page.getByLabel("Address").fill(address);
      await page.getByRole("button", { name: "Save printer" }).click();
    };

    await page.goto(`${url}/printers?new=1`);
    await save("Office", "10.0.0.9");
    await page.waitForURL(`${url}/printers/1`);
    await page.getByText("Saved: Office. No driver assigned. Choose a driver.").waitFor();
    await page.goto(`${url}/printers?new=1`);
    await save("Hall", "10.0.0.10");
    await page.getByText("Saved: Hall").waitFor();

    assert.equal(new URL(page.url()).pathname, "/printers");
    assert.deepEqual(problems, []);
  });
});
