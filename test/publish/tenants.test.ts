import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, type TestContext, test } from "node:test";
import { temporaryFolder } from "../support/app.ts";
import { deepTest } from "../support/depth.ts";
import type { Tenant } from "../support/graph/tenant.ts";
import { withoutPowerShell } from "../support/powershell/powershell.ts";
import type { ResultRow } from "../support/publish/publisher.ts";
import { checkRun, type Publishing, startPublishing } from "../support/publish/publishing.ts";

const client = "11111111-2222-4333-8444-555555555555";
const secret = "s3cret of the shop";

/** Three clients with a printer each, one without a tenant, and a printer without a client. */
async function startShop(t: TestContext) {
  const publishing = await startPublishing(t);
  const { service, addTenant } = publishing;
  const tenants = ["contoso", "fabrikam", "northwind"].map((name) => addTenant(name));
  for (const { signIns } of tenants) signIns.apps.set(client, { secret });
  const names = ["Contoso", "Fabrikam", "Northwind"];
  for (const name of names) await service.post("/clients", { name, tenant_id: `${name}.example` });
  await service.post("/clients", { name: "Nowhere" });
  await service.addPrinter({ name: "Office", client_id: "1" });
  for (const client_id of ["2", "3", "4"])
    await service.addPrinter({ name: "Office", driver_id: "1", client_id, address: `10.0.0.${client_id}` });
  await service.addPrinter({ name: "Loose", driver_id: "1", address: "10.0.0.9" });
  return { ...publishing, tenants };
}

const asApp = { AccessToken: undefined, ClientId: client, ClientSecret: { Secure: secret }, PassThru: true };

const results = (rows: readonly ResultRow[]) =>
  rows.map(({ Client, Name, Result }) => `${Client}: ${Name} ${Result}`);

async function writeCsv(t: TestContext, text: string): Promise<string> {
  const path = join(await temporaryFolder(t), "tenants.csv");
  await writeFile(path, text);
  return path;
}

const publishAll = (shop: Publishing, more: Record<string, unknown> = {}) =>
  shop.publish("/publish", { ...asApp, ...shop.shared, ...more });

describe("publishing to many tenants", { skip: withoutPowerShell }, () => {
  deepTest(
    "each client's printers go to its own tenant, and those without a tenant are left out by name",
    async (t) => {
      const shop = await startShop(t);

      const run = await publishAll(shop);
      const again = await publishAll(shop);

      assert.deepEqual(results(run.rows), [
        "Contoso: Office (Contoso) Created",
        "Fabrikam: Office (Fabrikam) Created",
        "Northwind: Office (Northwind) Created",
        "Nowhere: Nowhere LeftOut",
        ": 1 printer LeftOut",
      ]);
      assert.deepEqual(
        shop.tenants.map((tenant) => tenant.apps().map(({ displayName }) => displayName)),
        [["Office (Contoso)"], ["Office (Fabrikam)"], ["Office (Northwind)"]],
      );
      assert.deepEqual([run.code, again.code], [0, 0], run.said);
      assert.deepEqual(
        again.rows.map(({ Result }) => Result),
        ["Unchanged", "Unchanged", "Unchanged", "LeftOut", "LeftOut"],
      );
      for (const tenant of shop.tenants) checkRun(tenant, run);
    },
  );

  deepTest(
    "a run for all clients goes on after a failure in one tenant, and does only what is missing",
    async (t) => {
      const shop = await startShop(t);
      const [contoso, fabrikam, northwind] = shop.tenants;
      await shop.published("/printers/1/publish", { tenant: contoso as Tenant });
      await shop.published("/printers/3/publish", { tenant: northwind as Tenant });
      if (fabrikam) fabrikam.behaviour.signIn.refusal = "invalid_grant AADSTS65001: No consent.";

      const run = await publishAll(shop);

      assert.equal(run.code, 2, run.said);
      assert.deepEqual(results(run.rows), [
        "Contoso: Office (Contoso) Unchanged",
        "Fabrikam: Fabrikam Failed",
        "Northwind: Office (Northwind) Unchanged",
        "Nowhere: Nowhere LeftOut",
        ": 1 printer LeftOut",
      ]);
      assert.match(run.rows[1]?.Reason ?? "", /nobody has consented .*\(AADSTS65001\)/);
      assert.deepEqual([fabrikam?.apps().length, northwind?.apps().length], [0, 1]);
      for (const tenant of shop.tenants) checkRun(tenant, run);
    },
  );

  deepTest(
    "a failure in one tenant does not stop the next, and the next run does only what is missing",
    async (t) => {
      const shop = await startShop(t);
      const [, fabrikam] = shop.tenants;
      if (fabrikam) fabrikam.behaviour.signIn.refusal = "invalid_grant AADSTS65001: No consent.";

      const run = await publishAll(shop);
      if (fabrikam) fabrikam.behaviour.signIn.refusal = "";
      const next = await publishAll(shop);

      assert.equal(run.code, 2);
      assert.deepEqual(results(run.rows).slice(0, 3), [
        "Contoso: Office (Contoso) Created",
        "Fabrikam: Fabrikam Failed",
        "Northwind: Office (Northwind) Created",
      ]);
      assert.match(run.rows[1]?.Reason ?? "", /nobody has consented .*\(AADSTS65001\)/);
      assert.deepEqual(results(next.rows).slice(0, 3), [
        "Contoso: Office (Contoso) Unchanged",
        "Fabrikam: Office (Fabrikam) Created",
        "Northwind: Office (Northwind) Unchanged",
      ]);
      assert.equal(next.code, 0);
    },
  );

  deepTest(
    "a CSV file says where to, with semicolons too, and empty cells mean the parameters",
    async (t) => {
      const shop = await startShop(t);
      const Tenants = await writeCsv(
        t,
        `client;tenant;client_id\ncontoso;northwind.example;\nNowhere;fabrikam.example;${client}\n`,
      );

      const run = await publishAll(shop, { Tenants });

      assert.equal(run.code, 0, run.said);
      assert.deepEqual(
        shop.tenants.map((tenant) => tenant.apps().map(({ displayName }) => displayName)),
        [[], ["Office (Fabrikam)", "Office (Nowhere)"], ["Office (Contoso)", "Office (Northwind)"]],
      );
    },
  );

  const wrong: readonly (readonly [string, RegExp])[] = [
    ["client,tenant_id\nContoso,contoso.example\n", /has the unknown column 'tenant_id'/],
    ["client\nContoso\n", /needs the columns 'client' and 'tenant'/],
    ["", /has no rows/],
    [
      "client,tenant\nContozo,contoso.example\n",
      /row 2 names the client Contozo, which this script does not contain/,
    ],
    ["client,tenant\nContoso,not a tenant\n", /row 2: 'not a tenant' is no tenant/],
    ["client,tenant\nContoso,a.example\nCONTOSO,b.example\n", /row 3 names CONTOSO again/],
    ["client,tenant,certificate_thumbprint\nContoso,,12\n", /the thumbprint needs 40 hex digits/],
    ["client,tenant,client_id\nContoso,,12\n", /'12' is no id of an app registration/],
  ];
  for (const [text, message] of wrong)
    test(`a wrong CSV file is refused before any request: ${message.source}`, async (t) => {
      const shop = await startShop(t);

      const run = await publishAll(shop, { Tenants: await writeCsv(t, text) });

      assert.equal(run.code, 1);
      assert.match(run.said, message);
      assert.deepEqual(
        shop.tenants.flatMap(({ requests }) => requests),
        [],
      );
    });
  for (const [Tenant, expected] of [
    [undefined, [1, 0, 0]],
    ["fabrikam.example", [0, 1, 0]],
  ] as const)
    test(`one client's script goes to ${Tenant ?? "the client's tenant"}`, async (t) => {
      const shop = await startShop(t);

      await shop.publish("/clients/1/publish", { ...asApp, ...shop.shared, Tenant });

      assert.deepEqual(
        shop.tenants.map((tenant) => tenant.apps().length),
        expected,
      );
    });

  test("-Tenant is refused for all clients, because it would bring one client's printers to another", async (t) => {
    const shop = await startShop(t);

    const run = await publishAll(shop, { Tenant: "contoso.example" });

    assert.equal(run.code, 1);
    assert.match(run.said, /-Tenant is for the script of one client/);
  });

  deepTest("-Remove for all clients looks into every tenant, also of clients without printers", async (t) => {
    const shop = await startShop(t);
    for (const [i, tenant] of shop.tenants.entries())
      await shop.published(`/printers/${i + 1}/publish`, { tenant });
    for (const id of [1, 2]) await shop.service.fetch(`/printers/${id}`, { method: "DELETE" });

    const run = await publishAll(shop, { Remove: true, Force: true });

    assert.equal(run.code, 0, run.said);
    assert.deepEqual(
      shop.tenants.map((tenant) => tenant.apps().length),
      [0, 0, 1],
    );
  });

  test("a token as text is refused for several tenants", async (t) => {
    const shop = await startShop(t);

    const run = await shop.publish("/publish", shop.shared);

    assert.equal(run.code, 1);
    assert.match(run.said, /is for one tenant, and the clients are in 3 tenants/);
  });
});
