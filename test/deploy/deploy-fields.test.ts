import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { instanceOf } from "../../src/services/deploy/package-facts.ts";
import { startApp, type TestApp } from "../support/app.ts";
import { textOf, textsOf } from "../support/deploy/answers.ts";
import { driverZip } from "../support/drivers/driver-zip.ts";
import { readScriptBodies } from "../support/powershell/powershell-syntax.ts";
import { makePng } from "../support/printers/png.ts";

const appName = "Printer driver Papyrus One/Two 1.2";

/** A page's text between two strings, on one line. */
function textBetween(page: string, from: string, to: string): string {
  const start = page.indexOf(from);
  assert.ok(start >= 0, from);
  return page.slice(start, page.indexOf(to, start)).replaceAll(/\s+/g, " ");
}

const apartOf = (page: string) => textBetween(page, '<details class="more apart">', "</details>");

/** The part of a driver's page about deployment. */
async function sectionOf({ fetch }: TestApp, driver: number): Promise<string> {
  return textBetween(await textOf(fetch(`/drivers/${driver}`)), 'id="deploy"', 'id="tab-model"');
}

/** The value of the field with this label. */
function fieldValue(page: string, label: string): string | undefined {
  return new RegExp(`<dt[^>]*>${label}</dt><dd>(?:<(?:code|bdi)[^>]*>)?([^<]*)`).exec(page)?.[1];
}

/** The fields of a group on a page for Intune: label and text, with the hint. */
async function fieldsIn({ fetch }: TestApp, path: string, group: string): Promise<string[]> {
  const page = await textOf(fetch(path));
  const [, rows = ""] = new RegExp(`<h4>${group}</h4><dl class="values">(.*?)</dl>`, "s").exec(page) ?? [];
  return [...rows.matchAll(/<dt[^>]*>(.*?)<\/dt><dd>(.*?)<\/dd>/gs)].map(
    ([, label, value = ""]) => `${label}: ${value.replaceAll(/<[^>]*>/g, "").trim()}`,
  );
}

test("the fields for Intune say how the app is replaced, assigned and described, and offer the logo as soon as there is an icon", async (t) => {
  const app = await startApp(t);
  await app.post("/clients", { name: "Alpha" });
  await app.addPrinter({ name: "Printer 016", client_id: "1" });
  await app.addPrinter({ name: "Printers' den", client_id: "1", driver_id: "1" });
  const page = () => textOf(app.fetch("/printers/1"));

  const supersedence = await fieldsIn(app, "/printers/1", "Supersedence");
  const assignments = await fieldsIn(app, "/printers/1", "Assignments");
  const [, first] = await fieldsIn(app, "/printers/1", "App information");
  const [, second] = await fieldsIn(app, "/printers/2", "App information");
  const before = await page();
  await app.upload("/printers/1/icon", makePng(), "icon.png");
  const after = await page();

  assert.deepEqual(supersedence, ["Add: none: updated in place"]);
  assert.deepEqual(assignments, [
    "Required: a device group: installs automatically",
    "Available for enrolled devices: a user group: users install it in Company Portal",
    "Uninstall: waits one minute for open print jobs; if any remain, Intune tries again (1618)",
    "End user notifications: Show toast notifications for computer restarts",
    "Delivery optimization priority: Content download in background",
  ]);
  assert.equal(first, "Description: Printer 016 of Alpha", "“Printer” once");
  assert.equal(second, "Description: Printer Printers&#39; den of Alpha");
  assert.match(before, /id="logo-value"[^>]*><span class="hint">none yet: upload one under/);
  assert.match(after, /<a [^>]*href="\/printers\/1\/icon[^"]*"[^>]*>Download the logo/);
});

test("a driver's page offers its packages, scripts and the fields of Intune's form, and names the models it installs", async (t) => {
  const service = await startApp(t);
  const { app, fetch, post, addDriver, addPrinter } = service;
  await addDriver(driverZip({ models: ["One", "Two"] }));
  await addPrinter({ driver_id: "1", driver_desc: "Two" });
  await addDriver(driverZip({ models: ["Papyrus Universal", "Papyrus 7"] }));
  await post("/drivers/2", { name: "Papyrus, all floors" });

  const section = await sectionOf(service, 1);
  const named = await sectionOf(service, 2);

  const revision = /Revision = '(\w+)'/.exec(await textOf(fetch("/drivers/1/scripts/detect")))?.[1];
  const scripts = ["install", "uninstall", "detect"].map((kind) => `scripts/${kind}`);
  for (const path of ["packages/mdm", "packages/rmm", ...scripts, "read/install"])
    assert.ok(section.includes(`href="/drivers/1/${path}"`), path);
  assert.match(section, /This package installs the models that printers use: <bdi>Two<\/bdi>\./);
  for (const [label, value] of Object.entries({
    Name: appName,
    Description: `${appName}: Two`,
    Publisher: "Papyrus",
    "App Version": "1.2.3.4",
    Notes: `platen:${instanceOf(app.store)}:driver:1 revision:${revision}`,
    "Operating system architecture": "x64",
    "Script file": "detect-papyrus-one-two-1-2.ps1",
  }))
    assert.equal(fieldValue(section, label), value);
  assert.doesNotMatch(section, /Without the driver|driver=apart/);
  assert.match(section, /href="\/help\/drivers#a-driver-without-printers"/);
  assert.equal(fieldValue(named, "Name"), "Printer driver Papyrus, all floors 1.2");
  assert.match(named, /papyrus-all-floors\.intunewin/);
  assert.match(named, /installs <bdi>Papyrus Universal<\/bdi>\. No printer uses this driver yet\./);
});

test("the pages of a printer and a client offer packages without drivers, and name the same apps as the drivers' pages", async (t) => {
  const service = await startApp(t);
  const { post, addDriver, addPrinter } = service;
  await post("/clients", { name: "Alpha" });
  await addPrinter({ client_id: "1" });
  await addPrinter({ name: "Hall", client_id: "1", driver_id: "1", address: "10.0.0.8" });
  const other = await addDriver(driverZip({ version: "2.0.0.0" }));
  await addPrinter({ name: "Desk", client_id: "1", driver_id: String(other), address: "10.0.0.7" });
  await addPrinter({ name: "Label", client_id: "1", driver_id: "1000003", address: "10.0.0.6" });
  const arm64_driver_id = String(await addDriver(driverZip({ version: "2.0.0.0", decoration: "NTarm64" })));
  await addPrinter({ name: "Both", driver_id: "1", arm64_driver_id });

  const printers = ["/printers/1", "/printers/4", "/printers/5"];
  const paths = [...printers, "/clients/1", "/drivers/1", `/drivers/${other}`];
  const [printer = "", label = "", both = "", client = "", ...driverPages] = await textsOf(service, paths);

  const apps = driverPages.map((page) => fieldValue(page, "Name"));
  for (const format of ["mdm", "rmm"]) {
    assert.ok(printer.includes(`href="/printers/1/packages/${format}?driver=apart"`));
    assert.ok(client.includes(`href="/clients/1/packages/${format}?driver=apart"`));
  }
  const fold = apartOf(printer);
  const link = '<a href="/drivers/1?tab=deploy#deploy"><bdi>Printer driver Papyrus 100 PCL6 1.2</bdi></a>';
  assert.match(fold, /<summary>Without the driver<\/summary>/);
  assert.ok(fold.includes(link), fold);
  assert.equal(fieldValue(fold, "Add"), apps[0]);
  assert.equal(fieldValue(fold, "Automatically install"), "Yes");
  const ofClient = apartOf(client);
  const added = [...ofClient.matchAll(/<dt[^>]*>Add<\/dt><dd><code[^>]*>([^<]*)/g)].map(([, name]) => name);
  assert.deepEqual(added.sort(), [...apps].sort());
  assert.doesNotMatch(ofClient, /Not tested in Intune/);
  assert.doesNotMatch(label, /driver=apart|Without the driver/);
  assert.match(apartOf(both), /<summary>Without the drivers<\/summary>/);
  assert.match(apartOf(both), /drivers are for different architectures\. .* try one PC of each kind first\./);
});

test("a driver's page says why it cannot be deployed, and folds downloads that will fail", async (t) => {
  const service = await startApp(t);
  const { app, fetch, addDriver } = service;
  await addDriver(driverZip({ models: [], version: "2.0.0.0" }));
  await addDriver(driverZip({ catalog: null, version: "3.0.0.0" }));
  await addDriver();

  const incomplete = await sectionOf(service, 1);
  const unsigned = await sectionOf(service, 2);
  await app.store.blobs.remove("drivers", app.store.drivers.get(3).sha256);
  const gone = await sectionOf(service, 3);
  const windows = await textOf(fetch("/drivers/1000002"));

  assert.match(incomplete, /has no model\. Choose one on the driver/);
  assert.match(unsigned, /<summary>Download anyway<\/summary>.*packages\/mdm/);
  assert.match(gone, /The driver ZIP is missing on the server\. Upload driver\.zip again/);
  for (const page of [incomplete, gone, windows]) assert.doesNotMatch(page, /packages\/(?:mdm|rmm)/);
});

test("the pages of a printer and of its client offer the diagnosis to download, read and paste, and a remediation", async (t) => {
  const service = await startApp(t);
  const { fetch, addPrinter, post, url } = service;
  await post("/clients", { name: "Haus" });
  await addPrinter({ client_id: "1", name: "Büro" });
  for (const [owner, name] of [
    ["/printers/1", "diagnose-buro.ps1"],
    ["/clients/1", "diagnose-haus.ps1"],
  ] as const) {
    const page = await textOf(fetch(owner));
    const served = await fetch(`${owner}/scripts/diagnose`);
    const read = await fetch(`${owner}/read/diagnose`);
    const [, fold = ""] = /<details class="more" id="remediation">([\s\S]*?)<\/details>/.exec(page) ?? [];
    const links = [...fold.matchAll(/href="(\/[^"]+)">Download/g)].map(([, path = ""]) => path);
    const [detect = "", install = ""] = await textsOf(service, links);

    const text = await served.text();
    assert.ok(page.includes(`href="${owner}/scripts/diagnose"`));
    for (const kind of ["install", "diagnose"]) assert.ok(page.includes(`href="${owner}/read/${kind}"`));
    assert.ok(page.includes(`${url}${owner}/scripts/diagnose`), "one line to paste names it");
    assert.ok(page.includes(`-File .\\${name}`));
    assert.ok(served.headers.get("content-disposition")?.includes(`"${name}"`));
    assert.match(text, /^[\t\r\n\x20-\x7e]+$/, "ASCII: an RMM may store it in another encoding");
    assert.ok(text.includes("'B', [char]0x00FC, 'ro'"), "the name is written in ASCII");
    assert.doesNotMatch(text, /https?:\/\/127/, "it downloads nothing, and has no address of the service");
    assert.equal(read.status, 200);
    assert.deepEqual(links, [`${owner}/scripts/detect`, `${owner}/scripts/install?driver=apart`]);
    assert.match(detect, /exit 1\r\n/);
    assert.match(install, /Origin = 'apart'/);
    assert.doesNotMatch(install, /pnputil|Invoke-WebRequest/);
    assert.doesNotMatch(fold, /subnets/);
  }
  await addPrinter({ name: "There", driver_id: "1", subnets: "10.1.2.0/24" });
  await addPrinter({ name: "Label", driver_id: "1000003" });
  const paths = ["/printers/2", "/printers/3", "/drivers/1?tab=deploy"];
  const [withSubnets = "", ofWindows = "", ofDriver = ""] = await textsOf(service, paths);
  assert.match(withSubnets, /Remediations do not read the subnets\./);
  const script = '<a href="/printers/3/scripts/install">Download install.ps1</a>';
  assert.ok(ofWindows.includes(`Remediation script: ${script}`));
  assert.doesNotMatch(ofWindows, /It has no files/);
  assert.doesNotMatch(ofDriver, /id="remediation"/);
});

/** The rows of the page's tables, as level and check. A row without a check continues the check of the row before. */
function explainedChecks(page: string): Set<string> {
  const found = new Set<string>();
  let check = "";
  for (const [, name = "", levels = ""] of page.matchAll(/^\| (?:`([a-z-]+)`)? *\| (.*?) +\|/gm)) {
    check = name || check;
    for (const [, level] of levels.matchAll(/`(\w+)`/g)) found.add(`${level} ${check}`);
  }
  return found;
}

test("docs/diagnosis.md explains every check, and nothing else", () => {
  const scripts = [...readScriptBodies()].filter(([name]) => name.startsWith("diagnose"));
  const text = scripts.map(([, body]) => body).join("\n");
  const rows = explainedChecks(readFileSync("docs/diagnosis.md", "utf8"));

  const named = text.matchAll(/(?:Add-Finding (?:'\w+'|\$\w+)|Invoke-Check) '([a-z-]+)'/g);
  const checks = new Set([...[...named].map(([, check]) => check), "queue", "driver", "port", "marker"]);
  const wrong = [...text.matchAll(/Add-Finding '(bad|warn)' '([a-z-]+)'/g)].map(
    ([, level, check]) => `${level} ${check}`,
  );

  const missing = wrong.filter((pair) => !rows.has(pair));
  assert.ok(wrong.length > 10);
  assert.deepEqual([...new Set([...rows].map((row) => row.split(" ")[1]))].sort(), [...checks].sort());
  assert.deepEqual(missing, []);
});
