import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Page } from "playwright-core";
import { startApp } from "../../support/app.ts";
import { openBrowser, watchProblems, withoutBrowser } from "../../support/browser.ts";
import { appWithPair, armZip } from "../../support/drivers/arm64-pair.ts";
import { driverZip } from "../../support/drivers/driver-zip.ts";

const ipp = "1000001";

/** The values of these fields. */
function valuesOf(page: Page, names: readonly string[]): Promise<string[]> {
  return Promise.all(names.map((name) => page.locator(`#f-${name}`).inputValue()));
}

/** Uploads a driver in the dialog of a printer's form. */
async function uploadInForm(page: Page, buffer: Buffer): Promise<void> {
  await page.getByRole("link", { name: "Upload driver…" }).click();
  const file = { name: "driver.zip", mimeType: "application/zip", buffer };
  await page.getByLabel("Driver ZIP").setInputFiles(file);
  await page.getByText("uploaded and chosen").waitFor();
  await page.locator("#upload-dialog").waitFor({ state: "hidden" });
}

/** The values of a select's options; a group is represented by its name. */
function optionsIn(page: Page, name: string): Promise<string[]> {
  return page
    .locator(`#f-${name} > *`)
    .evaluateAll((children) =>
      children.map((one) => one.getAttribute("label") ?? one.getAttribute("value") ?? ""),
    );
}

describe("a form for IPP in a browser", { skip: withoutBrowser, timeout: 300_000 }, () => {
  test("the IPP class driver shows the fields of IPP, and hides the others", async (t) => {
    const { url } = await startApp(t);
    const page = await (await openBrowser(t)).newPage();
    await page.goto(`${url}/printers#new-printer`);

    await page.getByLabel("Driver", { exact: true }).selectOption(ipp);
    await page.locator("summary").getByText("ARM64 PCs", { exact: true }).click();

    await page.locator("#f-ipp_path").waitFor();
    await page.getByText("The printer must be on when a PC installs it.").waitFor();
    await page.getByText("Windows includes the IPP driver for ARM64").waitFor();
    assert.ok(await page.getByText("2 set").isVisible(), "protocol and port number");
    for (const hidden of ["Leave empty to install only the driver", "SNMP status enabled"])
      assert.equal(await page.getByText(hidden).isVisible(), false, hidden);
    for (const field of ["f-port_name", "f-arm64_driver_id", "f-arm64_driver_desc"])
      assert.equal(await page.locator(`#${field}`).isVisible(), false, field);
  });

  test("values that IPP replaced are restored with another protocol, and the port number follows the protocol", async (t) => {
    const { url, main, arm, printer } = await appWithPair(t, {
      ...{ driver_desc: "Papyrus 100 PCL6", arm64_driver_desc: "Papyrus ARM PS" },
      ...{ protocol: "lpr", lpr_queue: "lp" },
    });
    const page = await (await openBrowser(t)).newPage();
    const names = ["driver_id", "driver_desc", "arm64_driver_id", "arm64_driver_desc", "protocol"];
    await page.goto(`${url}/printers/${printer}/edit`);
    const before = await valuesOf(page, names);
    await page.getByText("Port and status").click();

    await page.getByLabel("Protocol").selectOption("ipp");
    const meanwhile = await valuesOf(page, names);
    await page.getByLabel("Protocol").selectOption("lpr");
    const after = await valuesOf(page, names);
    await page.getByLabel("Driver", { exact: true }).selectOption(ipp);
    await page.getByLabel("Driver", { exact: true }).selectOption(String(main));
    const reselected = await valuesOf(page, names);
    const ports: string[] = [];
    for (const protocol of ["ipp", "raw"]) {
      await page.getByLabel("Protocol").selectOption(protocol);
      ports.push(...(await valuesOf(page, ["driver_id", "port_number"])));
    }
    const isPortSeen = await page.locator("#f-port_name").isVisible();
    const isPathSeen = await page.locator("#f-ipp_path").isVisible();

    assert.deepEqual(before, [String(main), "Papyrus 100 PCL6", String(arm), "Papyrus ARM PS", "lpr"]);
    assert.deepEqual(meanwhile, [ipp, "", "", "", "ipp"]);
    assert.deepEqual(after, before);
    assert.deepEqual(reselected, [String(main), "", String(arm), "Papyrus ARM PS", "lpr"]);
    assert.deepEqual(ports, [ipp, "631", String(main), "9100"]);
    assert.deepEqual([isPortSeen, isPathSeen], [true, false]);
  });

  test("an uploaded driver is added to the selects, and selected in the one that it fits", async (t) => {
    const { url } = await startApp(t);
    const page = await (await openBrowser(t)).newPage();
    const problems = watchProblems(page, url);
    const names = ["driver_id", "arm64_driver_id"];
    await page.goto(`${url}/printers#new-printer`);

    await uploadInForm(page, driverZip({ decoration: "NTamd64,NTarm64" }));
    const both = await valuesOf(page, names);
    await uploadInForm(page, armZip({ models: ["Papyrus ARM"] }));
    const second = await valuesOf(page, names);
    await uploadInForm(page, armZip({ models: ["Papyrus ARM"] }));

    assert.deepEqual(
      [both, second],
      [
        ["1", ""],
        ["1", "2"],
      ],
    );
    await page.getByText("uploaded and chosen for ARM64 PCs").waitFor();
    assert.ok(await page.locator("#f-arm64_driver_desc").evaluate((field) => field.matches(":focus")));
    assert.deepEqual(await optionsIn(page, "driver_id"), ["", "1", "2", "Included in Windows"]);
    assert.deepEqual(await optionsIn(page, "arm64_driver_id"), ["", "2", "1", "Included in Windows"]);
    assert.deepEqual(problems, []);
  });

  test("a driver deleted before the move is reported, and the IPP class driver is not offered", async (t) => {
    const { url, addPrinter, addDriver, fetch } = await startApp(t);
    await addPrinter();
    await addDriver(driverZip({ provider: "Vellum", models: ["Vellum"] }));
    await addPrinter({ name: "Driverless", driver_id: ipp });
    const page = await (await openBrowser(t)).newPage();
    await page.goto(`${url}/drivers/1/move`);
    await fetch("/drivers/2", { method: "DELETE" });

    const offered = await page
      .locator("#f-to option")
      .evaluateAll((all) => all.map((one) => one.getAttribute("value")));
    await page.getByLabel("New driver").selectOption("2");
    await page.getByText("Driver 2 does not exist").waitFor();
    await page.goto(`${url}/drivers/${ipp}/move`);

    assert.deepEqual(offered, ["", "2", "1000002", "1000003"]);
    await page.getByText("No other driver supports IPP").waitFor();
  });
});
