import assert from "node:assert/strict";
import { test } from "node:test";
import { startApp } from "../support/app.ts";
import { appWithPair } from "../support/drivers/arm64-pair.ts";
import { makePicture, makePng, pngChunk } from "../support/printers/png.ts";
import { appWithSharedDriver, fetchPublishScript, type ReadApp } from "../support/publish/published.ts";

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
  await app.app.deployments.waitUntilCounted();
  assert.equal(app.app.deployments.lastDeployed(1), undefined, "a script is no deployment");
  assert.match(await (await app.fetch("/audit.csv")).text(), /downloaded.*publish/);
});

test("a client's printers that share a driver depend on the driver's app, and the others include their driver", async (t) => {
  const app = await appWithSharedDriver(t);

  const { settings, text } = await fetchPublishScript(app, "/clients/1/publish");
  const { settings: ofOne } = await fetchPublishScript(app, "/printers/2/publish");
  const { settings: ofWhole } = await fetchPublishScript(app, "/printers/3/publish");

  const shared = [["driver:1"], ["printer:1", "driver:1"], ["printer:2", "driver:1"], ["printer:3"]];
  assert.deepEqual(names(settings.Apps), shared);
  assert.deepEqual(
    settings.Apps.map(({ Package }) => Package.Url.slice(app.url.length)),
    [
      "/drivers/1/packages/mdm",
      "/printers/1/packages/mdm?driver=apart",
      "/printers/2/packages/mdm?driver=apart",
      "/printers/3/packages/mdm",
    ],
  );
  assert.deepEqual(names(settings.Together === null ? [] : [settings.Together]), [["client:1"]]);
  assert.equal(settings.Together?.Fields.publisher, "Papyrus");
  assert.deepEqual(
    settings.LeftOut.map(({ Name }) => Name),
    ["Bare"],
  );
  assert.match(settings.LeftOut[0]?.Reason ?? "", /driver/);
  assert.deepEqual(names(ofOne.Apps), [["driver:1"], ["printer:2", "driver:1"]]);
  assert.deepEqual(names(ofWhole.Apps), [["printer:3"]]);
  assert.deepEqual(ofOne.Apps[1], settings.Apps[2]);
  assert.match(text, /^[\x20-\x7e\t\r\n]*$/);
  assert.doesNotMatch(text, /[^\r]\n|\r[^\n]/);
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

test("a driver is published alone, and a driver of Windows is refused with the reason", async (t) => {
  const app = await appWithSharedDriver(t);

  const { answer, settings } = await fetchPublishScript(app, "/drivers/1/publish");
  const windows = await app.fetch("/drivers/1000002/publish");

  assert.match(answer.headers.get("content-disposition") ?? "", /filename="publish-[a-z0-9-]+\.ps1"/);
  assert.deepEqual(names(settings.Apps), [["driver:1"]]);
  assert.match(settings.Apps[0]?.Fields.displayName ?? "", /^Printer driver /);
  assert.equal(settings.Apps[0]?.Fields.fileName, settings.Apps[0]?.Package.FileName);
  assert.equal(windows.status, 422);
  assert.match(await windows.text(), /has no package of its own/);
});
