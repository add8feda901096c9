import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, type TestContext, test } from "node:test";
import { temporaryFolder } from "../support/app.ts";
import { deepTest } from "../support/depth.ts";
import type { Tenant } from "../support/graph/tenant.ts";
import { withoutPowerShell } from "../support/powershell/powershell.ts";
import { makePublication } from "../support/publish/publications.ts";
import type { PublishRun } from "../support/publish/publisher.ts";
import { checkRun, startPublishing, startWithoutPlaten } from "../support/publish/publishing.ts";

const client = "11111111-2222-4333-8444-555555555555";
const secret = "s3cret of the shop";

/** Three clients with a printer each, one without a tenant, and a printer without a client. */
async function startShop(t: TestContext) {
  const { service, addTenant, publish, published, shared } = await startPublishing(t);
  const tenants = ["contoso", "fabrikam", "northwind"].map(addTenant) as [Tenant, Tenant, Tenant];
  for (const { signIns } of tenants) signIns.apps.set(client, { secret });
  for (const name of ["Contoso", "Fabrikam", "Northwind"])
    await service.post("/clients", { name, tenant_id: `${name}.example` });
  await service.post("/clients", { name: "Nowhere" });
  const driver_id = String(await service.addDriver());
  for (const client_id of ["1", "2", "3", "4"])
    await service.addPrinter({ driver_id, client_id, address: `10.0.0.${client_id}` });
  await service.addPrinter({ name: "Loose", driver_id });
  /** Runs a script as an app that is registered in all tenants. */
  const run = async (path: string, more: Record<string, unknown> = {}) => {
    const result = await publish(path, { ...asApp, ...shared, ...more });
    for (const tenant of tenants) checkRun(tenant, result);
    return result;
  };
  return { service, published, tenants, run };
}

const asApp = { AccessToken: undefined, ClientId: client, ClientSecret: { Secure: secret }, PassThru: true };

const results = ({ rows }: PublishRun) =>
  rows.map(({ Client, Tenant: to, Name, Result }) => `${Client} ${to}: ${Name} ${Result}`);

const appsIn = (tenants: readonly Tenant[]) =>
  tenants.map((tenant) => tenant.apps().map(({ displayName }) => displayName));

async function writeCsv(t: TestContext, text: string): Promise<string> {
  const path = join(await temporaryFolder(t), "tenants.csv");
  await writeFile(path, text);
  return path;
}

describe("publishing to many tenants", { skip: withoutPowerShell }, () => {
  deepTest(
    "each client's printers go to its own tenant, and those without a tenant are left out by name",
    async (t) => {
      const { run, tenants } = await startShop(t);

      const first = await run("/publish");
      const again = await run("/publish");

      const own = ["Contoso", "Fabrikam", "Northwind"];
      const expected = (result: string) => [
        ...own.map((name) => `${name} ${name.toLowerCase()}.example: Office (${name}) ${result}`),
        ...["Nowhere : Nowhere LeftOut", " : 1 printer LeftOut"],
      ];
      assert.deepEqual([first.code, again.code], [0, 0], first.said);
      assert.deepEqual(results(first), expected("Created"));
      assert.deepEqual(results(again), expected("Unchanged"));
      assert.deepEqual(
        appsIn(tenants),
        own.map((name) => [`Office (${name})`]),
      );
    },
  );

  test("a CSV file says where to, empty cells mean the client's tenant, and the run goes on after a failure", async (t) => {
    const { run, published, tenants } = await startShop(t);
    const [, fabrikam, northwind] = tenants;
    for (const id of [1, 3]) await published(`/printers/${id}/publish`, { tenant: northwind });
    fabrikam.behaviour.signIn.refusal = "invalid_grant AADSTS65001: No consent.";
    const csv = `client;tenant;client_id\ncontoso;northwind.example;\nFabrikam;;${client}\n`;

    const result = await run("/publish", { Tenants: await writeCsv(t, csv) });

    assert.equal(result.code, 2, result.said);
    assert.deepEqual(results(result), [
      "Contoso northwind.example: Office (Contoso) Unchanged",
      "Fabrikam fabrikam.example: Fabrikam Failed",
      "Northwind northwind.example: Office (Northwind) Unchanged",
      ...["Nowhere : Nowhere LeftOut", " : 1 printer LeftOut"],
    ]);
    assert.match(result.rows[1]?.Reason ?? "", /nobody has consented .*\(AADSTS65001\)/);
    assert.deepEqual(appsIn(tenants), [[], [], ["Office (Contoso)", "Office (Northwind)"]]);
  });

  const parts = ["Contoso", "Fabrikam"].map((name) => ({ client: name, tenant: `${name}.example`, url: "" }));
  const forAll = { ...makePublication("Office", parts), isForAll: true };
  const wrong: readonly (readonly [string, RegExp])[] = [
    ["client,tenant_id\nContoso,contoso.example\n", /has the unknown column 'tenant_id'/],
    ["client\nContoso\n", /needs the columns 'client' and 'tenant'/],
    ["", /has no rows/],
    ["client,tenant\n,contoso.example\n", /row 2 names no client/],
    [
      "client,tenant\nContozo,contoso.example\n",
      /row 2 names the client Contozo, which this script does not/,
    ],
    ["client,tenant\nContoso,not a tenant\n", /row 2: 'not a tenant' is no tenant/],
    ["client,tenant\nContoso,a.example\nCONTOSO,b.example\n", /row 3 names CONTOSO again/],
    ["client,tenant,certificate_thumbprint\nContoso,,12\n", /the thumbprint needs 40 hex digits/],
    ["client,tenant,client_id\nContoso,,12\n", /'12' is no id of an app registration/],
  ];
  for (const [text, message] of wrong)
    test(`a wrong CSV file is refused before any request: ${message.source}`, async (t) => {
      const { tenant, run } = await startWithoutPlaten(t, {}, forAll);

      const { code, said } = await run({ ...asApp, Tenants: await writeCsv(t, text) });

      assert.deepEqual([code, tenant.requests], [1, []]);
      assert.match(said, message);
    });

  for (const [given, message] of [
    [{ ...asApp, Tenant: "contoso.example" }, /-Tenant is for the script of one client/],
    [{}, /is for one tenant, and the clients are in 2 tenants/],
  ] as const)
    test(`what would bring one client's printers to another is refused: ${message.source}`, async (t) => {
      const { tenant, run } = await startWithoutPlaten(t, {}, forAll);

      const { code, said } = await run(given);

      assert.deepEqual([code, tenant.requests], [1, []]);
      assert.match(said, message);
    });

  for (const [Tenant, place] of [
    [undefined, 0],
    ["fabrikam.example", 1],
  ] as const)
    test(`one client's script goes to ${Tenant ?? "the client's tenant"}`, async (t) => {
      const { run, published, tenants } = await startShop(t);
      await published("/clients/1/publish", { tenant: tenants[place] as Tenant });

      const result = await run("/clients/1/publish", { Tenant });

      assert.deepEqual(
        [result.code, result.rows.map(({ Result }) => Result)],
        [0, ["Unchanged"]],
        result.said,
      );
    });

  test("-Remove for all clients looks into every tenant, also of clients without printers", async (t) => {
    const { run, published, tenants, service } = await startShop(t);
    for (const [i, tenant] of tenants.entries()) await published(`/printers/${i + 1}/publish`, { tenant });
    for (const id of [1, 2]) await service.fetch(`/printers/${id}`, { method: "DELETE" });

    const result = await run("/publish", { Remove: true, Force: true });

    assert.equal(result.code, 0, result.said);
    assert.deepEqual(appsIn(tenants), [[], [], ["Office (Northwind)"]]);
  });
});
