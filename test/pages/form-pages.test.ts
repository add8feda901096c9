import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Page } from "playwright-core";
import { startApp } from "../support/app.ts";
import { isFocusIn, pasteText, saveScreenshot, watchProblems, withoutBrowser } from "../support/browser.ts";
import { deepTest, isDeep } from "../support/depth.ts";
import { appWithPair, armZip } from "../support/drivers/arm64-pair.ts";
import { driverZip } from "../support/drivers/driver-zip.ts";
import { withOnePrinter } from "../support/printers/one-printer.ts";
import { chooseAction, openPage } from "../support/printers/shop-lists.ts";
import { makeTicket } from "../support/printers/tickets.ts";
import { until } from "../support/until.ts";

const ipp = "1000001";
const inBrowser = { skip: withoutBrowser, timeout: 300_000 };

/** The values of these fields. */
const valuesOf = (page: Page, names: readonly string[]) =>
  Promise.all(names.map((name) => page.locator(`#f-${name}`).inputValue()));

/** Those of these fields that are visible. */
async function visibleOf(page: Page, names: readonly string[]): Promise<string[]> {
  const visible = await Promise.all(names.map((name) => page.locator(`#f-${name}`).isVisible()));
  return names.filter((_, i) => visible[i]);
}

test("printers move neither from nor to the IPP class driver", async (t) => {
  const { addPrinter, addDriver, fetch } = await startApp(t);
  await addPrinter();
  await addDriver(driverZip({ provider: "Vellum", models: ["Vellum"] }));
  await addPrinter({ name: "Driverless", driver_id: ipp });
  const pageOf = async (id: string) => (await fetch(`/drivers/${id}/move`)).text();

  const [, select = ""] = /<select id="f-to"([\s\S]*?)<\/select>/.exec(await pageOf("1")) ?? [];
  const offered = [...select.matchAll(/<option value="([^"]*)"/g)].map(([, id]) => id);

  assert.deepEqual(offered, ["", "2", "1000002", "1000003"]);
  assert.match(await pageOf(ipp), /No other driver supports IPP/);
});

describe("a printer's form in a browser", inBrowser, () => {
  for (const javaScriptEnabled of [false, true])
    test(`shows fields that depend on another field only with it, ${javaScriptEnabled ? "with" : "without"} scripts`, async (t) => {
      const page = await openPage(t, await withOnePrinter(t), "/printers/1/edit", { javaScriptEnabled });
      const seen = () =>
        visibleOf(page, ["port_number", "lpr_queue", "snmp_community", "snmp_index", "share_name"]);

      for (const fold of ["Port and status", "Location, sharing", "Preferences"])
        await page.getByText(fold).first().click();
      const first = await seen();
      await page.getByLabel("Protocol").selectOption("lpr");
      await page.getByLabel("SNMP status enabled").check();
      await page.getByLabel("Share this printer").check();
      const then = await seen();
      const isFileSeen = await page.getByLabel("PrintTicket from a file").isVisible();

      assert.deepEqual(first, ["port_number"]);
      assert.deepEqual(then, ["lpr_queue", "snmp_community", "snmp_index", "share_name"]);
      assert.equal(isFileSeen, javaScriptEnabled);
      if (!isDeep) return;
      await page.getByRole("button", { name: "Save printer" }).click();
      await page.locator(".problems").waitFor();
      await page.getByLabel("Protocol").selectOption("raw");
      assert.ok((await seen()).includes("lpr_queue"), "what was refused is seen");
    });

  deepTest("asks before the user leaves with input that is neither saved nor taken back", async (t) => {
    const service = await withOnePrinter(t);
    await service.addPrinter({ name: "Two", driver_id: "1" });
    const page = await openPage(t, service, "/printers?new=1#new-printer");
    const name = page.getByRole("textbox", { name: "Name" });
    const save = () => page.getByRole("button", { name: "Save printer" }).click();
    let dialogs = 0;
    page.on("dialog", (dialog) => {
      dialogs++;
      void dialog.dismiss();
    });
    const asked: boolean[] = [];
    const leave = async () => {
      const before = dialogs;
      await page.getByRole("link", { name: "Packages", exact: true }).click({ noWaitAfter: true });
      await until(() => dialogs > before || new URL(page.url()).pathname === "/packages");
      asked.push(dialogs > before);
    };

    await name.fill("Typed");
    await leave();
    await chooseAction(page, "Office", "Delete");
    await page.getByText("Deleted: Office").waitFor();
    await leave();
    await name.fill("A,B");
    await save();
    await page.locator(".problems:focus").waitFor();
    await leave();
    await name.fill("Typed");
    await save();
    await page.getByText("Saved: Typed").waitFor();
    await leave();
    await page.goto(`${service.url}/printers/2/edit`);
    for (const address of ["10.0.0.10", "10.0.0.9"]) {
      await page.getByLabel("Address").fill(address);
      await leave();
    }
    await page.goto(`${service.url}/printers/2/edit`);
    await page.getByLabel("Address").fill("10.0.0.10");
    await save();
    await page.getByText("Saved: Two").waitFor();

    assert.deepEqual(asked, [true, true, true, false, true, false]);
    assert.equal(dialogs, 4);
  });

  deepTest(
    "copies a command also in insecure contexts: “Copied” is shown for two seconds and moves nothing",
    async (t) => {
      const page = await openPage(t, await withOnePrinter(t), "/printers/1");
      await page.evaluate("Object.defineProperty(window, 'isSecureContext', { value: false })");
      const places = () =>
        page.evaluate(`[...document.querySelectorAll("${isDeep ? "main *" : "h1, h2, code"}")].map((element) => {
        const { x, y, width } = element.getBoundingClientRect();
        return [element.outerHTML.slice(0, 60), x, y, width].join(" ");
      })`) as Promise<string[]>;
      await page.getByText("Fields for Intune").click();
      const button = page.locator('button[data-copy="uninstall_cmd"]').first();

      await button.scrollIntoViewIfNeeded();
      const before = await places();
      await button.click();
      await page.locator("#announcements").getByText("Copied").waitFor({ state: "attached" });
      const [label, during] = [await button.textContent(), await places()];
      const copied = await pasteText(page);
      await button.getByText("Copied").waitFor({ state: "detached" });

      assert.match(label ?? "", /Copied/);
      assert.deepEqual(during, before);
      assert.deepEqual([await button.textContent(), await places()], ["Copy", before]);
      assert.ok(await isFocusIn(page, "button[data-copy]"));
      assert.match(copied, /-File \.\\uninstall\.ps1$/);
    },
  );
});

describe("a form for IPP in a browser", inBrowser, () => {
  deepTest(
    "shows the fields of IPP for the IPP class driver, and has the driver and port number of its protocol",
    async (t) => {
      const page = await openPage(t, await withOnePrinter(t), "/printers/1/edit");
      const values: string[][] = [];

      await page.getByText("Port and status").click();
      for (const protocol of ["ipp", "raw"]) {
        await page.getByLabel("Protocol").selectOption(protocol);
        values.push(await valuesOf(page, ["driver_id", "port_number"]));
      }
      await page.getByLabel("Driver", { exact: true }).selectOption(ipp);
      await page.locator("summary").getByText("ARM64 PCs", { exact: true }).click();
      await page.locator("#f-ipp_path").waitFor();
      await page.getByText("The printer must be on when a PC installs it.").waitFor();
      await page.getByText("Windows includes the IPP driver for ARM64").waitFor();
      const isCounted = await page.getByText("2 set").isVisible();
      const { width = 0 } = (await page.locator("#f-name").boundingBox()) ?? {};
      await saveScreenshot(page, "form-folds");
      const seen = await visibleOf(page, ["port_name", "snmp", "arm64_driver_id", "arm64_driver_desc"]);
      values.push(await valuesOf(page, ["protocol", "port_number"]));

      assert.ok(isCounted, "protocol and port number");
      assert.ok(width > 300 && width <= 560, `a field has ${width} px`);
      assert.deepEqual(seen, []);
      assert.deepEqual(values, [
        [ipp, "631"],
        ["1", "9100"],
        ["ipp", "631"],
      ]);
    },
  );

  deepTest("restores the values that IPP replaced with another protocol", async (t) => {
    const service = await appWithPair(t, {
      ...{ driver_desc: "Papyrus 100 PCL6", arm64_driver_desc: "Papyrus ARM PS" },
      ...{ protocol: "lpr", lpr_queue: "lp" },
    });
    const page = await openPage(t, service, "/printers/1/edit");
    const names = ["driver_id", "driver_desc", "arm64_driver_id", "arm64_driver_desc", "protocol"];
    const before = ["1", "Papyrus 100 PCL6", "2", "Papyrus ARM PS", "lpr"];
    const found = [await valuesOf(page, names)];
    await page.getByText("Port and status").click();

    for (const [field, value] of [
      ["Protocol", "ipp"],
      ["Protocol", "lpr"],
      ["Driver", ipp],
      ["Driver", "1"],
    ] as const) {
      await page.getByLabel(field, { exact: true }).selectOption(value);
      found.push(await valuesOf(page, names));
    }

    const replaced = [ipp, "", "", "", "ipp"];
    assert.deepEqual(found, [before, replaced, before, replaced, before.with(1, "")]);
  });

  deepTest("has an uploaded driver in its selects, chosen in the one that it fits", async (t) => {
    const service = await startApp(t);
    const page = await openPage(t, service, "/printers#new-printer");
    const problems = watchProblems(page, service.url);
    const [both, arm] = [driverZip({ decoration: "NTamd64,NTarm64" }), armZip({ models: ["A"] })];
    const chosen: string[] = [];
    /** The values of a select's options; a group is represented by its name. */
    const optionsIn = (name: string): Promise<string[]> =>
      page
        .locator(`#f-${name} > *`)
        .evaluateAll((all) => all.map((one) => one.getAttribute("label") ?? one.getAttribute("value") ?? ""));

    for (const buffer of [both, arm, arm]) {
      await page.getByRole("link", { name: "Upload driver…" }).click();
      const file = { name: "driver.zip", mimeType: "application/zip", buffer };
      await page.getByLabel("Driver ZIP").setInputFiles(file);
      await page.getByText("uploaded and chosen").waitFor();
      await page.locator("#upload-dialog").waitFor({ state: "hidden" });
      chosen.push((await valuesOf(page, ["driver_id", "arm64_driver_id"])).join("/"));
    }
    await page.getByText("uploaded and chosen for ARM64 PCs").waitFor();

    assert.deepEqual(chosen, ["1/", "1/2", "1/2"]);
    assert.ok(await isFocusIn(page, "#f-arm64_driver_desc"));
    assert.deepEqual(await optionsIn("driver_id"), ["", "1", "2", "Included in Windows"]);
    assert.deepEqual(await optionsIn("arm64_driver_id"), ["", "2", "1", "Included in Windows"]);
    assert.deepEqual(problems, []);
  });
});

const ticket = makeTicket({ "ns0000:JobStaple": "ns0000:TopLeft" });

describe("a PrintTicket in a browser", inBrowser, () => {
  deepTest("is read from a file into the field", async (t) => {
    const service = await withOnePrinter(t);
    const page = await openPage(t, service, "/printers/1/edit");
    const problems = watchProblems(page, service.url);
    const field = page.locator("#f-print_ticket");
    await page.getByText("Preferences", { exact: false }).first().click();

    for (const buffer of [Buffer.from(`\ufeff${ticket}`, "utf16le"), Buffer.from(ticket)]) {
      await field.fill("<what-was-typed/>");
      const file = { name: `${buffer.length}.xml`, mimeType: "text/xml", buffer };
      await page.getByLabel("PrintTicket from a file").setInputFiles(file);
      await page.getByText(`${file.name} loaded.`).waitFor({ state: "attached" });
      assert.equal(await field.inputValue(), ticket.replaceAll("\r\n", "\n"));
    }

    assert.deepEqual(problems, []);
  });
});
