import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { startApp, type TestApp } from "../support/app.ts";
import { textOf } from "../support/deploy/answers.ts";
import { unpackers } from "../support/drivers/foreign.ts";
import { bytesOf } from "../support/drivers/mixed-driver.ts";
import { startFilled } from "../support/filled.ts";
import { fetchPublishScript } from "../support/publish/published.ts";

/** A service with printers whose subnets are their own, their client's, and none. */
const appWithPlaces = (t: TestContext) => startFilled(t, fill);
async function fill({ post, addPrinter }: TestApp): Promise<void> {
  await post("/clients", { name: "Alpha", subnets: "10.1.2.0/24" });
  await addPrinter({ name: "Own", client_id: "1", subnets: "fd00:1::/48\n10.9.9.9" });
  await addPrinter({ name: "Client’s", client_id: "1", driver_id: "1", address: "10.0.0.10" });
  await addPrinter({ name: "Anywhere", driver_id: "1" });
}

/** The subnets in a script's settings. */
const subnetsIn = (script: string) => [...script.matchAll(/Subnets = @\((.*)\)/g)].map(([, list]) => list);

/** A page's text without markup. */
const wordsOf = (page: string) => page.replace(/<[^>]*>/g, " ").replace(/\s+/g, " ");

test("requirement.ps1 is fetched alone, contains only subnets, and is in no package", async (t) => {
  const { fetch } = await appWithPlaces(t);
  const script = (of: string) => textOf(fetch(`${of}/scripts/requirement`));

  const own = await fetch("/printers/1/scripts/requirement");
  const scripts = [await own.text(), await script("/printers/2"), await script("/printers/3")];
  const ofClient = await script("/clients/1");
  const tree = unpackers.fflate(await bytesOf(fetch("/printers/1/packages/rmm")));

  const places = ["'fd00:1::/48', '10.9.9.9/32'", "'10.1.2.0/24'"];
  assert.equal(own.headers.get("content-disposition")?.split(";")[1], ' filename="requirement-own.ps1"');
  assert.deepEqual(scripts.map(subnetsIn), [[places[0]], [places[1]], []]);
  assert.deepEqual(subnetsIn(ofClient).sort(), places.toReversed());
  for (const text of [...scripts, ofClient]) {
    assert.match(text, /^[\x09\x0a\x0d\x20-\x7e]*$/);
    assert.doesNotMatch(text, /Papyrus|10\.0\.0\.9|https?:/);
  }
  assert.equal(tree["requirement.ps1"], undefined);
  assert.deepEqual(subnetsIn(tree["install.ps1"]?.toString() ?? ""), [places[0]]);
  assert.equal((await fetch("/printers/9/scripts/requirement")).status, 404);
  assert.match(await textOf(fetch("/printers/1/read/requirement")), /requirement-own\.ps1/);
});

test("a printer’s page shows whose its subnets are, and the rule for Intune and the parameter for RMM tools only if there are any", async (t) => {
  const { fetch, post } = await appWithPlaces(t);
  const settingsIn = (page: string) =>
    wordsOf(/<section id="printer-settings">.*?<\/section>/s.exec(page)?.[0] ?? "");
  const form = { name: "Client’s", client_id: "1", address: "10.0.0.10" };

  const [own, anywhere] = [await textOf(fetch("/printers/1")), await textOf(fetch("/printers/3"))];
  const ofClient = await textOf(fetch("/printers/2"));
  const saved = await textOf(post("/printers/2", form, { "hx-request": "true" }));

  assert.match(settingsIn(own), /Subnets fd00:1::\/48 10\.9\.9\.9\/32 (?!from)/);
  for (const words of [settingsIn(ofClient), wordsOf(saved)])
    assert.match(words, /Subnets 10\.1\.2\.0\/24 from the client/);
  assert.match(settingsIn(anywhere), /default settings.* Subnets all/);
  const rule = own.slice(own.indexOf("<h4>Requirements</h4>"), own.indexOf("<h4>Detection rules</h4>"));
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
    assert.ok(wordsOf(rule).includes(field), field);
  assert.doesNotMatch(wordsOf(rule), /one by one/);
  assert.match(own, /href="\/printers\/1\/scripts\/requirement">Download requirement\.ps1/);
  assert.match(own, /-File \.\\platen\\install\.ps1 -OnlyHere\n/);
  assert.match(own, /-File \$f -OnlyHere\n/);
  assert.match(wordsOf(own), /With -OnlyHere it says “Skipped: …” on PCs outside the subnets/);
  assert.match(anywhere, /-File \.\\platen\\install\.ps1\n/);
  assert.doesNotMatch(anywhere, /requirement|-OnlyHere/);
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
  await fetch("/printers/4", { method: "DELETE" });
  const anywhere = await wordsOfClient();

  for (const words of [several, one]) assert.match(words, /Script file requirement-alpha\.ps1/);
  assert.match(several, /Deploy each subnet’s printers separately/);
  assert.doesNotMatch(one, /one by one|separately/);
  assert.match(some, /None\. Some of these printers are for all PCs/);
  assert.doesNotMatch(some, /Script file requirement/);
  assert.match(some, /-OnlyHere/);
  assert.doesNotMatch(anywhere, /additional requirement rules|-OnlyHere skips/);
});

test("an invalid line is refused with 422 and named, in both forms, which keep their values", async (t) => {
  const { post, app } = await appWithPlaces(t);
  const subnets = "10.1.2.0/24\n10.1.2.3/24";

  for (const path of ["/clients", "/clients/1", "/printers", "/printers/1"]) {
    const answer = await post(path, { name: "Alpha", subnets });
    const page = await answer.text();
    assert.equal(answer.status, 422);
    assert.match(page, /Line 2: “10\.1\.2\.3\/24” is an address inside a subnet/);
    assert.match(page, /id="f-subnets" name="subnets"[^>]*>10\.1\.2\.0\/24\n10\.1\.2\.3\/24</);
  }
  assert.deepEqual(app.store.clients.get(1).subnets, ["10.1.2.0/24"]);
  assert.equal(app.store.clients.count(), 1);
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

test("a printer that must be reachable gets a requirement script and rule, by hand and with publish.ps1", async (t) => {
  const { fetch, addPrinter, post } = await startApp(t);
  await post("/clients", { name: "Alpha" });
  await addPrinter({ client_id: "1", requires_reachable: "on" });

  const page = await textOf(fetch("/printers/1"));
  const { settings } = await fetchPublishScript({ fetch }, "/printers/1/publish");
  const ofClient = await textOf(fetch("/clients/1"));
  await addPrinter({ name: "Anywhere", client_id: "1", driver_id: "1", address: "10.0.0.10" });
  const partly = await textOf(fetch("/clients/1"));

  assert.match(page, /href="\/printers\/1\/scripts\/requirement">Download requirement\.ps1/);
  assert.match(page, /PCs that cannot reach the printer are not applicable/);
  assert.doesNotMatch(page, /-OnlyHere/);
  const apps = settings.Apps.filter(({ Kind }) => Kind === "printer");
  assert.deepEqual([apps.length, apps[0]?.Requirement === null], [1, false]);
  assert.match(ofClient, /requirement-alpha\.ps1/);
  assert.match(partly, /None\. Some of these printers are for all PCs/);
});
