import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { deepTest } from "../support/depth.ts";
import { withoutPowerShell } from "../support/powershell/powershell.ts";
import { startAlone } from "../support/publish/publish-alone.ts";
import {
  addSharedDriver,
  appOf,
  changesIn,
  editPrinter,
  type Publishing,
  resultRows,
  startPublishing,
  startWithoutPlaten,
  startWithPrinter,
} from "../support/publish/publishing.ts";

const group = "11111111-2222-4333-8444-555555555555";

/** Runs a script in a PowerShell of its own, which starts slowly and can ask questions. */
async function runAnswered(
  t: Parameters<typeof startAlone>[0],
  { tenant }: Publishing,
  text: string,
  answers: readonly string[],
  ...args: string[]
) {
  const given = ["-GraphUrl", tenant.graphUrl, "-AccessToken", tenant.token, ...args];
  return (await startAlone(t, text, given, answers)).ended;
}

describe("people who run the script", { skip: withoutPowerShell }, () => {
  test("decline an assignment: the app is named as declined, and its change is pending", async (t) => {
    const { tenant, publish, path, app } = await startWithPrinter(t);

    const run = await publish(path, { AssignTo: [group] }, { CONFIRM: "yn" });

    assert.match(resultRows(run).join(), /Office +Pending .*declined/);
    assert.equal(tenant.getApp(app().id).assignments.length, 0);
    assert.deepEqual([run.code, app().publishingState], [3, "published"]);
  });

  test("decline a driver's app: the printers that need it are not published", async (t) => {
    const { service, tenant, publish } = await startPublishing(t);
    await addSharedDriver(service);

    const run = await publish("/clients/1/publish", {}, { CONFIRM: "n" });

    const failed = run.said.match(/Failed +It depends on '[^']+', which was not published/g);
    assert.deepEqual([run.code, changesIn(tenant), failed?.length], [2, [], 2], run.said);
    assert.match(run.said, /declined/);
  });

  test("decline a dependency: content that needs it is not uploaded", async (t) => {
    const { service, tenant, publish, published } = await startPublishing(t);
    const [id = 0] = await addSharedDriver(service, ["Front Desk"]);
    await published("/clients/1/publish");
    const app = appOf(tenant, `printer:${id}`).id;
    const whole = tenant.content(app);
    await service.addPrinter({ client_id: "1", driver_id: "1", name: "Second", address: "10.0.0.9" });

    const run = await publish("/clients/1/publish", {}, { CONFIRM: "ynn" });

    assert.match(run.said, /Front Desk \(Contoso\) +Pending .*declined/);
    assert.deepEqual([run.code, tenant.content(app), tenant.children(app)], [3, whole, []]);
    assert.ok(tenant.content(appOf(tenant, "driver:1").id).size > 0);
  });

  deepTest(
    "decline with -Confirm: the run names the declined apps, and their changes are pending",
    async (t) => {
      const publishing = await startWithPrinter(t);
      const text = await publishing.script(publishing.path);

      const declined = await runAnswered(t, publishing, text, ["N"], "-Confirm");

      assert.match(declined.output, /Office +Pending .*declined/);
      assert.deepEqual([declined.code, changesIn(publishing.tenant)], [3, []]);
    },
  );

  deepTest("are asked before a deletion, and the default answer is no", async (t) => {
    const publishing = await startPublishing(t);
    const { service, tenant, published, script } = publishing;
    const gone = await service.addPrinter();
    const other = await service.addPrinter({ name: "Elsewhere", driver_id: "1" });
    await published(`/printers/${gone}/publish`);
    await service.fetch(`/printers/${gone}`, { method: "DELETE" });
    const text = await script(`/printers/${other}/publish`);

    const kept = await runAnswered(t, publishing, text, [""], "-Remove");
    const apps = tenant.apps().length;
    const deleted = await runAnswered(t, publishing, text, ["y"], "-Remove");

    assert.match(kept.output, /Delete 1 app\? What they installed stays on the PCs\.[\s\S]*Office +Pending/);
    assert.match(deleted.output, /Office +Removed/);
    assert.deepEqual([kept.code, apps, deleted.code, tenant.apps().length], [3, 1, 0, 0]);
  });

  test("end the run in the middle: it says that the next run continues", async (t) => {
    const { tenant, run } = await startWithoutPlaten(t);

    const ended = await run({ AccessToken: { Block: "exit 7" } });

    assert.match(ended.said, /Interrupted\. Run this script again: it continues where this run stopped\./);
    assert.deepEqual([tenant.requests, resultRows(ended)], [[], []]);
  });

  deepTest("press Ctrl+C: the run ends with 1 and says that the next run continues", async (t) => {
    const { tenant, script, run, path } = await startWithPrinter(t);
    const text = await script(path);
    const args = ["-GraphUrl", tenant.graphUrl, "-AccessToken", tenant.token];
    const started = await startAlone(t, text, args);
    tenant.onRequest = async ({ area }) => {
      if (area !== "storage") return;
      started.interrupt();
      await started.ended;
    };

    const ended = await started.ended;
    tenant.onRequest = undefined;
    const next = await run(text);

    assert.equal(ended.code, 1, ended.output);
    assert.match(ended.output, /Interrupted\. Run this script again: it continues where this run stopped\./);
    assert.deepEqual([next.code, tenant.apps().length], [0, 1]);
  });

  for (const Force of [false, true])
    test(`run an older script, which ${Force ? "reverts an app with" : "does not revert an app without"} -Force`, async (t) => {
      const { service, tenant, published, run, script, id, path, app } = await startWithPrinter(t);
      const old = (await script(path)).replace(/Made = '\d{8}T\d{6}Z'/, "Made = '20260101T000000Z'");
      await editPrinter(service, id, { address: "10.0.0.99", port_name: "" });
      await published(path);
      await editPrinter(service, id, { address: "10.0.0.9", port_name: "" });

      const result = await run(old, { Force });

      assert.deepEqual([result.code, changesIn(tenant).length > 0], [Force ? 0 : 1, Force], result.said);
      const refusal = /Failed +A newer script, of 20\d\d-\d\d-\d\d \d\d:\d\d UTC, published this app/;
      assert.match(resultRows(result).join(), Force ? /Updated/ : refusal);
      assert.match(String(app().notes), Force ? / at:20260101T000000Z / : / at:20261121T140500Z /);
    });

  const noToken = { AccessToken: undefined };
  const device = { AssignTo: ["AllDevices"], Intent: "available" };
  const app = { ...noToken, CertificatePath: "a.pfx", Tenant: "contoso.example" };
  const contradictions: readonly (readonly [Record<string, unknown>, RegExp])[] = [
    [{ Remove: true, Together: true }, /-Remove publishes nothing\. Run it without -Together/],
    [{ Remove: true, AssignTo: [group] }, /-Remove publishes nothing/],
    [{ Remove: true, Package: "a" }, /-Remove publishes nothing/],
    [{ Register: true }, /-Register needs a person who signs in/],
    [{ Intent: "available" }, /-Intent is for the assignments of -AssignTo/],
    [{ AssignTo: [group], FilterMode: "exclude" }, /-FilterMode is for -Filter/],
    [{ AssignTo: [","] }, /-AssignTo is empty/],
    [device, /apps to users only\. Use -Intent required for AllDevices, or -AssignTo AllUsers/],
    [{ Tenant: "contoso.com" }, /A token is for one tenant .* Use -AccessToken or -Tenant, not both/],
    [{ ClientId: group }, /Use -AccessToken or -ClientId, not both/],
    [{ Together: true }, /-Together is for the script of a client/],
    [{ SignIn: "Secret", ...noToken }, /-SignIn Secret needs -ClientSecret/],
    [{ SignIn: "Certificate", ...noToken }, /-SignIn Certificate needs -CertificateThumbprint/],
    [{ SignIn: "Browser" }, /-AccessToken is not for -SignIn Browser/],
    [{ ClientSecret: { Secure: "x" } }, /Use only one of -AccessToken and -ClientSecret/],
    [{ ...noToken, CertificatePassword: { Secure: "x" } }, /is for -CertificatePath/],
    [app, /needs -Tenant and -ClientId/],
    [{ GraphUrl: "http://graph.example.com" }, /-GraphUrl takes an address that begins with https:\/\//],
    [{ LoginUrl: "http://login.example.com" }, /-LoginUrl takes an address that begins with https:\/\//],
    [{ Package: "/tmp/nowhere" }, /-Package: there is no file or folder \S+nowhere\./],
    [{ AsJson: true, PassThru: true }, /Use -AsJson or -PassThru, not both/],
    [{ AsJson: true, Confirm: true }, /-AsJson asks no questions/],
    [{ AsJson: true, Register: true, ...noToken }, /-AsJson asks no questions/],
    [{ AsJson: true, Remove: true }, /-AsJson asks no questions/],
  ];
  for (const [parameters, message] of contradictions) {
    const names = Object.keys(parameters).map((name) => `-${name}`);
    test(`give parameters that cannot work, which are refused before any request: ${names.join(" ")}`, async (t) => {
      const { tenant, run } = await startWithoutPlaten(t);

      const { code, log, said } = await run(parameters);

      assert.deepEqual([code, tenant.requests.length], [1, 0]);
      assert.match("AsJson" in parameters ? log : said, message);
    });
  }
});

describe("an app registration of the shop's own", { skip: withoutPowerShell }, () => {
  const register = { AccessToken: undefined, SignIn: "DeviceCode", Register: true };

  test("-Register shows the permission, and makes nothing with -WhatIf, by default, and without a person to ask", async (t) => {
    const { tenant, run } = await startWithoutPlaten(t);

    const shown = await run({ ...register, WhatIf: true });
    const declined = await run(register, { ANSWER: "default" });
    const unasked = await run(register);

    assert.deepEqual([shown.code, declined.code, unasked.code], [3, 3, 1]);
    assert.deepEqual(tenant.registrations, []);
    const permission = /Permission: +DeviceManagementApps\.ReadWrite\.All \(delegated\), and nothing else/;
    assert.match(shown.said, permission);
  });

  test("-Register makes a public client with one permission, and says how to consent", async (t) => {
    const { tenant, run } = await startWithoutPlaten(t);

    const made = await run({ ...register, Force: true });

    const [{ publicClient, isFallbackPublicClient, requiredResourceAccess, appId } = {}, ...more] =
      tenant.registrations;
    assert.deepEqual([made.code, more], [0, []], made.said);
    assert.deepEqual([publicClient, isFallbackPublicClient], [{ redirectUris: ["http://localhost"] }, true]);
    const [access, ...others] = (requiredResourceAccess ?? []) as { resourceAccess: unknown[] }[];
    assert.deepEqual([access?.resourceAccess.length, others], [1, []]);
    assert.match(made.said, new RegExp(`-ClientId ${appId}[\\s\\S]*/v2\\.0/adminconsent\\?client_id=`));
  });

  test("-Register makes no second registration", async (t) => {
    const { tenant, run } = await startWithoutPlaten(t);
    tenant.registrations.push({ id: "1", appId: group, displayName: "Platen publish" });

    const { code, said } = await run({ ...register, Force: true });

    assert.deepEqual([code, tenant.registrations.length], [0, 1]);
    assert.match(said, /already has the app registration 'Platen publish'/);
  });
});
