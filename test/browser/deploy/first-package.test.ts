import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, test } from "node:test";
import { archives } from "../../../demo/drivers.ts";
import { archiveBytes } from "../../../demo/inf.ts";
import { startApp, temporaryFolder } from "../../support/app.ts";
import { openBrowser, saveScreenshot, watchProblems, withoutBrowser } from "../../support/browser.ts";
import { verifyIntunewin, without } from "../../support/drivers/foreign.ts";
import { Hand } from "../../support/keyboard-user.ts";

const maxClicks = 12;

describe("a first package", { skip: withoutBrowser, timeout: 300_000 }, () => {
  test(`takes at most ${maxClicks} clicks from an empty service on`, async (t) => {
    const { url, app } = await startApp(t);
    const browser = await openBrowser(t, { viewport: { width: 1440, height: 900 }, acceptDownloads: true });
    const page = await browser.newPage();
    const problems = watchProblems(page, url);
    const zip = join(await temporaryFolder(t), "driver.zip");
    await writeFile(zip, archiveBytes(archives.papyrusNew));
    await page.goto(url);
    const hand = new Hand(page);

    await hand.click("link", "New client");
    await hand.type("Name", "Kunde Müller");
    await hand.click("button", "Save client");
    await hand.see(/Saved: Kunde Müller/);
    await hand.click("link", "Drivers");
    await hand.chooseFile("Driver ZIP", zip);
    await hand.click("button", "Upload driver");
    await hand.see(/is uploaded/);
    await hand.click("button", "New printer");
    await hand.type("Name", "Office");
    await hand.select("Client", "Kunde Müller");
    await hand.type("Address", "10.0.0.9");
    await hand.click("button", "Save printer");
    await hand.see(/Saved: Office/);
    await saveScreenshot(page, "1440-first-package");
    const package_ = await hand.download("Download for Intune");

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
});
