import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { undoLast } from "../support/backup/deletions.ts";
import { statusesOf, textOf } from "../support/deploy/answers.ts";
import { withOnePrinter } from "../support/printers/one-printer.ts";
import { fetchPublishScript } from "../support/publish/published.ts";

const sddl = "G:SYD:(A;;LCSWSDRCWDWO;;;BA)(A;;SWRC;;;WD)";
const options = { permission_sddl: sddl, keep_printed: "on", hold_mismatched: "on" };

const settingIn = (script: string, name: string) =>
  new RegExp(`^\\s*${name} = (.*)$`, "m").exec(script)?.[1]?.trim();

/** Starts a service with a printer, and returns how to save it and what its install script has. */
async function appWithPrinter(t: TestContext) {
  const app = await withOnePrinter(t);
  const save = (fields: Record<string, string>) =>
    app.post("/printers/1", { name: "Office", driver_id: "1", address: "10.0.0.9", ...fields });
  const script = () => textOf(app.fetch("/printers/1/scripts/install"));
  return { ...app, save, script };
}

test("permissions and options of the queue are in the scripts, and change the revision only if set", async (t) => {
  const { save, script } = await appWithPrinter(t);
  const before = await script();
  await save({ requires_reachable: "on" });
  const reachable = await script();
  const revisions = [];
  for (const [name, value] of Object.entries(options)) {
    await save({ [name]: value });
    revisions.push(settingIn(await script(), "Revision"));
  }
  await save(options);
  const full = await script();
  await save({});
  const back = await script();

  const names = ["PermissionSddl", "KeepPrinted", "HoldMismatched"];
  const values = (text: string) => names.map((name) => settingIn(text, name));
  for (const text of [before, reachable]) assert.deepEqual(values(text), [undefined, undefined, undefined]);
  assert.deepEqual(values(full), [`'${sddl}'`, "$true", "$true"]);
  assert.equal(settingIn(reachable, "Revision"), settingIn(before, "Revision"));
  assert.equal(new Set([settingIn(before, "Revision"), ...revisions]).size, 4);
  assert.equal(settingIn(back, "Revision"), settingIn(before, "Revision"));
});

test("the printer’s page and the audit log name the options, and a change of them can be undone", async (t) => {
  const service = await appWithPrinter(t);
  const { fetch, save, script } = service;
  const before = settingIn(await script(), "Revision");

  await save({ ...options, requires_reachable: "on" });
  const page = await textOf(fetch("/printers/1"));
  const log = await textOf(fetch("/audit"));
  await undoLast(service);

  assert.match(page, /Queue permissions<\/dt><dd><code>G:SYD:\(A;;LCSW/);
  for (const label of ["Keep printed documents", "Hold mismatched documents"])
    assert.match(page, new RegExp(`${label}</dt><dd>yes<`));
  assert.match(page, /Only PCs that reach the printer<\/dt><dd>yes, in Intune</);
  assert.match(log, /Hold mismatched documents/);
  assert.equal(settingIn(await script(), "Revision"), before);
});

test("wrong permissions, and a printer without an address that must be reachable, are refused with 422", async (t) => {
  const { save, app } = await appWithPrinter(t);
  const before = app.store.printers.get(1).printer;

  const wrong = await save({ permission_sddl: "D:(A;;SW;;;Everyone)" });
  const nowhere = await save({ address: "", port_name: "LPT1:", requires_reachable: "on" });

  assert.deepEqual(statusesOf([wrong, nowhere]), [422, 422]);
  const page = await wrong.text();
  assert.match(page, /has the entry “A;;SW;;;Everyone” with “Everyone”, which is no SID/);
  assert.match(page, /name="permission_sddl"[^>]*value="D:\(A;;SW;;;Everyone\)"/);
  assert.match(await nowhere.text(), /Only a printer with an address can be reachable\. Enter its address/);
  assert.deepEqual({ ...app.store.printers.get(1).printer }, { ...before });
});

test("a printer that must be reachable gets a requirement script and rule, by hand and with publish.ps1", async (t) => {
  const { fetch, save, addPrinter, post } = await appWithPrinter(t);
  await post("/clients", { name: "Alpha" });
  await save({ client_id: "1", requires_reachable: "on" });

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
