import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { withoutPowerShell } from "../support/powershell/powershell.ts";
import { startPublishing } from "../support/publish/publishing.ts";

const inBrowser = { AccessToken: undefined, SignIn: "Browser", Register: true };

describe("an app registration of the shop's own", { skip: withoutPowerShell }, () => {
  test("-Register shows and makes a public client with one permission, and says how to consent", async (t) => {
    const { service, tenant, publish } = await startPublishing(t);
    const id = await service.addPrinter();
    const path = `/printers/${id}/publish`;

    const shown = await publish(path, { ...inBrowser, WhatIf: true });
    const before = tenant.registrations.length;
    const made = await publish(path, { ...inBrowser, Force: true });
    const again = await publish(path, { ...inBrowser, Force: true });

    const [registration, ...more] = tenant.registrations;
    assert.ok(registration);
    assert.deepEqual([shown.code, before, made.code, more], [3, 0, 0, []], made.output.join("\n"));
    assert.match(
      shown.output.join("\n"),
      /Permission: +DeviceManagementApps\.ReadWrite\.All \(delegated\), and nothing else/,
    );
    assert.deepEqual(registration.publicClient, { redirectUris: ["http://localhost"] });
    assert.equal(registration.isFallbackPublicClient, true);
    assert.deepEqual(
      (registration.requiredResourceAccess as { resourceAccess: unknown[] }[]).map(
        ({ resourceAccess }) => resourceAccess.length,
      ),
      [1],
    );
    assert.match(made.output.join("\n"), new RegExp(`-ClientId ${registration.appId}`));
    assert.match(made.output.join("\n"), /\/v2\.0\/adminconsent\?client_id=/);
    assert.equal(again.code, 0);
    assert.match(again.output.join("\n"), /already has the app registration 'Platen publish'/);
  });

  test("without a person to ask, nothing is made", async (t) => {
    const { service, tenant, publish } = await startPublishing(t);
    const id = await service.addPrinter();

    const run = await publish(`/printers/${id}/publish`, inBrowser);

    assert.deepEqual([run.code, tenant.registrations], [1, []]);
  });
});
