import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { startGuarded } from "../support/access/guarded.ts";
import type { TestApp } from "../support/app.ts";
import { fetchAll, statusesOf, textOf, textsOf } from "../support/deploy/answers.ts";
import { type Tree, unpackers, verifyIntunewin, without } from "../support/drivers/foreign.ts";
import { bytesOf } from "../support/drivers/mixed-driver.ts";
import { startFilled } from "../support/filled.ts";
import { makePng } from "../support/printers/png.ts";
import { makePreferences } from "../support/printers/preferences-files.ts";

const [first, second] = [makePreferences(1), makePreferences(2)];

/** Adds a client with four printers: the first two have the same preferences, the third others, the fourth none. */
async function addClient({ post, addPrinter, upload }: TestApp): Promise<void> {
  await post("/clients", { name: "Alpha" });
  await addPrinter({ name: "A", client_id: "1" });
  for (const [i, name] of ["B", "C", "D"].entries())
    await addPrinter({ name, client_id: "1", driver_id: "1", address: `10.0.0.1${i}` });
  for (const [i, bytes] of [first, first, second].entries())
    await upload(`/printers/${i + 1}/preferences`, bytes, "preferences.dat");
}

const appWithClient = (t: TestContext) => startFilled(t, addClient);

const settingsIn = (script: string, name: string) =>
  [...script.matchAll(new RegExp(`^\\s*${name} = '(.*)'$`, "gm"))].map(([, value]) => value);

test("a printer’s packages have the file at their root, also without its driver; a client’s have one each, and scripts alone its address", {
  skip: without.verifier,
}, async (t) => {
  const service = await appWithClient(t);
  const { url, fetch, upload } = service;
  await upload("/printers/1/icon", makePng(), "icon.png");
  const zip = async (path: string) => unpackers.fflate(await bytesOf(fetch(path)));

  const trees = [await zip("/printers/1/packages/rmm"), await zip("/printers/1/packages/rmm?driver=apart")];
  const app = verifyIntunewin(await bytesOf(fetch("/printers/1/packages/mdm?driver=apart")));
  const client = await zip("/clients/1/packages/rmm");
  const chosen = await zip("/packages/rmm?ids=3,4&driver=apart");
  const bare = await zip("/printers/4/packages/rmm");

  for (const tree of [...trees, app]) {
    const script = String(tree["install.ps1"]);
    assert.deepEqual(tree["preferences.dat"], first);
    assert.deepEqual(settingsIn(script, "PreferencesFile"), ["preferences.dat"]);
    assert.deepEqual(settingsIn(script, "PreferencesDownload"), []);
  }
  assert.deepEqual(app["icon.png"], makePng());
  const named = (tree: Tree) => Object.entries(tree).filter(([name]) => name.startsWith("preferences"));
  const files = { "preferences/1.dat": first, "preferences/2.dat": first, "preferences/3.dat": second };
  assert.deepEqual(Object.fromEntries(named(client)), files);
  assert.deepEqual(chosen["preferences/3.dat"], second);
  const paths = settingsIn(String(client["install.ps1"]), "PreferencesFile");
  assert.deepEqual(paths, ["preferences\\1.dat", "preferences\\2.dat", "preferences\\3.dat", ""]);
  assert.deepEqual(named(bare), []);

  const ends = ["install", "install?driver=apart", "detect"].map((end) => `/printers/1/scripts/${end}`);
  const texts = await textsOf(service, [...ends, "/clients/1/scripts/install"]);
  const addresses = texts.map((text) => settingsIn(text, "PreferencesDownload"));
  const [one, two, three] = [1, 2, 3].map((id) => `${url}/printers/${id}/preferences`);
  assert.deepEqual(addresses, [[one], [one], [], [one, two, three, ""]]);
  assert.deepEqual(settingsIn(texts[0] ?? "", "PreferencesFile"), [""]);
  assert.doesNotMatch(texts[2] ?? "", /http/);
});

test("with sign-in, a script’s address of the file has a link that opens this file only", async (t) => {
  const { service, admin, viewer } = await startGuarded(t);
  await admin.post("/clients", { name: "Alpha" });
  await admin.addPrinter({ name: "A", client_id: "1" });
  await admin.addPrinter({ name: "B", client_id: "1", driver_id: "1", address: "10.0.0.8" });
  for (const id of [1, 2]) await admin.upload(`/printers/${id}/preferences`, first, "preferences.dat");
  const addressesIn = async (path: string) =>
    settingsIn(await textOf(viewer.fetch(path)), "PreferencesDownload").map((address = "") => {
      const { pathname, search } = new URL(address);
      return pathname + search;
    });

  const addresses = [
    ...(await addressesIn("/printers/1/scripts/install")),
    ...(await addressesIn("/clients/1/scripts/install")),
  ];
  const answers = await fetchAll(service, addresses);
  const swapped = await service.fetch((addresses[0] ?? "").replace("/printers/1/", "/printers/2/"));
  await admin.post("/clients/1/links/end", {});
  const ended = await service.fetch(addresses[1] ?? "");

  assert.deepEqual(statusesOf(answers), [200, 200, 200]);
  for (const answer of answers) assert.deepEqual(await bytesOf(answer), first);
  assert.match(addresses[1] ?? "", /^\/printers\/1\/preferences\?link=\w-\w{3}\./);
  assert.deepEqual([swapped.status, ended.status], [403, 403]);
});

test("where the file is missing on disk, packages and scripts are refused with the remedy until it is uploaded again", async (t) => {
  const service = await appWithClient(t);
  const { app, fetch, upload } = service;
  const ends = ["packages/rmm", "packages/mdm?driver=apart", "scripts/install", "preferences"];
  const ofPrinter = ends.map((end) => `/printers/3/${end}`);
  const paths = [...ofPrinter, "/clients/1/packages/rmm", "/clients/1/scripts/install"];
  await app.store.blobs.remove("preferences", app.store.preferences.find(3)?.sha256 ?? "");

  const refused = await fetchAll(service, paths);
  const others = await fetch("/printers/1/packages/rmm");
  await upload("/printers/3/preferences", second, "preferences.dat");
  const again = await fetchAll(service, paths);

  for (const answer of refused) {
    assert.equal(answer.status, 422);
    assert.match(
      await answer.text(),
      /The vendor preferences of “C” are missing on the server\. Upload the file again, or delete it\./,
    );
  }
  assert.equal(others.status, 200);
  assert.deepEqual(new Set(statusesOf(again)), new Set([200]));
});
