import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { navigation, startApp, type TestApp } from "../support/app.ts";
import { unpackers } from "../support/drivers/foreign.ts";
import { bytesOf } from "../support/drivers/mixed-driver.ts";
import { startFilled } from "../support/filled.ts";

/** A service with printers whose subnets are their own, their client's, and none. */
const appWithPlaces = (t: TestContext) => startFilled(t, fill);
async function fill({ post, addPrinter }: TestApp): Promise<void> {
  await post("/clients", { name: "Alpha", subnets: "10.1.2.0/24" });
  await addPrinter({ name: "Own", client_id: "1", subnets: "fd00:1::/48\n10.9.9.9" });
  await addPrinter({ name: "Client’s", client_id: "1", driver_id: "1", address: "10.0.0.10" });
  await addPrinter({ name: "Anywhere", driver_id: "1" });
}

const textOf = async (answer: Promise<Response>) => (await answer).text();

/** The subnets in a script's settings. */
const subnetsIn = (script: string) => [...script.matchAll(/Subnets = @\((.*)\)/g)].map(([, list]) => list);

/** A page's text without markup. */
const wordsOf = (page: string) => page.replace(/<[^>]*>/g, " ").replace(/\s+/g, " ");

test("requirement.ps1 is fetched alone, contains only subnets, and is in no package", async (t) => {
  const { fetch } = await appWithPlaces(t);

  const own = await fetch("/printers/1/scripts/requirement");
  const [ofOwn, ofClients, anywhere, ofClient] = await Promise.all([
    own.text(),
    ...["/printers/2", "/printers/3", "/clients/1"].map((of) => textOf(fetch(`${of}/scripts/requirement`))),
  ]);
  const tree = unpackers.fflate(await bytesOf(fetch("/printers/1/packages/rmm")));

  assert.equal(own.headers.get("content-disposition")?.split(";")[1], ' filename="requirement-own.ps1"');
  assert.deepEqual(subnetsIn(ofOwn), ["'fd00:1::/48', '10.9.9.9/32'"]);
  assert.deepEqual(subnetsIn(ofClients ?? ""), ["'10.1.2.0/24'"]);
  assert.deepEqual(subnetsIn(anywhere ?? ""), []);
  assert.deepEqual(subnetsIn(ofClient ?? "").sort(), ["'10.1.2.0/24'", "'fd00:1::/48', '10.9.9.9/32'"]);
  for (const script of [ofOwn, ofClient, anywhere]) {
    assert.match(script ?? "", /^[\x09\x0a\x0d\x20-\x7e]*$/);
    assert.doesNotMatch(script ?? "", /Papyrus|10\.0\.0\.9|https?:/);
  }
  assert.equal(Object.keys(tree).includes("requirement.ps1"), false);
  assert.deepEqual(subnetsIn(tree["install.ps1"]?.toString() ?? ""), ["'fd00:1::/48', '10.9.9.9/32'"]);
  assert.equal((await fetch("/printers/9/scripts/requirement")).status, 404);
  assert.match(await textOf(fetch("/printers/1/read/requirement")), /requirement-own\.ps1/);
});

test("the page shows the requirement rule for Intune and the parameter for RMM tools only if there are subnets", async (t) => {
  const { fetch } = await appWithPlaces(t);

  const [own, anywhere] = await Promise.all([textOf(fetch("/printers/1")), textOf(fetch("/printers/3"))]);

  const fields = own.slice(own.indexOf("<h4>Requirements</h4>"), own.indexOf("<h4>Detection rules</h4>"));
  const words = wordsOf(fields);
  for (const field of [
    "Configure additional requirement rules Add, with the requirement type Script",
    "Script file requirement-own.ps1",
    "Run script as 32-bit process on 64-bit clients No",
    "Run this script using the logged on credentials No",
    "Enforce script signature check No",
    "Select output data type String",
    "Operator Equals",
    "Value applicable",
  ])
    assert.ok(words.includes(field), `${field}: ${words}`);
  assert.doesNotMatch(words, /one by one/);
  assert.match(own, /href="\/printers\/1\/scripts\/requirement">Download requirement\.ps1/);
  assert.doesNotMatch(anywhere, /requirement/);
  assert.match(own, /-File \.\\platen\\install\.ps1 -OnlyHere\n/);
  assert.match(own, /-File \$f -OnlyHere\n/);
  assert.match(wordsOf(own), /With -OnlyHere it says “Skipped: …” on PCs outside the subnets/);
  assert.match(anywhere, /-File \.\\platen\\install\.ps1\n/);
  assert.doesNotMatch(anywhere, /-OnlyHere/);
});

test("a client’s page says whether its printers have the same subnets, and which have none", async (t) => {
  const { fetch, post, addPrinter } = await appWithPlaces(t);
  const wordsOfClient = async () => wordsOf(await textOf(fetch("/clients/1")));

  const several = await wordsOfClient();
  await post("/printers/1", { name: "Own", client_id: "1", driver_id: "1", address: "10.0.0.9" });
  const one = await wordsOfClient();
  const other = { name: "Other", client_id: "1", driver_id: "1", address: "10.0.0.12" };
  await addPrinter({ ...other, subnets: "10.3.0.0/16" });
  await post("/clients/1", { name: "Alpha", subnets: "" });
  const some = await wordsOfClient();
  await fetch("/printers/2", { method: "DELETE" });
  const oneOfTwo = await wordsOfClient();
  await fetch("/printers/4", { method: "DELETE" });
  const anywhere = await wordsOfClient();

  assert.match(several, /Script file requirement-alpha\.ps1/);
  assert.match(several, /Deploy each subnet’s printers separately/);
  assert.match(one, /Script file requirement-alpha\.ps1/);
  assert.doesNotMatch(one, /one by one/);
  for (const words of [some, oneOfTwo]) {
    assert.match(words, /None\. Some of these printers are for all PCs/);
    assert.doesNotMatch(words, /Script file requirement/);
    assert.match(words, /-OnlyHere/);
  }
  assert.doesNotMatch(anywhere, /additional requirement rules|-OnlyHere skips/);
});

test("an invalid line is refused with 422 and named, in both forms, which keep their values", async (t) => {
  const { post, app } = await appWithPlaces(t);
  const subnets = "10.1.2.0/24\n10.1.2.3/24";

  const answers = [
    await post("/clients", { name: "Beta", subnets }),
    await post("/clients/1", { name: "Alpha", subnets }),
    await post("/printers", { name: "New", subnets }),
    await post("/printers/1", { name: "Own", subnets }),
  ];

  for (const answer of answers) {
    const page = await answer.text();
    assert.equal(answer.status, 422);
    assert.match(page, /Line 2: “10\.1\.2\.3\/24” is an address inside a subnet/);
    assert.match(page, /id="f-subnets" name="subnets"[^>]*>10\.1\.2\.0\/24\n10\.1\.2\.3\/24</);
  }
  assert.deepEqual(app.store.clients.get(1).subnets, ["10.1.2.0/24"]);
  assert.equal(app.store.clients.count(), 1);
});

test("a printer’s page shows its subnets and whether they are its own or its client’s", async (t) => {
  const { fetch, post } = await appWithPlaces(t);
  const settingsOf = async (id: number) => {
    const page = await textOf(fetch(`/printers/${id}`));
    return wordsOf(/<section id="printer-settings">.*?<\/section>/s.exec(page)?.[0] ?? "");
  };
  const form = { name: "Client’s", client_id: "1", address: "10.0.0.10" };

  const [own, ofClient, anywhere] = [await settingsOf(1), await settingsOf(2), await settingsOf(3)];
  const saved = await textOf(post("/printers/2", form, { "hx-request": "true" }));

  assert.match(own, /Subnets fd00:1::\/48 10\.9\.9\.9\/32 (?!from)/);
  assert.match(ofClient, /Subnets 10\.1\.2\.0\/24 from the client/);
  assert.match(anywhere, /default settings.* Subnets all/);
  assert.match(wordsOf(saved), /Subnets 10\.1\.2\.0\/24 from the client/);
});

test("a client keeps its subnets after a save, an undone deletion and a restart", async (t) => {
  const app = await startApp(t);
  await app.post("/clients", { name: "Alpha", subnets: "10.1.2.0/24\nfd00::/64" }, navigation);
  const before = app.app.store.clients.get(1);

  const deleted = await app.post("/clients/1/delete", {}, navigation);
  const gone = app.app.store.clients.count();
  await app.post("/deletions/1/undo", {}, navigation);
  const back = app.app.store.clients.get(1);
  await app.stop();
  const restarted = await startApp(t, { dataDir: app.dataDir });

  assert.deepEqual(before.subnets, ["10.1.2.0/24", "fd00::/64"]);
  assert.deepEqual([deleted.status, gone], [303, 0]);
  assert.deepEqual(back, before);
  assert.deepEqual(restarted.app.store.clients.get(1), before);
});

test("saving an outdated client form keeps new subnets, and asks where both changed them", async (t) => {
  const { post, fetch, app } = await appWithPlaces(t);
  const opened = /name="opened" value="([^"]+)"/.exec(await textOf(fetch("/clients/1")))?.[1] ?? "";
  await post("/clients/1", { name: "Alpha", subnets: "10.7.0.0/16" });

  const late = await post("/clients/1", { name: "Alpha", notes: "late", subnets: "10.1.2.0/24", opened });
  const both = await post("/clients/1", { name: "Alpha", notes: "late", subnets: "10.8.0.0/16", opened });

  assert.deepEqual([late.status, both.status], [200, 409]);
  assert.match(
    await late.text(),
    /Another user changed “Subnets” to “<bdi>10\.7\.0\.0\/16<\/bdi>”\. Platen kept that value/,
  );
  assert.match(await both.text(), /Saved meanwhile: .*10\.7\.0\.0\/16/);
  assert.equal(app.store.clients.get(1).notes, "late");
  assert.deepEqual(app.store.clients.get(1).subnets, ["10.7.0.0/16"]);
});

test("a change of subnets changes scripts and packages but not the revision", async (t) => {
  const { fetch, post } = await appWithPlaces(t);
  const seen = async () => {
    const script = await textOf(fetch("/printers/2/scripts/detect"));
    const { headers } = await fetch("/printers/2/packages/rmm", { method: "HEAD" });
    return [/Revision = '(\w+)'/.exec(script)?.[1], subnetsIn(script)[0], headers.get("etag")] as const;
  };

  const before = await seen();
  await post("/clients/1", { name: "Alpha", subnets: "10.7.0.0/16" });
  const after = await seen();

  assert.equal(after[0], before[0]);
  assert.deepEqual([before[1], after[1]], ["'10.1.2.0/24'", "'10.7.0.0/16'"]);
  assert.notEqual(after[2], before[2]);
});

test("an export contains printers’ own subnets, and an import reads them; an invalid subnet makes only its row wrong", async (t) => {
  const from = await appWithPlaces(t);
  const list = await textOf(from.fetch("/export/printers.csv"));
  const to = await startApp(t);
  await to.addDriver();
  const send = (path: string, text: string) => to.post(path, { text });

  const imported = await send("/import", list);
  const wrong = await textOf(send("/import/preview", "name,subnets\nBad,10.1.2.3/24\n"));
  const subnets = (app: TestApp) =>
    app.app.store.printers.findMany([1, 2, 3]).map((printer) => printer.subnets);

  assert.equal(imported.status, 200);
  assert.deepEqual(subnets(from), [["fd00:1::/48", "10.9.9.9/32"], [], []]);
  assert.deepEqual(subnets(to), subnets(from));
  assert.match(wrong, /Line 1: “10\.1\.2\.3\/24” is an address inside a subnet/);
});
