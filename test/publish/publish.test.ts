import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { startGuarded } from "../support/access/guarded.ts";
import { navigation, startApp, temporaryFolder } from "../support/app.ts";
import { deepTest } from "../support/depth.ts";
import { appWithPair } from "../support/drivers/arm64-pair.ts";
import { bytesOf } from "../support/drivers/mixed-driver.ts";
import { makePicture, makePng, pngChunk } from "../support/printers/png.ts";
import {
  appWithSharedDriver,
  fetchPublishScript,
  type ReadApp,
  scriptText,
} from "../support/publish/published.ts";

const names = (apps: readonly ReadApp[]) =>
  apps.map(({ Kind, Id, DependsOn }) => [`${Kind}:${Id}`, ...DependsOn]);

test("a printer without a client is one app with all fields that Graph needs", async (t) => {
  const app = await startApp(t);
  await app.addPrinter({ name: "Front Desk", location: "Hall" });

  const { answer, settings } = await fetchPublishScript(app, "/printers/1/publish");

  assert.match(answer.headers.get("content-disposition") ?? "", /filename="publish-front-desk\.ps1"/);
  assert.equal(answer.headers.get("content-type"), "text/plain; charset=utf-8");
  const { Apps, Frames, Clients, ...rest } = settings;
  const [{ Fields, Detection, ...first }] = Apps as [ReadApp];
  assert.deepEqual(rest, {
    LogName: "Platen-publish-front-desk",
    Title: "Front Desk",
    Client: "",
    Tenant: "",
    Instance: rest.Instance,
    IsForAll: false,
    Made: "20261121T140500Z",
    Source: { ...rest.Source, Url: `${app.url}/printers/1/publish` },
    Attention: [],
    Icons: {},
    LeftOut: [],
    Together: null,
    TogetherRefusal: "",
    Records: { Printers: [1], Clients: [], Drivers: [1], LastPrinter: 1, LastClient: 0, LastDriver: 1 },
  });
  assert.match(rest.Instance, /^[0-9a-f]{12}$/);
  assert.deepEqual(Fields, {
    displayName: "Front Desk",
    description: "Printer Front Desk, Hall",
    publisher: "Papyrus",
    displayVersion: "1.2.3.4",
    fileName: "front-desk.intunewin",
    setupFilePath: "install.ps1",
    installCommandLine:
      "powershell.exe -NoProfile -NonInteractive -ExecutionPolicy Bypass -File .\\install.ps1",
    uninstallCommandLine:
      "powershell.exe -NoProfile -NonInteractive -ExecutionPolicy Bypass -File .\\uninstall.ps1",
    allowedArchitectures: "x64",
    minimumSupportedWindowsRelease: "1607",
  });
  assert.deepEqual(names(Apps), [["printer:1"]]);
  assert.equal(first.Package.Url, `${app.url}/printers/1/packages/mdm`);
  assert.deepEqual([first.Icon, first.Requirement, Object.keys(Frames)], ["", null, ["F1"]]);
  assert.match(first.Revision, /^[0-9a-f]{12}$/);
  await app.app.store.audit.waitForEvents();
  assert.equal(app.app.deployments.lastDeployed(1), undefined, "a script is no deployment");
  assert.match(await (await app.fetch("/audit.csv")).text(), /downloaded.*publish/);
});

test("a client's printers that share a driver depend on the driver's app, and the others include their driver", async (t) => {
  const app = await appWithSharedDriver(t);

  const { settings, text } = await fetchPublishScript(app, "/clients/1/publish");
  const { settings: ofOne } = await fetchPublishScript(app, "/printers/2/publish");
  const { settings: ofWhole } = await fetchPublishScript(app, "/printers/3/publish");
  const { answer, settings: ofDriver } = await fetchPublishScript(app, "/drivers/1/publish");
  const windows = await app.fetch("/drivers/1000002/publish");

  const shared = [["driver:1"], ["printer:1", "driver:1"], ["printer:2", "driver:1"], ["printer:3"]];
  const together = settings.Together as ReadApp;
  assert.deepEqual(names(settings.Apps), shared);
  assert.deepEqual(names([together]), [["client:1"]]);
  assert.equal(together.Fields.publisher, "Papyrus");
  const [{ Name, Reason } = { Name: "", Reason: "" }, ...others] = settings.LeftOut;
  assert.deepEqual([Name, others], ["Bare", []]);
  assert.match(Reason, /driver/);
  assert.deepEqual(names(ofOne.Apps), [["driver:1"], ["printer:2", "driver:1"]]);
  assert.deepEqual(names(ofWhole.Apps), [["printer:3"]]);
  assert.deepEqual(ofOne.Apps[1], settings.Apps[2]);
  assert.match(text, /^[\x20-\x7e\t\r\n]*$/);
  assert.doesNotMatch(text, /[^\r]\n|\r[^\n]/);
  assert.match(answer.headers.get("content-disposition") ?? "", /filename="publish-[a-z0-9-]+\.ps1"/);
  assert.deepEqual(names(ofDriver.Apps), [["driver:1"]]);
  const { Fields, Package } = ofDriver.Apps[0] as ReadApp;
  assert.match(Fields.displayName ?? "", /^Printer driver /);
  assert.equal(Fields.fileName, Package.FileName);
  assert.equal(windows.status, 422);
  assert.match(await windows.text(), /has no package of its own/);
});

/** Downloads an app's package and describes it like the script does. */
async function downloaded({ Package: { Url } }: ReadApp) {
  const answer = await fetch(Url);
  const bytes = await bytesOf(answer);
  const end = "</ApplicationInfo>";
  const detection = bytes.subarray(bytes.indexOf("<ApplicationInfo"), bytes.indexOf(end) + end.length);
  return {
    Url,
    ETag: answer.headers.get("etag")?.replaceAll('"', ""),
    FileName: /filename="([^"]+)"/.exec(answer.headers.get("content-disposition") ?? "")?.[1],
    Size: bytes.length,
    DetectionSha256: createHash("sha256").update(detection).digest("hex"),
  };
}

test("the script describes packages and contains their scripts exactly as they are downloaded", async (t) => {
  const app = await appWithSharedDriver(t);
  await app.upload("/printers/3/icon", makePng(256, 256, 50), "logo.png");

  const { settings } = await fetchPublishScript(app, "/clients/1/publish");

  const apps = [...settings.Apps, settings.Together as ReadApp];
  const records = ["/drivers/1", "/printers/1", "/printers/2", "/printers/3", "/clients/1"];
  const paths = records.map(
    (record) =>
      `${record}/packages/mdm${/[12]$/.test(record) && record.startsWith("/p") ? "?driver=apart" : ""}`,
  );
  const found = [];
  for (const one of apps) found.push(await downloaded(one));
  const packages = apps.map(({ Package }) => Package);
  assert.deepEqual(packages, found);
  const addresses = found.map(({ Url }) => Url.slice(app.url.length));
  assert.deepEqual(addresses, paths);
  for (const [i, { Detection, Requirement }] of apps.entries())
    for (const [kind, script] of Object.entries({ detect: Detection, requirement: Requirement })) {
      const said = script && scriptText(settings, script);
      const path = paths[i]?.replace("packages/mdm", `scripts/${kind}`) ?? "";
      assert.equal(
        said,
        i === 0 && kind === "requirement" ? null : await (await app.fetch(path)).text(),
        path,
      );
    }
});

test("a new icon changes the package but not the revision, and a setting changes both", async (t) => {
  const app = await startApp(t);
  await app.addPrinter();
  const png = makePng(256, 256, 50);
  const sameSize = makePicture({ before: [pngChunk("prVt", Buffer.alloc(50, 1))] });
  const first = async () => (await fetchPublishScript(app, "/printers/1/publish")).settings;

  const before = await first();
  await app.upload("/printers/1/icon", png, "logo.png");
  const pictured = await first();
  await app.upload("/printers/1/icon", sameSize, "logo.png");
  const replaced = await first();
  await app.post("/printers/1", { name: "Other", address: "10.0.0.9", driver_id: "1" });
  const changed = await first();

  const [a, b, c, d] = [before, pictured, replaced, changed].map(({ Apps }) => Apps[0] as ReadApp);
  assert.equal(sameSize.length, png.length);
  assert.deepEqual([b?.Revision, c?.Revision], [a?.Revision, a?.Revision]);
  assert.equal(new Set([a, b, c].map((app) => app?.Package.ETag)).size, 3);
  assert.equal(new Set([a, b, c].map((app) => app?.Package.DetectionSha256)).size, 3);
  assert.notEqual(c?.Revision, d?.Revision);
  assert.deepEqual([a?.Icon, b?.Icon], ["", "I1"]);
  assert.deepEqual(Buffer.from(pictured.Icons.I1 ?? "", "base64"), Buffer.from(png));
  assert.equal(before.Instance, changed.Instance);
});

test("a printer with a second driver for ARM64 includes both drivers, even if others share them", async (t) => {
  const pair = await appWithPair(t);
  await pair.post("/clients", { name: "A" });
  const both = { driver_id: String(pair.main), arm64_driver_id: String(pair.arm), client_id: "1" };
  await pair.addPrinter({ name: "One", ...both });
  await pair.addPrinter({ name: "Two", ...both });
  await pair.addPrinter({ name: "Three", driver_id: String(pair.main), client_id: "1" });

  const { settings } = await fetchPublishScript(pair, "/clients/1/publish");

  assert.deepEqual(
    names(settings.Apps).flat().toSorted(),
    settings.Apps.map(({ Id }) => `printer:${Id}`).toSorted(),
  );
  assert.deepEqual(
    new Map(settings.Apps.map(({ Fields }) => [Fields.displayName, Fields.allowedArchitectures])),
    new Map([
      ["One (A)", "x64,arm64"],
      ["Two (A)", "x64,arm64"],
      ["Three (A)", "x64"],
    ]),
  );
});

test("a client's single app has a requirement script only if all of its printers have subnets", async (t) => {
  const app = await appWithSharedDriver(t);
  await app.addPrinter({ name: "D", client_id: "1", driver_id: "2", subnets: "10.3.0.0/16" });
  const scriptTogether = async () => {
    const { settings } = await fetchPublishScript(app, "/clients/1/publish");
    const { Requirement } = settings.Together ?? { Requirement: null };
    return Requirement && scriptText(settings, Requirement);
  };

  const everywhere = await scriptTogether();
  const downloaded = await (await app.fetch("/clients/1/scripts/requirement")).text();
  await app.post("/clients/1", { name: "Müller", subnets: "" });
  const partly = await scriptTogether();

  assert.deepEqual([everywhere, partly], [downloaded, null]);
});

test("a record that cannot be published is refused with the reason", async (t) => {
  const { app, fetch, post, addPrinter } = await startApp(t);
  await post("/clients", { name: "Empty" });
  await post("/printers", { name: "Bare", address: "10.0.0.1" });
  await addPrinter();
  await app.store.blobs.remove("drivers", app.store.drivers.get(1).sha256);

  for (const [path, status, reason] of [
    ["/printers/9", 404, /9 does not exist/],
    ["/clients/9", 404, /9 does not exist/],
    ["/drivers/9", 404, /9 does not exist/],
    ["/clients/1", 422, /has no printers\. Add one first/],
    ["/printers/1", 422, /choose one on the printer/],
    ["/printers/2", 422, /is missing on the server/],
    ["/drivers/1", 422, /is missing on the server/],
  ] as const) {
    const answer = await fetch(`${path}/publish`);

    assert.equal(answer.status, status, path);
    assert.match(await answer.text(), reason);
  }
});

test("a printer whose icon is damaged is left out of a script of several, with the reason", async (t) => {
  const dataDir = await temporaryFolder(t);
  const app = await startApp(t, { dataDir });
  await app.post("/clients", { name: "A" });
  const driver_id = String(await app.addDriver());
  for (const name of ["Bad", "Good"]) await app.addPrinter({ name, client_id: "1", driver_id });
  await app.upload("/printers/1/icon", makePng(), "logo.png");
  const [icon = ""] = readdirSync(join(dataDir, "icons"));
  writeFileSync(join(dataDir, "icons", icon), "damaged");

  const ofClient = await fetchPublishScript(app, "/clients/1/publish");
  const ofAll = await fetchPublishScript(app, "/publish");

  for (const { settings } of [ofClient, ofAll]) {
    assert.ok(settings.Apps.some(({ Fields }) => Fields.displayName === "Good (A)"));
    assert.match(JSON.stringify(settings), /The icon of “Bad” is damaged/);
  }
});

/** About 740 KB, different for each number. */
const iconOf = (i: number) => makePng(256, 256, 740_000 + i);

deepTest(
  "a client whose icons are too large for one script is refused, and equal icons count once",
  async (t) => {
    const app = await startApp(t);
    await app.post("/clients", { name: "A" });
    const driver_id = String(await app.addDriver());
    for (let i = 1; i <= 12; i++) {
      await app.addPrinter({ name: `P${i}`, client_id: "1", driver_id });
      await app.upload(`/printers/${i}/icon`, iconOf(i), "logo.png");
    }

    const refused = await app.fetch("/clients/1/publish");
    const one = await app.fetch("/printers/1/publish");
    await app.upload("/printers/12/icon", iconOf(1), "logo.png");
    const { settings } = await fetchPublishScript(app, "/clients/1/publish");

    assert.deepEqual([refused.status, one.status], [422, 200]);
    assert.match(await refused.text(), /Publish the printers separately/);
    assert.equal(Object.keys(settings.Icons).length, 11);
    const iconIn = (name: string) => settings.Apps.find(({ Fields }) => Fields.displayName === name)?.Icon;
    assert.match(iconIn("P1 (A)") ?? "", /^I\d+$/);
    assert.equal(iconIn("P1 (A)"), iconIn("P12 (A)"));
  },
);

/** The text about publishing on a page. */
function sectionIn(page: string): string {
  const start = page.indexOf("<h3>Publish to Intune</h3>");
  const end = page.indexOf("</details>", start);
  assert.ok(start > 0 && end > start, "the page has no text about publishing");
  return page.slice(start, end).replaceAll(/\s+/g, " ");
}

test("the pages of a printer, a client and a driver offer the script, its text, the permission and the command", async (t) => {
  const app = await appWithSharedDriver(t);
  const text = async (path: string) => (await app.fetch(path)).text();

  for (const [path, file, name, content] of [
    ["/printers/1", "a", "A", /creates two apps: the driver, shared by 2 printers, and this printer\./],
    [
      "/clients/1",
      "muller",
      "Müller",
      /4 apps: 1 driver app, 2 printer apps without driver, 1 printer app with/,
    ],
    ["/drivers/1", "papyrus-one-a-b-1-2", "Papyrus One A/B 1.2", /one app with the driver and all models/],
  ] as const) {
    const section = sectionIn(await text(path));
    const read = await text(/href="([^"]+\/read\/[^"]+)"/.exec(section)?.[1] ?? "");

    assert.match(section, content);
    for (const part of [
      `href="${path}/publish"`,
      `powershell.exe -NoProfile -ExecutionPolicy Bypass -File .\\publish-${file}.ps1`,
      `Get-Help .\\publish-${file}.ps1 -Full`,
      ...["DeviceManagementApps.ReadWrite.All", "<code>-WhatIf</code>"],
    ])
      assert.ok(section.includes(part), section);
    assert.doesNotMatch(section, /links/);
    assert.equal(section.includes("<code>-Together</code>"), path === "/clients/1");
    const line = (await text(`${path}/publish`))
      .split("\r\n")
      .find((each) => each.includes("DetectionSha256"));
    assert.ok(read.includes(line?.trim().replaceAll("'", "&#39;") ?? "none"), "it has the script's own text");
    assert.ok(read.includes(`href="${path}/publish"`) && read.includes(name));
  }
  assert.doesNotMatch(await text("/printers/4"), /Publish to Intune|publish\.ps1/, "it has no driver yet");
  await app.post("/clients", { name: "Single" });
  await app.addPrinter({ name: "Alone", client_id: "2", driver_id: "1" });
  assert.match(sectionIn(await text("/clients/2")), /The script creates one app, with the driver in it\./);
});

test("with sign-in, the page says when the script's links end, its reading is logged, and a link to it can be made", async (t) => {
  const signedIn = { linkDays: 7, publicUrl: "https://platen.example" };
  const { admin, operator, viewer } = await startGuarded(t, signedIn);
  await admin.addPrinter();

  const section = sectionIn(await (await viewer.fetch("/printers/1")).text());
  await viewer.fetch("/printers/1/read/publish");
  const form = { address: "/printers/1/publish", days: "7" };
  const answer = await operator.post("/printers/1/links", form, navigation);

  assert.match(section, /The script’s links expire 7 days after the download/);
  assert.doesNotMatch(section, /only on the Platen server/);
  const log = await (await admin.fetch("/audit")).text();
  assert.match(log, /in \/printers\/1\/publish, on its page/);
  assert.equal(answer.status, 200);
  assert.match(await answer.text(), /Link to publish-office\.ps1/);
});
