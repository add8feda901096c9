import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { type Guarded, startGuarded } from "../support/access/guarded.ts";
import { startApp } from "../support/app.ts";
import { driverZip } from "../support/drivers/driver-zip.ts";
import { fetchPublishScript, readSettings } from "../support/publish/published.ts";
import { exchange } from "../support/raw.ts";

/** A service with sign-in, and a client with two printers that share a driver. */
async function guardedWithShared(t: TestContext): Promise<Guarded> {
  const guarded = await startGuarded(t, { linkDays: 7 });
  const { admin } = guarded;
  await admin.post("/clients", { name: "A" });
  await admin.addPrinter({ name: "One", client_id: "1" });
  await admin.addPrinter({ name: "Two", client_id: "1", driver_id: "1", address: "10.0.0.8" });
  return guarded;
}

async function urlsOf(sender: Pick<Guarded["admin"], "fetch">, path: string): Promise<string[]> {
  const { settings } = await fetchPublishScript(sender, path);
  const together = settings.Together === null ? [] : [settings.Together];
  return [...settings.Apps, ...together].map(({ Package }) => Package.Url);
}

const statuses = async (urls: readonly string[]) => {
  const answers = await Promise.all(urls.map((url) => fetch(url, { method: "HEAD" })));
  return answers.map(({ status }) => status);
};

test("with sign-in, only the links in a script download its packages", async (t) => {
  const { service, viewer } = await guardedWithShared(t);

  const ofClient = await urlsOf(viewer, "/clients/1/publish");
  const ofPrinter = await urlsOf(viewer, "/printers/2/publish");
  const ofDriver = await urlsOf(viewer, "/drivers/1/publish");

  const all = [...ofClient, ...ofPrinter, ...ofDriver];
  assert.deepEqual(
    all.map((url) => url.replace(/\?link=[\w.-]+$|&link=[\w.-]+$/, " +link").slice(service.url.length)),
    [
      "/drivers/1/packages/mdm +link",
      "/printers/1/packages/mdm?driver=apart +link",
      "/printers/2/packages/mdm?driver=apart +link",
      "/clients/1/packages/mdm +link",
      "/drivers/1/packages/mdm +link",
      "/printers/2/packages/mdm?driver=apart +link",
      "/drivers/1/packages/mdm +link",
    ],
  );
  assert.deepEqual(new Set(await statuses(all)), new Set([200]));
  const bare = all.map((url) => url.replace(/[?&]link=.*$/, ""));
  assert.deepEqual(new Set(await statuses(bare)), new Set([401]));
  const whole = ofPrinter.map((url) => url.replace("driver=apart&", ""));
  assert.deepEqual(await statuses(whole), [200, 403]);
});

test("links in a client's script to printers and drivers end with the client's links", async (t) => {
  const { admin } = await guardedWithShared(t);
  const ofClient = await urlsOf(admin, "/clients/1/publish");
  const ofDriver = await urlsOf(admin, "/drivers/1/publish");

  await admin.post("/clients/1/links/end", {});

  assert.deepEqual(await statuses(ofClient), [403, 403, 403, 403]);
  assert.deepEqual(await statuses(ofDriver), [200]);
});

test("scripts contain the ids of all records for users who may see them, but not for limited tokens and links", async (t) => {
  const { service, admin, viewer, addToken, bearer } = await guardedWithShared(t);
  const reading = bearer(await addToken("read"));
  const ofClient = bearer(await addToken("client:1"));
  const ofPrinter = bearer(await addToken("printer:1"));
  const form = { address: "/clients/1/publish", days: "7" };
  const made = await (await admin.post("/clients/1/links", form)).text();
  const link = /<code id="link-0">([^<]+)</.exec(made)?.[1]?.replaceAll("&amp;", "&") ?? "";

  const records = [];
  for (const [{ fetch }, path] of [
    [viewer, "/clients/1/publish"],
    [reading, "/clients/1/publish"],
    [ofClient, "/clients/1/publish"],
    [ofClient, "/printers/2/publish"],
    [ofPrinter, "/printers/1/publish"],
    [service, link.slice(service.url.length)],
  ] as const)
    records.push((await fetchPublishScript({ fetch }, path)).settings.Records);

  const all = { Printers: [1, 2], Clients: [1], Drivers: [1], LastPrinter: 2, LastClient: 1, LastDriver: 1 };
  assert.deepEqual(records, [all, all, null, null, null, null]);
  assert.deepEqual((await ofPrinter.fetch("/clients/1/publish")).status, 403);
  assert.deepEqual((await ofPrinter.fetch("/drivers/1/publish")).status, 403);
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

/** Mentions of other records than the first printer in a script. */
function neighbourNames(text: string): string[] {
  return [...new Set(text.match(/Neighbour Qz7|Elsewhere Qz8|Papyrus 200|drivers\/1/g))].sort();
}

const appsIn = ({ Apps }: { readonly Apps: readonly { readonly Kind: string; readonly Id: number }[] }) =>
  Apps.map(({ Kind, Id }) => `${Kind} ${Id}`);

test("a token for one printer, and the script it downloaded, see nothing of other printers and models", async (t) => {
  const { viewer, service, addToken, bearer } = await guardedWithNeighbours(t);
  const path = "/printers/1/publish";
  const ofPrinter = bearer(await addToken("printer:1"));
  const ofClient = bearer(await addToken("client:1"));
  const reading = bearer(await addToken("read"));

  const whole = await fetchPublishScript(viewer, path);
  const read = await fetchPublishScript(reading, path);
  const own = await fetchPublishScript(ofPrinter, path);
  const url = own.settings.Source.Url.slice(service.url.length);
  const linked = await fetchPublishScript({ fetch: service.fetch }, url);
  const client = await fetchPublishScript(ofClient, "/clients/1/publish");

  assert.match(whole.settings.Attention.join(), /Neighbour Qz7/);
  for (const { settings, text } of [whole, read]) {
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
  const urls = [...own.settings.Apps, ...client.settings.Apps].map(({ Package }) => Package.Url);
  assert.deepEqual(new Set(await statuses(urls)), new Set([200]));
});

test("a token for one printer cannot see that a record was added", async (t) => {
  const { admin, addToken, bearer } = await guardedWithNeighbours(t);
  const ofPrinter = bearer(await addToken("printer:1"));
  const etag = async () =>
    (await ofPrinter.fetch("/printers/1/publish", { method: "HEAD" })).headers.get("etag");

  const before = await etag();
  await admin.addPrinter({ name: "Another", client_id: "2", driver_id: "1", address: "10.0.0.99" });

  assert.equal(await etag(), before);
});

test("a script contains the highest id that was ever used, so that apps of deleted records can be found", async (t) => {
  const app = await startApp(t);
  await app.addPrinter();
  await app.addPrinter({ name: "Two", driver_id: "1" });
  await app.fetch("/printers/2", { method: "DELETE" });

  const { settings } = await fetchPublishScript(app, "/printers/1/publish");

  assert.deepEqual([settings.Records?.Printers, settings.Records?.LastPrinter], [[1], 2]);
});

test("a script without the service's address requests files with -Package", async (t) => {
  const app = await startApp(t);
  await app.addPrinter();

  const request = "GET /printers/1/publish HTTP/1.1\r\nHost: not_a_host\r\nConnection: close\r\n\r\n";
  const settings = readSettings(await exchange(app.url, request));

  assert.deepEqual([settings.Source.Url, settings.Apps[0]?.Package.Url], ["", ""]);
});
