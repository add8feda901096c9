import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { dayMs } from "../../src/domain/text.ts";
import { deploymentOf } from "../../src/pkg/scripts/deployment.ts";
import { filesPathOf, type Guarded, startGuarded, statusesOf } from "../support/access/guarded.ts";
import { addPerson, signInAdmin, startClosed } from "../support/access/people.ts";
import { startApp } from "../support/app.ts";
import { driverZip } from "../support/drivers/driver-zip.ts";
import { bytesOf } from "../support/drivers/mixed-driver.ts";
import { deployable, withoutPowerShell } from "../support/powershell/powershell.ts";
import { simulatedWindows } from "../support/powershell/simulated-windows.ts";
import { fetchPublishScript, readSettings } from "../support/publish/published.ts";
import { exchange } from "../support/raw.ts";

const noon = Date.UTC(2026, 10, 21, 12);
const install = "/printers/1/scripts/install";

test("a script fetched by a person or with a token contains a link to its driver's files", async (t) => {
  const { service, admin, viewer, addToken, bearer } = await startGuarded(t);
  await admin.addPrinter();
  const ofPrinter = bearer(await addToken("printer:1"));

  const paths = [
    await filesPathOf(viewer, install),
    await filesPathOf(ofPrinter, install),
    await filesPathOf(viewer, "/drivers/1/scripts/install"),
  ];
  const statuses = await statusesOf(service, paths);
  await service.stop();
  const open = await startApp(t, { dataDir: service.dataDir });

  const [ofPerson, ofToken, ofDriver] = paths.map((path) => path.slice(0, -22));
  for (const [i, path] of [ofPerson, ofToken, ofDriver].entries())
    assert.match(path ?? "", new RegExp(String.raw`^/drivers/1/files\?link=${i + 1}-[0-9a-z]{3}\.$`));
  assert.deepEqual(statuses, [200, 200, 200]);
  // Without sign-in, scripts have no link, and the earlier ones still work.
  assert.equal(await filesPathOf(open, install), "/drivers/1/files");
  assert.deepEqual(await statusesOf(open, paths), [200, 200, 200]);
});

test("a script's bytes stay the same for a day, its link ends at the end of a day, and packages stay the same", async (t) => {
  let now = noon;
  const { service, viewer, admin } = await startGuarded(t, { clock: () => now, linkDays: 2 });
  await admin.addPrinter();
  const etag = async () => (await viewer.fetch(install)).headers.get("etag");
  const packages = () =>
    Promise.all(["rmm", "mdm"].map((format) => bytesOf(viewer.fetch(`/printers/1/packages/${format}`))));
  const files = await filesPathOf(viewer, install);

  const [first, before] = [await etag(), await packages()];
  now += dayMs / 2 - 1;
  const evening = await etag();
  now += 1;
  const tomorrow = await etag();
  now = noon + 2.5 * dayMs - 1;
  const [last] = await statusesOf(service, [files]);
  now += 1;
  const ended = await service.fetch(files);
  now += 40 * dayMs;
  const after = await packages();

  assert.equal(first, evening);
  assert.notEqual(first, tomorrow);
  assert.deepEqual([last, ended.status], [200, 403]);
  assert.match(await ended.text(), /ended on 2026-11-24\..*download the script again/);
  assert.deepEqual(after, before);
  assert.ok(before.every((bytes) => !bytes.includes("link=")));
});

test("links of a disabled or deleted account have ended, and no later account revives them", async (t) => {
  const app = await startClosed(t);
  const boss = { cookie: await signInAdmin(app) };
  const tech = { cookie: await addPerson(app, "tech", "operator") };
  await app.upload("/drivers/upload", driverZip(), "d.zip", tech);
  await app.post("/printers", { name: "Office", driver_id: "1", address: "10.0.0.9" }, tech);
  const form = { address: install, days: "90" };
  const page = await (await app.post("/printers/1/links", form, tech)).text();
  const link = /\/printers\/1\/scripts\/install\?link=[\w.-]+/.exec(page)?.[0] ?? page;
  const files = await filesPathOf({ fetch: (path) => app.fetch(path, { headers: tech }) }, install);
  // A script fetched with the link contains a link of the same account.
  const handedOn = await filesPathOf(app, link);
  const ask = () => statusesOf(app, [link, files, handedOn]);
  const badges = async () =>
    (await (await app.fetch("/printers/1", { headers: boss })).text()).match(/No access/g);

  const before = await ask();
  const badgesBefore = await badges();
  await app.post("/accounts/2/disable", {}, boss);
  const disabled = await ask();
  const badgesThen = await badges();
  const text = await (await app.fetch(handedOn)).text();
  await app.post("/accounts/2/enable", {}, boss);
  const enabled = await ask();
  await app.post("/accounts/2/delete", {}, boss);
  await addPerson(app, "tech", "operator");
  const deleted = await ask();

  assert.match(text, /This link has ended, because its maker no longer has access\./);
  assert.deepEqual([before, enabled], [Array(3).fill(200), Array(3).fill(200)]);
  assert.deepEqual([disabled, deleted], [Array(3).fill(403), Array(3).fill(403)]);
  assert.deepEqual(
    [badgesBefore, badgesThen],
    [null, ["No access", "No access"]],
    "the link and the script's",
  );
});

test("a script that is being made while its sender’s access ends brings no new link", async (t) => {
  const app = await startClosed(t);
  const boss = { cookie: await signInAdmin(app) };
  await app.upload("/drivers/upload", driverZip(), "d.zip", boss);
  await app.post("/printers", { name: "Office", driver_id: "1", address: "10.0.0.9" }, boss);
  const tech = { cookie: await addPerson(app, "tech", "operator") };
  const { store } = app.app;
  const version = store.version.bind(store);
  // The service asks for it between the check of the sender and the work.
  t.mock.method(store, "version", () => {
    void store.accounts.endAccess(2);
    return version();
  });

  const { status } = await app.fetch(install, { headers: tech });

  assert.deepEqual([status, store.links.list()], [403, []]);
});

test("a link in a script ends with the token or the link that fetched the script", async (t) => {
  let now = noon;
  const options = { clock: () => now, linkDays: 1000 };
  const { service, admin, addToken, bearer, linkTo } = await startGuarded(t, options);
  await admin.addPrinter();
  const link = await linkTo(install, "1");
  const paths = [
    link,
    await filesPathOf(service, link),
    await filesPathOf(bearer(await addToken("printer:1", "30")), install),
    await filesPathOf(bearer(await addToken("read")), install),
  ];
  const ask = () => statusesOf(service, paths);

  now = Date.UTC(2026, 10, 23) - 1;
  const before = await ask();
  now += 1;
  const linkEnded = await ask();
  const text = await (await service.fetch(paths[1] ?? "")).text();
  now = noon + 30 * dayMs - 1;
  const atLast = await ask();
  now += 1;
  const expired = await ask();
  await admin.post("/tokens/2/delete", {});
  const revoked = await ask();

  assert.deepEqual(before, [200, 200, 200, 200]);
  assert.deepEqual([linkEnded, atLast], [Array.of(403, 403, 200, 200), Array.of(403, 403, 200, 200)]);
  assert.match(text, /This link has ended on 2026-11-23/);
  assert.deepEqual(expired, [403, 403, 403, 200]);
  assert.deepEqual(revoked, [403, 403, 403, 403]);
  for (const path of paths.slice(2))
    assert.match(await (await service.fetch(path)).text(), /This link (has ended, because|is not valid\.)/);
});

test("a client's script does not open a printer that another client has now", async (t) => {
  const { service, admin } = await startGuarded(t);
  for (const name of ["Contoso", "Fabrikam"]) await admin.post("/clients", { name });
  await admin.addPrinter({ client_id: "1" });
  const script = await (await admin.fetch("/clients/1/publish")).text();
  const [link = ""] = /\/printers\/1\/packages\/mdm[^'\s]*link=[\w.-]+/.exec(script) ?? [];

  const before = await statusesOf(service, [link]);
  await admin.post("/printers/1", { name: "Office", address: "10.0.0.9", driver_id: "1", client_id: "2" });

  assert.deepEqual([before, await statusesOf(service, [link])], [[200], [403]]);
});

test("a script names the address of its driver's files in its log and error without the link", {
  skip: withoutPowerShell,
}, async () => {
  const windows = simulatedWindows();
  const url = "http://platen.lan:8080/drivers/1/files?link=abc..secret";
  const script = deploymentOf(deployable(), new Map([[1, { url, sha256: "c".repeat(64) }]]));
  await windows.setMachine({ Refusals: [{ Status: 403 }] });

  const { code, output, log } = await windows.run("install", script, { withoutFiles: true });

  assert.equal(code, 1603);
  assert.match(output.at(-1) ?? "", /could not be downloaded from http:\S+\/drivers\/1\/files: /);
  assert.doesNotMatch([...output, log].join("\n"), /link=|secret/);
});

/** A client with two printers that share a driver and an address, and another client with another model of the driver. */
async function guardedWithNeighbours(t: TestContext): Promise<Guarded> {
  const guarded = await startGuarded(t, { linkDays: 7 });
  const { admin } = guarded;
  for (const name of ["A", "B"]) await admin.post("/clients", { name });
  await admin.addDriver(driverZip({ models: ["Papyrus 100 PCL6", "Papyrus 200 PCL6"] }));
  for (const [name, client_id, model] of [
    ["One", "1", "100"],
    ["Neighbour Qz7", "1", "100"],
    ["Elsewhere Qz8", "2", "200"],
  ] as const) {
    const driver = { driver_id: "1", driver_desc: `Papyrus ${model} PCL6` };
    await admin.addPrinter({ name, client_id, address: "10.0.0.5", ...driver });
  }
  return guarded;
}

/** The paths of the packages that a publishing script downloads. */
async function packagesOf(sender: Pick<Guarded["admin"], "fetch">, path: string): Promise<string[]> {
  const { settings } = await fetchPublishScript(sender, path);
  const together = settings.Together === null ? [] : [settings.Together];
  return [...settings.Apps, ...together].map(({ Package }) => Package.Url.replace(/^http:\/\/[^/]+/, ""));
}

const head = { method: "HEAD" };

test("only the links in a publishing script download its packages, and end with the links of its record", async (t) => {
  const { service, admin, viewer } = await guardedWithNeighbours(t);

  const ofClient = await packagesOf(viewer, "/clients/1/publish");
  const ofPrinter = await packagesOf(viewer, "/printers/2/publish");
  const ofDriver = await packagesOf(viewer, "/drivers/1/publish");
  const all = [...ofClient, ...ofPrinter, ...ofDriver];
  const bare = all.map((path) => path.replace(/[?&]link=.*$/, ""));
  const whole = ofPrinter.map((path) => path.replace("driver=apart&", ""));
  const statuses = (paths: readonly string[]) => statusesOf(service, paths, head);

  assert.deepEqual(
    all.map((path) => path.replace(/[?&]link=[\w.-]+$/, " +link")),
    [
      "/drivers/1/packages/mdm +link",
      "/printers/2/packages/mdm?driver=apart +link",
      "/printers/1/packages/mdm?driver=apart +link",
      "/clients/1/packages/mdm +link",
      "/drivers/1/packages/mdm +link",
      "/printers/2/packages/mdm?driver=apart +link",
      "/drivers/1/packages/mdm +link",
    ],
  );
  assert.deepEqual(await statuses(all), Array(7).fill(200));
  assert.deepEqual(await statuses(bare), Array(7).fill(401));
  assert.deepEqual(await statuses(whole), [200, 403]);
  await admin.post("/clients/1/links/end", {});
  assert.deepEqual(await statuses([...ofClient, ...ofDriver]), [403, 403, 403, 403, 200]);
});

/** Mentions of other records than the first printer in a script. */
function neighbourNames(text: string): string[] {
  return [...new Set(text.match(/Neighbour Qz7|Elsewhere Qz8|Papyrus 200|drivers\/1/g))].sort();
}

const appsIn = ({ Apps }: { readonly Apps: readonly { readonly Kind: string; readonly Id: number }[] }) =>
  Apps.map(({ Kind, Id }) => `${Kind} ${Id}`);

test("only for users who may see all records has a script their ids; a limited token or link sees no other record", async (t) => {
  const { admin, viewer, service, addToken, bearer, linkTo } = await guardedWithNeighbours(t);
  const path = "/printers/1/publish";
  const ofPrinter = bearer(await addToken("printer:1"));
  const etag = async () => (await ofPrinter.fetch(path, head)).headers.get("etag");

  const whole = await fetchPublishScript(viewer, path);
  const read = await fetchPublishScript(bearer(await addToken("read")), path);
  const own = await fetchPublishScript(ofPrinter, path);
  const linked = await fetchPublishScript(service, own.settings.Source.Url.slice(service.url.length));
  const ofClient = bearer(await addToken("client:1"));
  const client = await fetchPublishScript(ofClient, "/clients/1/publish");
  const printer = await fetchPublishScript(ofClient, path);
  const shared = await fetchPublishScript(service, await linkTo("/clients/1/publish"));
  const urls = [...own.settings.Apps, ...client.settings.Apps].map(({ Package }) => Package.Url);
  const answers = await Promise.all(urls.map((url) => fetch(url, head)));
  const before = await etag();
  await admin.addPrinter({ name: "Another", client_id: "2", driver_id: "1", address: "10.0.0.99" });

  const last = { LastPrinter: 3, LastClient: 2, LastDriver: 1 };
  const all = { Printers: [1, 2, 3], Clients: [1, 2], Drivers: [1], ...last };
  for (const { settings } of [own, linked, client, printer, shared]) assert.equal(settings.Records, null);
  assert.deepEqual(await statusesOf(ofPrinter, ["/clients/1/publish", "/drivers/1/publish"]), [403, 403]);
  assert.match(whole.settings.Attention.join(), /Neighbour Qz7/);
  for (const { settings, text } of [whole, read]) {
    assert.deepEqual(settings.Records, all);
    assert.deepEqual(appsIn(settings), ["driver 1", "printer 1"]);
    assert.deepEqual(neighbourNames(text), ["Neighbour Qz7", "Papyrus 200", "drivers/1"]);
  }
  for (const { settings, text } of [own, linked]) {
    assert.deepEqual([appsIn(settings), settings.Attention], [["printer 1"], []]);
    assert.deepEqual(neighbourNames(text), []);
  }
  assert.equal(linked.settings.Source.Apps, own.settings.Source.Apps);
  assert.deepEqual(appsIn(client.settings), ["printer 2", "printer 1"]);
  assert.deepEqual(neighbourNames(client.text), ["Neighbour Qz7"]);
  assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]));
  assert.equal(await etag(), before);
});

test("a publishing script contains the highest id ever used, and without the service's address requests files", async (t) => {
  const app = await startApp(t);
  await app.addPrinter();
  await app.addPrinter({ name: "Two", driver_id: "1" });
  await app.fetch("/printers/2", { method: "DELETE" });
  const request = "GET /printers/1/publish HTTP/1.1\r\nHost: nas:99999\r\nConnection: close\r\n\r\n";

  const { settings } = await fetchPublishScript(app, "/printers/1/publish");
  const nameless = readSettings(await exchange(app.url, request));

  assert.deepEqual([settings.Records?.Printers, settings.Records?.LastPrinter], [[1], 2]);
  assert.deepEqual([nameless.Source.Url, nameless.Apps[0]?.Package.Url], ["", ""]);
});
