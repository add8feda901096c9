import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { startGuarded } from "../support/access/guarded.ts";
import type { TestApp } from "../support/app.ts";
import { etagOf, fetchAll, statusesOf, textOf, textsOf } from "../support/deploy/answers.ts";
import { selectCases } from "../support/depth.ts";
import { type Tree, unpackers, verifyIntunewin, without } from "../support/drivers/foreign.ts";
import { bytesOf } from "../support/drivers/mixed-driver.ts";
import { startFilled } from "../support/filled.ts";
import { makePng } from "../support/printers/png.ts";
import { makePreferences } from "../support/printers/preferences-files.ts";
import { fetchPublishScript } from "../support/publish/published.ts";

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

async function appWithClient(t: TestContext) {
  const app = await startFilled(t, addClient);
  const zip = async (path: string) => unpackers.fflate(await bytesOf(app.fetch(path)));
  return { ...app, zip };
}

const settingsIn = (script: string, name: string) =>
  [...script.matchAll(new RegExp(`^\\s*${name} = '(.*)'$`, "gm"))].map(([, value]) => value);

test("a printer’s package has the file at its root, also without its driver; a client’s has one for each printer", async (t) => {
  const { zip } = await appWithClient(t);

  const trees = [await zip("/printers/1/packages/rmm"), await zip("/printers/1/packages/rmm?driver=apart")];
  const client = await zip("/clients/1/packages/rmm");
  const chosen = await zip("/packages/rmm?ids=3,4&driver=apart");
  const bare = await zip("/printers/4/packages/rmm");

  for (const tree of trees) {
    const script = tree["install.ps1"]?.toString() ?? "";
    assert.deepEqual(tree["preferences.dat"], first);
    assert.deepEqual(settingsIn(script, "PreferencesFile"), ["preferences.dat"]);
    assert.deepEqual(settingsIn(script, "PreferencesDownload"), []);
  }
  const named = (tree: Tree) => Object.keys(tree).filter((name) => name.startsWith("preferences"));
  assert.deepEqual(named(client).sort(), ["preferences/1.dat", "preferences/2.dat", "preferences/3.dat"]);
  assert.deepEqual([client["preferences/2.dat"], client["preferences/3.dat"]], [first, second]);
  assert.deepEqual(chosen["preferences/3.dat"], second);
  const files = settingsIn(client["install.ps1"]?.toString() ?? "", "PreferencesFile");
  assert.deepEqual(files, ["preferences\\1.dat", "preferences\\2.dat", "preferences\\3.dat", ""]);
  assert.deepEqual(named(bare), []);
});

test("unzip and 7z unpack the preferences unchanged", {
  skip: without.unzip || without.sevenZip,
}, async (t) => {
  const { fetch } = await appWithClient(t);

  const bytes = await bytesOf(fetch("/clients/1/packages/rmm"));
  const trees = [unpackers.unzip(bytes), unpackers.sevenZip(bytes)];

  for (const tree of trees)
    assert.deepEqual([tree["preferences/2.dat"], tree["preferences/3.dat"]], [first, second]);
});

test("an Intune package has preferences and icon, also without its driver", {
  skip: without.verifier,
}, async (t) => {
  const { fetch, upload } = await appWithClient(t);
  await upload("/printers/1/icon", makePng(), "icon.png");

  const paths = ["/printers/1/packages/mdm", "/printers/1/packages/mdm?driver=apart"];
  const trees = [];
  for (const path of selectCases([...paths, "/clients/1/packages/mdm"], 2))
    trees.push(verifyIntunewin(await bytesOf(fetch(path))));
  const client = trees.pop();

  for (const tree of trees) {
    assert.deepEqual(tree["preferences.dat"], first);
    assert.deepEqual(tree["icon.png"], makePng());
  }
  assert.deepEqual(client?.["preferences/3.dat"], second);
});

test("the ETag of packages and the revision in publish.ps1 change with the file", async (t) => {
  const { fetch, upload } = await appWithClient(t);
  const paths = ["/printers/4/packages/rmm", "/printers/4/packages/mdm", "/clients/1/packages/rmm"];
  const seen = async () => {
    const heads = paths.map((path) => etagOf(fetch(path, { method: "HEAD" })));
    const { settings } = await fetchPublishScript({ fetch }, "/printers/4/publish");
    return [...(await Promise.all(heads)), JSON.stringify(settings.Apps.map(({ Revision }) => Revision))];
  };

  const before = await seen();
  await upload("/printers/4/preferences", second, "preferences.dat");
  const after = await seen();
  await fetch("/printers/4/preferences", { method: "DELETE" });

  assert.ok(!after.some((text) => before.includes(text)));
  assert.deepEqual(await seen(), before);
});

test("only an install script fetched alone names the address of the file", async (t) => {
  const service = await appWithClient(t);
  const { url } = service;
  const ofPrinter = ["install", "install?driver=apart", "detect"].map((end) => `/printers/1/scripts/${end}`);

  const texts = await textsOf(service, [...ofPrinter, "/clients/1/scripts/install"]);
  const [own = "", apart = "", detect = "", client = ""] = texts;

  const address = (id: number) => `${url}/printers/${id}/preferences`;
  for (const text of [own, apart]) {
    assert.deepEqual(settingsIn(text, "PreferencesDownload"), [address(1)]);
    assert.deepEqual(settingsIn(text, "PreferencesFile"), [""]);
  }
  assert.deepEqual(settingsIn(client, "PreferencesDownload"), [address(1), address(2), address(3), ""]);
  assert.doesNotMatch(detect, /http/);
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
  assert.match(addresses[1] ?? "", /^\/printers\/1\/preferences\?link=\w{3}\.c1\./);
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
