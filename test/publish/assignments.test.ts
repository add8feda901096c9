import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Fields } from "../support/graph/schema.ts";
import { withoutPowerShell } from "../support/powershell/powershell.ts";
import {
  addSharedDriver,
  appOf,
  changesIn,
  resultRows,
  startPublishing,
} from "../support/publish/publishing.ts";

const everyone = "11111111-2222-4333-8444-555555555555";
const office = "22222222-2222-4333-8444-555555555555";
const guests = "33333333-2222-4333-8444-555555555555";

const groupsOf = (assignments: readonly Fields[]) =>
  assignments.map(({ intent, target }) => [intent, (target as Fields).groupId]);

describe("assigning published apps", { skip: withoutPowerShell }, () => {
  test("printers are assigned to the groups, and their driver's app is not", async (t) => {
    const { service, tenant, publish } = await startPublishing(t, { processingFor: 2 });
    await addSharedDriver(service);

    const run = await publish("/clients/1/publish", {
      AssignTo: [`${everyone},${office}`],
      Intent: "available",
    });

    const [one, two, driver] = ["printer:1", "printer:2", "driver:1"].map(
      (key) => tenant.getApp(appOf(tenant, key).id).assignments,
    );
    assert.equal(run.code, 0, run.output.join("\n"));
    assert.deepEqual(groupsOf(one ?? []), [
      ["available", everyone],
      ["available", office],
    ]);
    assert.deepEqual([groupsOf(two ?? []), driver], [groupsOf(one ?? []), []]);
  });

  test("a second run assigns nothing again, and a run without -AssignTo assigns nothing", async (t) => {
    const { service, tenant, publish } = await startPublishing(t);
    const id = await service.addPrinter();
    await publish(`/printers/${id}/publish`);
    const none = tenant.getApp(appOf(tenant, `printer:${id}`).id).assignments.length;
    await publish(`/printers/${id}/publish`, { AssignTo: [everyone] });
    const since = tenant.requests.length;

    const run = await publish(`/printers/${id}/publish`, { AssignTo: [everyone] });

    assert.deepEqual([none, changesIn(tenant, since)], [0, []]);
    assert.match(resultRows(run).join(), /Nothing to do/);
  });

  test("existing assignments and exclusions stay; only -Force changes them", async (t) => {
    const { service, tenant, publish } = await startPublishing(t);
    const id = await service.addPrinter();
    await publish(`/printers/${id}/publish`);
    const app = appOf(tenant, `printer:${id}`).id;
    tenant.assign(app, everyone, "available");
    tenant.assign(app, guests, "required", true);

    const AssignTo = [everyone, office, guests];
    const run = await publish(`/printers/${id}/publish`, { AssignTo });
    const kept = groupsOf(tenant.getApp(app).assignments);
    await publish(`/printers/${id}/publish`, { AssignTo, Force: true });

    assert.deepEqual(kept, [
      ["available", everyone],
      ["required", guests],
      ["required", office],
    ]);
    assert.match(
      run.output.join("\n"),
      new RegExp(`the group ${everyone} is assigned as available in Intune, and stays so`),
    );
    assert.match(
      run.output.join("\n"),
      new RegExp(`the group ${guests} is excluded in Intune, and stays so`),
    );
    assert.deepEqual(groupsOf(tenant.getApp(app).assignments), [
      ["required", everyone],
      ["required", guests],
      ["required", office],
    ]);
  });

  test("a text that is not a group id is refused before any request", async (t) => {
    const { service, tenant, publish } = await startPublishing(t);
    const id = await service.addPrinter();

    const run = await publish(`/printers/${id}/publish`, { AssignTo: ["All users"] });

    assert.deepEqual([run.code, tenant.requests], [1, []]);
    assert.match(run.output.join(), /-AssignTo takes ids of groups: 'All users' is none/);
  });
});
