import assert from "node:assert/strict";
import { test } from "node:test";
import { startGuarded } from "../support/access/guarded.ts";
import { navigation, startApp } from "../support/app.ts";
import { appWithSharedDriver } from "../support/publish/published.ts";

/** The text about publishing on a page. */
function sectionIn(page: string): string {
  const start = page.indexOf("<h3>Publish to Intune</h3>");
  const end = page.indexOf("</details>", start);
  assert.ok(start > 0 && end > start, "the page has no text about publishing");
  return page.slice(start, end).replaceAll(/\s+/g, " ");
}

test("the pages of a printer, a client and a driver offer the script, the permission and the command", async (t) => {
  const { fetch } = await appWithSharedDriver(t);

  const sections = [];
  for (const path of ["/printers/1", "/clients/1", "/drivers/1"])
    sections.push(sectionIn(await (await fetch(path)).text()));

  const [printer = "", client = "", driver = ""] = sections;
  for (const [section, path, name] of [
    [printer, "/printers/1", "a"],
    [client, "/clients/1", "muller"],
    [driver, "/drivers/1", "papyrus-one-a-b-1-2"],
  ] as const) {
    assert.ok(section.includes(`href="${path}/publish"`), section);
    assert.ok(
      section.includes(`powershell.exe -NoProfile -ExecutionPolicy Bypass -File .\\publish-${name}.ps1`),
      section,
    );
    assert.match(section, /DeviceManagementApps\.ReadWrite\.All/);
    assert.ok(section.includes(`Get-Help .\\publish-${name}.ps1 -Full`), section);
    assert.doesNotMatch(section, /links/);
  }
  assert.deepEqual(
    [printer, client, driver].map((section) => section.includes("<code>-Together</code>")),
    [false, true, false],
  );
  for (const section of [printer, client, driver]) assert.match(section, /<code>-WhatIf<\/code>/);
  assert.match(printer, /The script creates two apps: the driver, shared by 2 printers, and this printer\./);
  assert.match(driver, /one app with the driver and all models/);
});

test("a client's page and its script give the same number of apps", async (t) => {
  const app = await appWithSharedDriver(t);
  await app.post("/clients", { name: "Single" });
  await app.addPrinter({ name: "Alone", client_id: "2", driver_id: "1" });

  const shared = sectionIn(await (await app.fetch("/clients/1")).text());
  const whole = sectionIn(await (await app.fetch("/clients/2")).text());

  assert.match(
    shared,
    /The script creates 4 apps: 1 driver app, 2 printer apps without driver, 1 printer app with driver\./,
  );
  assert.match(whole, /The script creates one app, with the driver in it\./);
});

test("with sign-in, the page says that the script contains links and when they end", async (t) => {
  const { admin, viewer } = await startGuarded(t, { linkDays: 7, publicUrl: "https://platen.example" });
  await admin.addPrinter();

  const section = sectionIn(await (await viewer.fetch("/printers/1")).text());

  assert.match(section, /The script’s links expire 7 days after the download/);
  assert.doesNotMatch(section, /only on the Platen server/);
});

test("a page shows the script's text", async (t) => {
  const app = await appWithSharedDriver(t);

  for (const [path, name] of [
    ["/printers/1", "A"],
    ["/clients/1", "Müller"],
    ["/drivers/1", "Papyrus One A/B 1.2"],
  ] as const) {
    const section = sectionIn(await (await app.fetch(path)).text());
    const readPath = /href="([^"]+\/read\/[^"]+)"/.exec(section)?.[1] ?? "";
    const page = await (await app.fetch(readPath)).text();
    const script = await (await app.fetch(`${path}/publish`)).text();
    const line = script.split("\r\n").find((text) => text.includes("DetectionSha256")) ?? "none";

    assert.ok(page.includes(line.trim().replaceAll("'", "&#39;")), "the page has the script's own text");
    assert.ok(page.includes(`href="${path}/publish"`) && page.includes(name), readPath);
  }
});

test("reading a script with links is in the audit log", async (t) => {
  const { admin, viewer } = await startGuarded(t, { publicUrl: "https://platen.example" });
  await admin.addPrinter();

  await viewer.fetch("/printers/1/read/publish");

  const log = await (await admin.fetch("/audit")).text();
  assert.match(log, /in \/printers\/1\/publish, on its page/);
});

test("a link to the script can be made", async (t) => {
  const { admin, operator } = await startGuarded(t);
  await admin.addPrinter();

  const form = { address: "/printers/1/publish", days: "7" };
  const answer = await operator.post("/printers/1/links", form, navigation);

  assert.equal(answer.status, 200);
  assert.match(await answer.text(), /Link to publish-office\.ps1/);
});

test("a printer that has no driver yet offers no script", async (t) => {
  const app = await startApp(t);
  await app.post("/printers", { name: "Bare", address: "10.0.0.1" });

  const page = await (await app.fetch("/printers/1")).text();

  assert.doesNotMatch(page, /Publish to Intune|publish\.ps1/);
});
