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
const filter = "44444444-2222-4333-8444-555555555555";
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
    assert.match(resultRows(run).join(), /Unchanged/);
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
      new RegExp(`kept as in Intune: the group ${everyone} is assigned as available \\(-Force changes it\\)`),
    );
    assert.match(run.output.join("\n"), new RegExp(`kept as in Intune: the group ${guests} is excluded`));
    assert.deepEqual(groupsOf(tenant.getApp(app).assignments), [
      ["required", everyone],
      ["required", guests],
      ["required", office],
    ]);
  });

  test("a group that is assigned in Intune is excluded only with -Force, and nothing is assigned without it", async (t) => {
    const { service, tenant, publish } = await startPublishing(t);
    const id = await service.addPrinter();
    await publish(`/printers/${id}/publish`);
    const app = appOf(tenant, `printer:${id}`).id;
    tenant.assign(app, guests, "required");
    const given = { AssignTo: ["AllDevices"], Exclude: [guests] };

    const refused = await publish(`/printers/${id}/publish`, given);
    const before = groupsOf(tenant.getApp(app).assignments);
    const forced = await publish(`/printers/${id}/publish`, { ...given, Force: true });

    assert.deepEqual([refused.code, before], [1, [["required", guests]]]);
    assert.match(
      refused.output.join("\n"),
      /is assigned as required in Intune, so it is not excluded\. Nothing was assigned/,
    );
    assert.equal(forced.code, 0, forced.output.join("\n"));
    assert.deepEqual(
      tenant
        .getApp(app)
        .assignments.map(({ target }) => String((target as Fields)["@odata.type"]).slice(17))
        .toSorted(),
      ["allDevicesAssignmentTarget", "exclusionGroupAssignmentTarget"],
    );
  });

  test("-Force changes what the parameters say, and keeps an administrator's filter", async (t) => {
    const { service, tenant, publish } = await startPublishing(t);
    const id = await service.addPrinter();
    await publish(`/printers/${id}/publish`);
    const app = appOf(tenant, `printer:${id}`).id;
    tenant.assign(app, office, "available");
    const [assignment] = tenant.getApp(app).assignments;
    Object.assign(assignment?.target as Fields, {
      deviceAndAppManagementAssignmentFilterId: filter,
      deviceAndAppManagementAssignmentFilterType: "include",
    });

    await publish(`/printers/${id}/publish`, { AssignTo: [office], Force: true });

    const [after] = tenant.getApp(app).assignments;
    assert.equal(after?.intent, "required");
    assert.equal(((after?.target ?? {}) as Fields).deviceAndAppManagementAssignmentFilterId, filter);
  });

  test("groups, filters, scope tags and categories are looked up by name, and excluded groups get nothing", async (t) => {
    const { service, tenant, publish } = await startPublishing(t);
    const id = await service.addPrinter();
    const { groups, assignmentFilters, roleScopeTags, mobileAppCategories } = tenant.directory;
    groups.push({ id: office, displayName: "Front desk" }, { id: guests, displayName: "Guests' PCs" });
    assignmentFilters.push({ id: filter, displayName: "Laptops" });
    roleScopeTags.push({ id: "7", displayName: "Contoso" });
    mobileAppCategories.push({ id: "c1", displayName: "Printers" });

    const run = await publish(`/printers/${id}/publish`, {
      ...{ AssignTo: ["Front desk", "AllDevices"], Exclude: ["Guests' PCs"], ScopeTag: ["Contoso"] },
      ...{ Filter: "Laptops", FilterMode: "exclude", Category: "Printers", Notifications: "hideAll" },
      DeliveryOptimization: "foreground",
    });

    const app = tenant.getApp(appOf(tenant, `printer:${id}`).id);
    assert.equal(run.code, 0, run.output.join("\n"));
    const targets = app.assignments.map(({ target }) => target as Fields);
    assert.deepEqual(
      targets.map((target) => [String(target["@odata.type"]).slice(17), target.groupId]),
      [
        ["groupAssignmentTarget", office],
        ["allDevicesAssignmentTarget", undefined],
        ["exclusionGroupAssignmentTarget", guests],
      ],
    );
    assert.deepEqual(
      targets.map((target) => target.deviceAndAppManagementAssignmentFilterId),
      [filter, filter, undefined],
    );
    assert.equal(targets[0]?.deviceAndAppManagementAssignmentFilterType, "exclude");
    const settings = app.assignments[0]?.settings as Fields;
    assert.deepEqual(
      [settings.notifications, settings.deliveryOptimizationPriority],
      ["hideAll", "foreground"],
    );
    assert.deepEqual(
      app.categories.map(({ displayName }) => displayName),
      ["Printers"],
    );
    assert.deepEqual(appOf(tenant, `printer:${id}`).roleScopeTagIds, ["7"]);
  });

  test("a second run with the same names changes nothing, and further tags and categories are added", async (t) => {
    const { service, tenant, publish } = await startPublishing(t);
    const id = await service.addPrinter();
    tenant.directory.groups.push({ id: office, displayName: "Front desk" });
    tenant.directory.roleScopeTags.push(
      { id: "7", displayName: "Contoso" },
      { id: "8", displayName: "East" },
    );
    const names = { AssignTo: ["Front desk"], ScopeTag: ["Contoso"] };
    await publish(`/printers/${id}/publish`, names);
    const since = tenant.requests.length;

    const same = await publish(`/printers/${id}/publish`, names);
    const changes = changesIn(tenant, since);
    const more = await publish(`/printers/${id}/publish`, { ScopeTag: ["East"] });

    assert.deepEqual([same.code, changes], [0, []]);
    assert.match(resultRows(more).join(), /Updated +Scope tags/);
    assert.deepEqual(appOf(tenant, `printer:${id}`).roleScopeTagIds, ["7", "8"]);
  });

  const refused: Readonly<Record<string, [Record<string, unknown>, RegExp]>> = {
    "a name that two groups have": [
      { AssignTo: ["Twice"] },
      /-AssignTo: this tenant has 2 groups 'Twice'\. Use the id: /,
    ],
    "a name that no group has": [{ AssignTo: ["Nobody"] }, /-AssignTo: this tenant has no group 'Nobody'/],
    "an unknown filter": [
      { AssignTo: [everyone], Filter: "None" },
      /-Filter: this tenant has no filter 'None'/,
    ],
    "apps that are available to devices": [
      { AssignTo: ["AllDevices"], Intent: "available" },
      /Intune offers apps to users only\. Use -Intent required for AllDevices, or -AssignTo AllUsers/,
    ],
    "an intent without an assignment": [
      { Intent: "available" },
      /-Intent is for the assignments of -AssignTo/,
    ],
    "a filter mode without a filter": [
      { AssignTo: [everyone], FilterMode: "exclude" },
      /-FilterMode is for -Filter/,
    ],
  };
  for (const [name, [parameters, message]] of Object.entries(refused)) {
    test(`${name}: the run is refused and changes nothing`, async (t) => {
      const { service, tenant, publish } = await startPublishing(t);
      const id = await service.addPrinter();
      for (const group of [office, guests]) tenant.directory.groups.push({ id: group, displayName: "Twice" });

      const run = await publish(`/printers/${id}/publish`, parameters);

      assert.deepEqual([run.code, changesIn(tenant)], [1, []]);
      assert.match(run.output.join("\n"), message);
    });
  }
});
