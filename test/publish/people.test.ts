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
  startWithPrinter,
} from "../support/publish/publishing.ts";

const group = "11111111-2222-4333-8444-555555555555";

/** The answers that a person gives to a script's questions. */
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

// A question needs a PowerShell of its own, which starts slowly.
describe("people who run the script", { skip: withoutPowerShell }, () => {
  deepTest(
    "decline with -Confirm: the run names the declined apps, and their changes are pending",
    async (t) => {
      const publishing = await startWithPrinter(t);
      const { tenant, script, path, app } = publishing;
      const text = await script(path);

      const declined = await runAnswered(t, publishing, text, ["N"], "-Confirm");
      const changes = changesIn(tenant);
      const half = await runAnswered(t, publishing, text, ["Y", "N"], "-Confirm", "-AssignTo", group);

      assert.match(declined.output, /Office +Pending .*declined/);
      assert.deepEqual([declined.code, changes], [3, []]);
      assert.match(half.output, /Office +Pending .*declined/);
      assert.equal(tenant.getApp(app().id).assignments.length, 0);
      assert.deepEqual([half.code, app().publishingState], [3, "published"]);
    },
  );

  deepTest("decline a driver's app: the printers that need it are not published", async (t) => {
    const publishing = await startPublishing(t);
    await addSharedDriver(publishing.service);
    const text = await publishing.script("/clients/1/publish");

    const { code, output } = await runAnswered(t, publishing, text, ["N"], "-Confirm");

    assert.deepEqual([code, changesIn(publishing.tenant)], [2, []]);
    assert.match(output, /declined/);
    const failed = output.match(/Failed +It depends on '[^']+', which was not published/g);
    assert.equal(failed?.length, 2, output);
  });

  deepTest("decline a dependency: content that needs it is not uploaded", async (t) => {
    const publishing = await startPublishing(t);
    const { service, tenant, publish, script } = publishing;
    const [id = 0] = await addSharedDriver(service, ["Front Desk"]);
    await publish("/clients/1/publish");
    const app = appOf(tenant, `printer:${id}`).id;
    const whole = tenant.content(app).sha256;
    await service.addPrinter({ client_id: "1", driver_id: "1", name: "Second", address: "10.0.0.9" });
    const text = await script("/clients/1/publish");

    const { code, output } = await runAnswered(t, publishing, text, ["Y", "Y", "N", "N"], "-Confirm");

    assert.match(output, /Front Desk \(Contoso\) +Pending .*declined/);
    assert.deepEqual([code, tenant.content(app).sha256, tenant.children(app)], [3, whole, []]);
    assert.ok(tenant.content(appOf(tenant, "driver:1").id).size > 0);
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

  for (const Force of [false, true])
    test(`run an older script, which ${Force ? "reverts an app with" : "does not revert an app without"} -Force`, async (t) => {
      const { service, tenant, published, run, script, id, path, app } = await startWithPrinter(t);
      await editPrinter(service, id, { address: "10.0.0.1", port_name: "" });
      const old = (await script(path)).replace(/Made = '\d{8}T\d{6}Z'/, "Made = '20260101T000000Z'");
      await editPrinter(service, id, { address: "10.0.0.99", port_name: "" });
      await published(path);
      await editPrinter(service, id, { address: "10.0.0.1", port_name: "" });

      const result = await run(old, { Force });

      assert.deepEqual([result.code, changesIn(tenant).length > 0], [Force ? 0 : 1, Force], result.said);
      assert.match(
        resultRows(result).join(),
        Force ? /Updated/ : /Failed +A newer script, of 20\d\d-\d\d-\d\d \d\d:\d\d UTC, published this app/,
      );
      assert.match(String(app().notes), Force ? / at:20260101T000000Z / : / at:20261121T140500Z /);
    });

  const contradictions: Readonly<Record<string, [Record<string, unknown>, RegExp]>> = {
    "-Remove and -Together": [
      { Remove: true, Together: true },
      /-Remove publishes nothing\. Run it without -Together/,
    ],
    "-Remove and -AssignTo": [{ Remove: true, AssignTo: [group] }, /-Remove publishes nothing/],
    "-Remove and -Package": [{ Remove: true, Package: "a" }, /-Remove publishes nothing/],
    "-Intent alone": [{ Intent: "available" }, /-Intent is for the assignments of -AssignTo/],
    "a token and a tenant": [{ Tenant: "contoso.com" }, /Use -AccessToken or -Tenant, not both/],
    "a token and an app": [{ ClientId: group }, /Use -AccessToken or -ClientId, not both/],
    "-Together for a printer": [{ Together: true }, /-Together is for the script of a client/],
    "-SignIn Secret without one": [
      { SignIn: "Secret", AccessToken: undefined },
      /-SignIn Secret needs -ClientSecret/,
    ],
    "-SignIn Certificate without one": [
      { SignIn: "Certificate", AccessToken: undefined },
      /-SignIn Certificate needs -CertificateThumbprint/,
    ],
    "a token and a browser": [{ SignIn: "Browser" }, /-AccessToken is not for -SignIn Browser/],
    "a token and a secret": [
      { ClientSecret: { Secure: "x" } },
      /Use only one of -AccessToken and -ClientSecret/,
    ],
    "a token and the tenant that it is for": [{ Tenant: "contoso.example" }, /A token is for one tenant/],
    "a password without a certificate": [
      { AccessToken: undefined, CertificatePassword: { Secure: "x" } },
      /is for -CertificatePath/,
    ],
    "Graph without HTTPS": [
      { GraphUrl: "http://graph.example.com" },
      /-GraphUrl takes an address that begins with https:\/\//,
    ],
    "a sign-in without HTTPS": [
      { LoginUrl: "http://login.example.com" },
      /-LoginUrl takes an address that begins with https:\/\//,
    ],
    "a package that is not there": [
      { Package: "/tmp/nowhere" },
      /-Package: there is no file or folder \S+nowhere\./,
    ],
  };
  for (const [name, [parameters, message]] of Object.entries(contradictions))
    test(`give parameters that cannot work, which are refused before any request: ${name}`, async (t) => {
      const { tenant, publish, path } = await startWithPrinter(t);

      const run = await publish(path, parameters);

      assert.deepEqual([run.code, tenant.requests.length], [1, 0]);
      assert.match(run.said, message);
    });
});

describe("an app registration of the shop's own", { skip: withoutPowerShell }, () => {
  const inBrowser = { AccessToken: undefined, SignIn: "Browser", Register: true };

  test("-Register with -WhatIf shows the permission and makes nothing", async (t) => {
    const { tenant, publish, path } = await startWithPrinter(t);

    const shown = await publish(path, { ...inBrowser, WhatIf: true });

    assert.deepEqual([shown.code, tenant.registrations], [3, []]);
    const permission = /Permission: +DeviceManagementApps\.ReadWrite\.All \(delegated\), and nothing else/;
    assert.match(shown.said, permission);
  });

  test("-Register makes a public client with one permission, and says how to consent", async (t) => {
    const { tenant, publish, path } = await startWithPrinter(t);

    const made = await publish(path, { ...inBrowser, Force: true });

    const [registration, ...more] = tenant.registrations;
    assert.deepEqual([made.code, more], [0, []], made.said);
    assert.deepEqual(registration?.publicClient, { redirectUris: ["http://localhost"] });
    assert.equal(registration?.isFallbackPublicClient, true);
    const [access, ...others] = (registration?.requiredResourceAccess ?? []) as {
      resourceAccess: unknown[];
    }[];
    assert.deepEqual([access?.resourceAccess.length, others], [1, []]);
    assert.match(made.said, new RegExp(`-ClientId ${registration?.appId}`));
    assert.match(made.said, /\/v2\.0\/adminconsent\?client_id=/);
  });

  test("-Register makes no second registration", async (t) => {
    const { tenant, publish, path } = await startWithPrinter(t);
    tenant.registrations.push({ id: "1", appId: group, displayName: "Platen publish" });

    const run = await publish(path, { ...inBrowser, Force: true });

    assert.deepEqual([run.code, tenant.registrations.length], [0, 1]);
    assert.match(run.said, /already has the app registration 'Platen publish'/);
  });

  deepTest("without a person to ask, nothing is made", async (t) => {
    const { tenant, publish, path } = await startWithPrinter(t);

    const run = await publish(path, inBrowser);

    assert.deepEqual([run.code, tenant.registrations], [1, []]);
  });
});
