import assert from "node:assert/strict";
import { describe, type TestContext, test } from "node:test";
import type { Page } from "playwright-core";
import { startApp } from "../support/app.ts";
import {
  isFocusIn,
  openWide,
  pasteText,
  saveScreenshot,
  watchProblems,
  withoutBrowser,
} from "../support/browser.ts";
import { deepTest, isDeep, selectCases } from "../support/depth.ts";
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

describe("a printer's form in a browser", inBrowser, () => {
  for (const javaScriptEnabled of [true, false])
    test(`shows fields that depend on another field only with it, ${javaScriptEnabled ? "with" : "without"} scripts`, async (t) => {
      const page = await openPage(t, await withOnePrinter(t), "/printers/1/edit", { javaScriptEnabled });
      const seen = () =>
        visibleOf(page, ["port_number", "lpr_queue", "snmp_community", "snmp_index", "share_name"]);

      for (const fold of ["Port and status", "Location, sharing"]) await page.getByText(fold).click();
      const first = await seen();
      await page.getByLabel("Protocol").selectOption("lpr");
      await page.getByLabel("SNMP status enabled").check();
      await page.getByLabel("Share this printer").check();
      const then = await seen();

      assert.deepEqual(first, ["port_number"]);
      assert.deepEqual(then, ["lpr_queue", "snmp_community", "snmp_index", "share_name"]);
      if (!isDeep) return;
      await page.getByRole("button", { name: "Save printer" }).click();
      await page.locator(".problems").waitFor();
      await page.getByLabel("Protocol").selectOption("raw");
      assert.ok((await seen()).includes("lpr_queue"), "what was refused is seen");
    });

  deepTest("shows how many fields of a fold are set, and updates the number", async (t) => {
    const page = await openPage(t, await withOnePrinter(t), "/printers/1/edit");
    const fold = page.locator("summary", { hasText: "Port and status" });
    const counts: (string | undefined)[] = [];
    const note = async () => counts.push((await fold.locator(".count").textContent())?.trim());

    await note();
    await fold.click();
    await page.getByLabel("SNMP status enabled").check();
    await page.getByLabel("SNMP community").fill("site");
    await note();
    await page.getByLabel("SNMP community").fill("public");
    await note();
    const width = (await page.locator("#f-name").boundingBox())?.width ?? 0;
    await saveScreenshot(page, "form-folds");

    assert.deepEqual(counts, ["", "2 set", "1 set"]);
    assert.ok(width > 300 && width <= 560, `a field has ${width} px`);
  });

  /** Counts the dialogs that leaving the page opens, and stays on the page. */
  function countDialogs(page: Page): () => number {
    let count = 0;
    page.on("dialog", (dialog) => {
      count++;
      void dialog.dismiss();
    });
    return () => count;
  }

  /** Whether a dialog asks before the page is left. */
  async function asksOnLeave(page: Page, dialogs: () => number): Promise<boolean> {
    const before = dialogs();
    await page.getByRole("link", { name: "Packages", exact: true }).click({ noWaitAfter: true });
    await until(() => dialogs() > before || new URL(page.url()).pathname === "/packages");
    return dialogs() > before;
  }

  deepTest(
    "asks before the user leaves with unsaved input, but not with input that was taken back",
    async (t) => {
      const page = await openPage(t, await withOnePrinter(t), "/printers/1/edit");
      const dialogs = countDialogs(page);

      await page.getByLabel("Address").fill("10.0.0.10");
      const typed = await asksOnLeave(page, dialogs);
      await page.getByLabel("Address").fill("10.0.0.9");
      const takenBack = await asksOnLeave(page, dialogs);

      assert.deepEqual([typed, takenBack], [true, false]);
    },
  );

  deepTest(
    "asks before the user leaves, also after other changes of the page, until the form is saved",
    async (t) => {
      const service = await withOnePrinter(t);
      await service.addPrinter({ name: "Two", driver_id: "1" });
      const page = await openPage(t, service, "/printers?new=1#new-printer");
      const dialogs = countDialogs(page);
      const name = page.getByRole("textbox", { name: "Name" });
      const asked: boolean[] = [];
      const leave = async () => asked.push(await asksOnLeave(page, dialogs));

      await name.fill("Typed");
      await leave();
      await chooseAction(page, "Office", "Delete");
      await page.getByText("Deleted: Office").waitFor();
      await leave();
      await name.fill("A,B");
      await page.getByRole("button", { name: "Save printer" }).click();
      await page.locator(".problems:focus").waitFor();
      await leave();
      await name.fill("Typed");
      await page.getByRole("button", { name: "Save printer" }).click();
      await page.getByText("Saved: Typed").waitFor();
      await leave();
      await page.goto(`${service.url}/printers/2/edit`);
      await page.getByLabel("Address").fill("10.0.0.10");
      await page.getByRole("button", { name: "Save printer" }).click();
      await page.getByText("Saved: Two").waitFor();

      assert.deepEqual(asked, [true, true, true, false]);
      assert.equal(dialogs(), 3);
    },
  );

  deepTest("for a new client or printer opens with the focus in its first field", async (t) => {
    const service = await withOnePrinter(t);
    await service.post("/clients", { name: "Alpha" });

    const forms = [
      ["/printers", "New printer"],
      ["/clients", "New client"],
    ] as const;
    for (const [path, button] of selectCases(forms, 1)) {
      const page = await openPage(t, service, path);
      await page.locator("summary", { hasText: button }).click();
      await page.locator("#f-name:focus").waitFor();
    }
  });

  /** A printer's page in a context that is secure and may write to the clipboard, or in one that is not. */
  async function openCommands(t: TestContext, isSecure: boolean): Promise<Page> {
    const service = await withOnePrinter(t);
    const page = isSecure ? await openWide(t) : await openPage(t, service, "/printers/1");
    if (isSecure) await page.context().grantPermissions(["clipboard-write"]);
    if (isSecure) await page.goto(`${service.url}/printers/1`);
    else await page.evaluate("Object.defineProperty(window, 'isSecureContext', { value: false })");
    return page;
  }

  for (const command of selectCases(["uninstall", "install"], 1))
    test(`copies the command of ${command}.ps1: “Copied” is shown for two seconds and moves nothing, also in insecure contexts`, async (t) => {
      const page = await openCommands(t, command === "install");
      const places = () =>
        page.evaluate(
          `[...document.querySelectorAll(${isDeep ? '"main *"' : '"h1, h2, code"'})].map((element) => { const { x, y, width } = element.getBoundingClientRect(); return [element.outerHTML.slice(0, 60), x, y, width].join(" "); })`,
        ) as Promise<string[]>;
      await page.getByText("Fields for Intune").click();
      const button = page.locator(`button[data-copy="${command}_cmd"]`).first();

      await button.scrollIntoViewIfNeeded();
      const before = await places();
      await button.click();
      await page.locator("#announcements").getByText("Copied").waitFor({ state: "attached" });
      const during = [await button.textContent(), ...(await places())];
      const copied = await pasteText(page);
      await button.getByText("Copied").waitFor({ state: "detached" });

      assert.match(during[0] ?? "", /Copied/);
      assert.deepEqual(
        during.slice(1).filter((place, i) => place !== before[i]),
        [],
      );
      assert.deepEqual([await button.textContent(), await places()], ["Copy", before]);
      assert.ok(await isFocusIn(page, "button[data-copy]"));
      assert.match(copied, new RegExp(`-File \\.\\\\${command}\\.ps1$`));
    });
});

describe("a form for IPP in a browser", inBrowser, () => {
  test("shows the fields of IPP for the IPP class driver, and hides the others", async (t) => {
    const page = await openPage(t, await startApp(t), "/printers#new-printer");

    await page.getByLabel("Driver", { exact: true }).selectOption(ipp);
    await page.locator("summary").getByText("ARM64 PCs", { exact: true }).click();
    await page.locator("#f-ipp_path").waitFor();
    await page.getByText("The printer must be on when a PC installs it.").waitFor();
    await page.getByText("Windows includes the IPP driver for ARM64").waitFor();

    assert.ok(await page.getByText("2 set").isVisible(), "protocol and port number");
    for (const hidden of ["Leave empty to install only the driver", "SNMP status enabled"])
      assert.equal(await page.getByText(hidden).isVisible(), false, hidden);
    assert.deepEqual(await visibleOf(page, ["port_name", "arm64_driver_id", "arm64_driver_desc"]), []);
  });

  deepTest("restores the values that IPP replaced with another protocol", async (t) => {
    const service = await appWithPair(t, {
      ...{ driver_desc: "Papyrus 100 PCL6", arm64_driver_desc: "Papyrus ARM PS" },
      ...{ protocol: "lpr", lpr_queue: "lp" },
    });
    const [main, arm] = [String(service.main), String(service.arm)];
    const page = await openPage(t, service, `/printers/${service.printer}/edit`);
    const values = () =>
      valuesOf(page, ["driver_id", "driver_desc", "arm64_driver_id", "arm64_driver_desc", "protocol"]);
    const found = [await values()];
    await page.getByText("Port and status").click();

    for (const [field, value] of [
      ["Protocol", "ipp"],
      ["Protocol", "lpr"],
      ...(isDeep ? [["Driver", ipp] as const, ["Driver", main] as const] : []),
    ] as const) {
      await page.getByLabel(field, { exact: true }).selectOption(value);
      found.push(await values());
    }

    const before = [main, "Papyrus 100 PCL6", arm, "Papyrus ARM PS", "lpr"];
    const all = [before, [ipp, "", "", "", "ipp"], before, [ipp, "", "", "", "ipp"], before.with(1, "")];
    assert.deepEqual(found, all.slice(0, found.length));
  });

  test("has the driver and the port number of its protocol", async (t) => {
    const page = await openPage(t, await withOnePrinter(t), "/printers/1/edit");
    await page.getByText("Port and status").click();

    const ports: string[] = [];
    for (const protocol of ["ipp", "raw"]) {
      await page.getByLabel("Protocol").selectOption(protocol);
      ports.push(...(await valuesOf(page, ["driver_id", "port_number"])));
    }

    assert.deepEqual(ports, [ipp, "631", "1", "9100"]);
    assert.deepEqual(await visibleOf(page, ["port_name", "ipp_path"]), ["port_name"]);
  });

  /** Uploads a driver in the dialog of a printer's form. */
  async function uploadInForm(page: Page, buffer: Buffer): Promise<void> {
    await page.getByRole("link", { name: "Upload driver…" }).click();
    const file = { name: "driver.zip", mimeType: "application/zip", buffer };
    await page.getByLabel("Driver ZIP").setInputFiles(file);
    await page.getByText("uploaded and chosen").waitFor();
    await page.locator("#upload-dialog").waitFor({ state: "hidden" });
  }

  /** The values of a select's options; a group is represented by its name. */
  const optionsIn = (page: Page, name: string): Promise<string[]> =>
    page
      .locator(`#f-${name} > *`)
      .evaluateAll((all) => all.map((one) => one.getAttribute("label") ?? one.getAttribute("value") ?? ""));

  const drivers = ["driver_id", "arm64_driver_id"];

  deepTest("has an uploaded driver in its selects, selected in the one that it fits", async (t) => {
    const service = await startApp(t);
    await service.addDriver(driverZip({ decoration: "NTamd64,NTarm64" }));
    const page = await openPage(t, service, "/printers?new=1&driver_id=1#new-printer");
    const problems = watchProblems(page, service.url);

    await uploadInForm(page, armZip({ models: ["Papyrus ARM"] }));
    await page.getByText("uploaded and chosen for ARM64 PCs").waitFor();

    assert.deepEqual(await valuesOf(page, drivers), ["1", "2"]);
    assert.ok(await isFocusIn(page, "#f-arm64_driver_desc"));
    assert.deepEqual(await optionsIn(page, "driver_id"), ["", "1", "2", "Included in Windows"]);
    assert.deepEqual(await optionsIn(page, "arm64_driver_id"), ["", "2", "1", "Included in Windows"]);
    assert.deepEqual(problems, []);
  });

  deepTest("keeps the chosen driver when another is uploaded, and an upload of the same again", async (t) => {
    const page = await openPage(t, await startApp(t), "/printers#new-printer");

    await uploadInForm(page, driverZip({ decoration: "NTamd64,NTarm64" }));
    const both = await valuesOf(page, drivers);
    await uploadInForm(page, armZip({ models: ["Papyrus ARM"] }));
    const second = await valuesOf(page, drivers);
    await uploadInForm(page, armZip({ models: ["Papyrus ARM"] }));

    assert.deepEqual(
      [both, second],
      [
        ["1", ""],
        ["1", "2"],
      ],
    );
    assert.deepEqual(await optionsIn(page, "driver_id"), ["", "1", "2", "Included in Windows"]);
  });

  deepTest("of a move reports a driver deleted meanwhile", async (t) => {
    const service = await withOnePrinter(t);
    await service.addDriver(driverZip({ provider: "Vellum", models: ["Vellum"] }));
    const page = await openPage(t, service, "/drivers/1/move");
    await service.fetch("/drivers/2", { method: "DELETE" });

    await page.getByLabel("New driver").selectOption("2");
    await page.getByText("Driver 2 does not exist").waitFor();
  });
});

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

const ticket = makeTicket({ "ns0000:JobStaple": "ns0000:TopLeft" });

describe("a PrintTicket in a browser", inBrowser, () => {
  for (const [encoding, bytes] of selectCases(
    [
      ["UTF-16 (Windows PowerShell)", Buffer.from(`\ufeff${ticket}`, "utf16le")],
      ["UTF-8", Buffer.from(ticket)],
    ] as const,
    1,
  ))
    test(`is read from a file in ${encoding} into the field, and saved with the form`, async (t) => {
      const service = await withOnePrinter(t);
      const page = await openPage(t, service, "/printers/1/edit");
      const problems = watchProblems(page, service.url);
      await page.getByText("Preferences", { exact: false }).first().click();

      await page.locator("#f-print_ticket").fill("<what-was-typed/>");
      const file = { name: "ticket.xml", mimeType: "text/xml", buffer: bytes };
      await page.getByLabel("PrintTicket from a file").setInputFiles(file);
      await page.getByText("ticket.xml loaded.").waitFor({ state: "attached" });
      const read = await page.locator("#f-print_ticket").inputValue();

      assert.equal(read, ticket.replaceAll("\r\n", "\n"));
      assert.deepEqual(problems, []);
      if (!isDeep) return;
      const fold = page.locator("details", { hasText: "PrintTicket" }).locator(".count").first();
      assert.equal(await fold.textContent(), "1 set");
      await saveScreenshot(page, "print-ticket");
      await page.getByRole("button", { name: "Save printer" }).click();
      await page.waitForURL(/\/printers\/1(\?|$)/);
      const settings = await page.locator("#printer-settings").textContent();
      assert.match(service.app.store.printers.get(1).printer.print_ticket, /JobStaple/);
      assert.match(settings ?? "", /PrintTicket\s*\d+ bytes of XML/);
    });

  deepTest("without scripts is pasted, and there is no file field", async (t) => {
    const service = await withOnePrinter(t);
    const page = await openPage(t, service, "/printers/1/edit", { javaScriptEnabled: false });
    await page.getByText("Preferences", { exact: false }).first().click();

    const isFileSeen = await page.getByLabel("PrintTicket from a file").isVisible();
    await page.locator("#f-print_ticket").fill("<a>");
    await page.getByRole("button", { name: "Save printer" }).click();
    const refused = await page.locator("#f-print_ticket-problem").textContent();

    assert.equal(isFileSeen, false);
    assert.match(refused ?? "", /in line 1 of the PrintTicket: unclosed tag: a\./);
  });
});
