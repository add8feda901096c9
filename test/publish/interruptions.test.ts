import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { selectCases } from "../support/depth.ts";
import type { Tenant } from "../support/graph/tenant.ts";
import { withoutPowerShell } from "../support/powershell/powershell.ts";
import {
  addIcon,
  addSharedDriver,
  appOf,
  changesIn,
  editPrinter,
  type Publishing,
  startPublishing,
} from "../support/publish/publishing.ts";

const path = "/clients/1/publish";
/** Names that the run looks up. */
const assigned = { AssignTo: ["Front desk"], Category: "Printers", ScopeTag: ["Contoso"] };
const group = "11111111-2222-4333-8444-555555555555";

/** A client with two printers of one driver, one of them with an icon. */
async function startWithTwoPrinters(
  t: Parameters<typeof startPublishing>[0],
): Promise<Publishing & { ids: number[] }> {
  const publishing = await startPublishing(t);
  const ids = await addSharedDriver(publishing.service);
  await addIcon(publishing.service, ids[0] ?? 0);
  const { groups, roleScopeTags, mobileAppCategories } = publishing.tenant.directory;
  groups.push({ id: group, displayName: "Front desk" });
  roleScopeTags.push({ id: "7", displayName: "Contoso" });
  mobileAppCategories.push({ id: "c1", displayName: "Printers" });
  return {
    ...publishing,
    ids,
    // The lease of an interrupted run holds the next one for this long.
    script: () => publishing.script(path, [["$LeaseSeconds = 120", "$LeaseSeconds = 1"]]),
    run: (text) => publishing.run(text, assigned),
  };
}

/** Checks the result: exactly three apps with content, and the printers' apps depend on the driver's. */
function checkDone({ tenant, ids }: Publishing & { ids: number[] }, where: string): void {
  const driver = appOf(tenant, "driver:1").id;
  const printers = ids.map((id) => appOf(tenant, `printer:${id}`));
  assert.equal(tenant.apps().length, 3, where);
  for (const { id } of [{ id: driver }, ...printers]) {
    assert.ok(tenant.content(id).size > 0, where);
    // A committed version that the run did not use stays, because it looks like one that was in use.
    const states = Object.values(tenant.versions(id)).flat();
    assert.deepEqual(
      states.filter((state) => !state.startsWith("commitFile")),
      [],
      where,
    );
  }
  assert.deepEqual(
    printers.map(({ id }) => tenant.children(id)),
    [[driver], [driver]],
    where,
  );
  for (const { id } of printers) {
    const { assignments, categories } = tenant.getApp(id);
    const targets = assignments.map(({ target }) => (target as { groupId?: string }).groupId);
    assert.deepEqual([targets, categories.length], [[group], 1], where);
  }
  assert.ok(printers[0]?.largeIcon, where);
  assert.ok(
    tenant.apps().every(({ notes }) => !/platen-lease/.test(String(notes))),
    where,
  );
}

/** Removes all apps. */
function emptyTenant(tenant: Tenant): void {
  const ids = tenant.apps().map(({ id }) => String(id));
  for (const id of ids) tenant.getApp(id).children = [];
  for (const id of ids) tenant.remove(id);
}

function withoutContent(tenant: Tenant): string[] {
  const empty = tenant.apps().filter(({ committedContentVersion }) => !committedContentVersion);
  return empty.map(({ id }) => String(id));
}

describe("an interrupted run", { skip: withoutPowerShell }, () => {
  for (const when of ["before", "after"] as const) {
    test(`is finished by the next run after any request (${when} its effect)`, async (t) => {
      const shop = await startWithTwoPrinters(t);
      const { tenant, run, script } = shop;
      const text = await script(path);
      await run(text);
      const total = tenant.requests.length;
      checkDone(shop, "undisturbed");

      const requests = Array.from({ length: total }, (_, i) => i + 1);
      for (const at of selectCases(requests, 2)) {
        emptyTenant(tenant);
        tenant.stopAt(at, when);
        const broken = await run(text);
        const unnamed = withoutContent(tenant).filter((id) => !broken.output.join().includes(id));
        tenant.clearFaults();
        const finished = await run(text);

        const where = `${when} request ${at}\n${finished.output.join("\n")}`;
        assert.ok(broken.code === 1 || broken.code === 2, where);
        assert.equal(finished.code, 0, where);
        // If the response with the app's id was lost, the app can only be found by its marker.
        assert.ok(unnamed.length === 0 || when === "after", where);
        checkDone(shop, where);
      }
    });
  }

  test("that updates is finished by the next run after any request, and then nothing is left to do", async (t) => {
    const shop = await startWithTwoPrinters(t);
    const { service, tenant, run, script, ids } = shop;
    await run(await script(path));
    const start = tenant.requests.length;
    let address = 100;
    const change = async () => {
      const port = { address: `10.0.1.${++address}`, port_name: "", location: `Room ${address}` };
      await editPrinter(service, ids[0] ?? 0, port);
      return script(path);
    };
    await run(await change());
    const total = tenant.requests.length - start;

    const requests = Array.from({ length: total }, (_, i) => i + 1);
    for (const at of selectCases(requests, 2)) {
      const text = await change();
      tenant.stopAt(at, at % 2 === 0 ? "before" : "after");
      const broken = await run(text);
      tenant.clearFaults();
      const finished = await run(text);
      const since = tenant.requests.length;
      await run(text);

      const where = `request ${at} of ${total}\n${broken.output.join("\n")}`;
      assert.deepEqual([finished.code, changesIn(tenant, since)], [0, []], where);
      checkDone(shop, where);
    }
  });
});
