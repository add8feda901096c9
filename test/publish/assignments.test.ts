import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { deepTest } from "../support/depth.ts";
import type { Fields } from "../support/graph/schema.ts";
import { withoutPowerShell } from "../support/powershell/powershell.ts";
import {
  addSharedDriver,
  appOf,
  changesIn,
  resultRows,
  startPublished,
  startPublishing,
  startWithPrinter,
} from "../support/publish/publishing.ts";

const everyone = "11111111-2222-4333-8444-555555555555";
const office = "22222222-2222-4333-8444-555555555555";
const filter = "44444444-2222-4333-8444-555555555555";
const guests = "33333333-2222-4333-8444-555555555555";

const groupsOf = (assignments: readonly Fields[]) =>
  assignments.map(({ intent, target }) => [intent, (target as Fields).groupId]);
const targetsOf = (assignments: readonly Fields[]) =>
  assignments.map(({ target }) => String((target as Fields)["@odata.type"]).slice(17));

describe("assigning published apps", { skip: withoutPowerShell }, () => {
  test("printers are assigned to the groups, and their driver's app is not", async (t) => {
    const { service, tenant, publish, published } = await startPublishing(t);
    await addSharedDriver(service);
    await published("/clients/1/publish");

    const given = { AssignTo: [`${everyone},${office}`], Intent: "available" };
    const run = await publish("/clients/1/publish", given);

    const [one, two, driver] = ["printer:1", "printer:2", "driver:1"].map((key) =>
      groupsOf(tenant.getApp(appOf(tenant, key).id).assignments),
    );
    assert.equal(run.code, 0, run.said);
    assert.deepEqual(one, [
      ["available", everyone],
      ["available", office],
    ]);
    assert.deepEqual([two, driver], [one, []]);
  });

  deepTest("a new app is assigned when its content is published", async (t) => {
    const { tenant, publish, path, app } = await startWithPrinter(t, { processingFor: 2 });

    const run = await publish(path, { AssignTo: [everyone] });

    assert.equal(run.code, 0, run.said);
    assert.deepEqual(groupsOf(tenant.getApp(app().id).assignments), [["required", everyone]]);
  });

  for (const [what, parameters] of [
    ["without -AssignTo", {}],
    ["to a group that it is assigned to", { AssignTo: [office] }],
  ] as const)
    test(`a run ${what} changes no assignment`, async (t) => {
      const { tenant, publish, path, app } = await startPublished(t);
      tenant.assign(app().id, office);

      const run = await publish(path, parameters);

      assert.deepEqual([run.code, changesIn(tenant)], [0, []]);
      assert.match(resultRows(run).join(), /Unchanged/);
    });

  for (const [Force, expected] of [
    [
      false,
      [
        ["available", everyone],
        ["required", guests],
        ["required", office],
      ],
    ],
    [
      true,
      [
        ["required", everyone],
        ["required", guests],
        ["required", office],
      ],
    ],
  ] as const)
    test(`existing assignments and exclusions ${Force ? "change with -Force" : "stay"}`, async (t) => {
      const { tenant, publish, path, app } = await startPublished(t);
      tenant.assign(app().id, everyone, "available");
      tenant.assign(app().id, guests, "required", true);

      const { said } = await publish(path, { AssignTo: [everyone, office, guests], Force });

      const { assignments } = tenant.getApp(app().id);
      assert.deepEqual(groupsOf(assignments), expected);
      const kept = `the group ${everyone} is assigned as available (-Force changes it)`;
      assert.equal(said.includes(`kept as in Intune: ${kept}`), !Force, said);
      assert.equal(
        new RegExp(`kept as in Intune: .*the group ${guests} is excluded`).test(said),
        !Force,
        said,
      );
      assert.equal(targetsOf(assignments).includes("exclusionGroupAssignmentTarget"), !Force);
    });

  for (const Force of [false, true])
    test(`a group that is assigned in Intune is ${Force ? "excluded with" : "not excluded without"} -Force`, async (t) => {
      const { tenant, publish, path, app } = await startPublished(t);
      tenant.assign(app().id, guests, "required");

      const run = await publish(path, { AssignTo: ["AllDevices"], Exclude: [guests], Force });

      const { assignments } = tenant.getApp(app().id);
      assert.equal(run.code, Force ? 0 : 1, run.said);
      if (!Force) assert.deepEqual(groupsOf(assignments), [["required", guests]]);
      const refusal = /is assigned as required in Intune, so it is not excluded\. Nothing was assigned/;
      assert.equal(refusal.test(run.said), !Force);
      assert.deepEqual(
        targetsOf(assignments).toSorted(),
        Force ? ["allDevicesAssignmentTarget", "exclusionGroupAssignmentTarget"] : ["groupAssignmentTarget"],
      );
    });

  test("-Force changes what the parameters say, and keeps an administrator's filter", async (t) => {
    const { tenant, publish, path, app } = await startPublished(t);
    tenant.assign(app().id, office, "available");
    const [assignment] = tenant.getApp(app().id).assignments;
    Object.assign(assignment?.target ?? {}, {
      deviceAndAppManagementAssignmentFilterId: filter,
      deviceAndAppManagementAssignmentFilterType: "include",
    });

    await publish(path, { AssignTo: [office], Force: true });

    const [after] = tenant.getApp(app().id).assignments;
    assert.equal(after?.intent, "required");
    assert.equal((after?.target as Fields | undefined)?.deviceAndAppManagementAssignmentFilterId, filter);
  });

  test("groups, filters, scope tags and categories are looked up by name, and excluded groups get nothing", async (t) => {
    const { tenant, publish, path, app } = await startPublished(t);
    const { groups, assignmentFilters, roleScopeTags, mobileAppCategories } = tenant.directory;
    groups.push({ id: office, displayName: "Front desk" }, { id: guests, displayName: "Guests' PCs" });
    assignmentFilters.push({ id: filter, displayName: "Laptops" });
    roleScopeTags.push({ id: "7", displayName: "Contoso" });
    mobileAppCategories.push({ id: "c1", displayName: "Printers" });

    const run = await publish(path, {
      ...{ AssignTo: ["Front desk", "AllDevices"], Exclude: ["Guests' PCs"], ScopeTag: ["Contoso"] },
      ...{ Filter: "Laptops", FilterMode: "exclude", Category: "Printers", Notifications: "hideAll" },
      DeliveryOptimization: "foreground",
    });

    const { assignments, categories } = tenant.getApp(app().id);
    assert.equal(run.code, 0, run.said);
    const targets = assignments.map(({ target }) => target as Fields);
    assert.deepEqual(
      targets.map((target) => [
        String(target["@odata.type"]).slice(17),
        target.groupId,
        target.deviceAndAppManagementAssignmentFilterId,
      ]),
      [
        ["groupAssignmentTarget", office, filter],
        ["allDevicesAssignmentTarget", undefined, filter],
        ["exclusionGroupAssignmentTarget", guests, undefined],
      ],
    );
    assert.equal(targets[0]?.deviceAndAppManagementAssignmentFilterType, "exclude");
    const { notifications, deliveryOptimizationPriority } = (assignments[0]?.settings ?? {}) as Fields;
    assert.deepEqual([notifications, deliveryOptimizationPriority], ["hideAll", "foreground"]);
    assert.deepEqual(
      categories.map(({ displayName }) => displayName),
      ["Printers"],
    );
    // A new app has the tag "0" of the tenant.
    assert.deepEqual((app().roleScopeTagIds as string[]).includes("7"), true);
  });

  for (const [tag, expected, result] of [
    ["Contoso", ["7"], /Unchanged/],
    ["East", ["7", "8"], /Updated +Scope tags/],
  ] as const)
    test(`an app with the scope tag Contoso and a run with the tag ${tag}: ${expected.length} tags`, async (t) => {
      const { tenant, publish, path, app } = await startPublished(t);
      const { groups, roleScopeTags } = tenant.directory;
      groups.push({ id: office, displayName: "Front desk" });
      roleScopeTags.push({ id: "7", displayName: "Contoso" }, { id: "8", displayName: "East" });
      tenant.assign(app().id, office);
      tenant.change(app().id, { roleScopeTagIds: ["7"] });

      const run = await publish(path, { AssignTo: ["Front desk"], ScopeTag: [tag] });

      assert.equal(run.code, 0, run.said);
      assert.match(resultRows(run).join(), result);
      assert.deepEqual(app().roleScopeTagIds, expected);
    });

  test("a new app gets only the scope tags of -ScopeTag", async (t) => {
    const { tenant, publish, path, app } = await startWithPrinter(t);
    tenant.directory.roleScopeTags.push({ id: "7", displayName: "Contoso" });

    const run = await publish(path, { ScopeTag: ["Contoso"] });

    assert.deepEqual([run.code, app().roleScopeTagIds], [0, ["7"]]);
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
  for (const [name, [parameters, message]] of Object.entries(refused))
    test(`${name}: the run is refused and changes nothing`, async (t) => {
      const { tenant, publish, path } = await startWithPrinter(t);
      for (const id of [office, guests]) tenant.directory.groups.push({ id, displayName: "Twice" });

      const run = await publish(path, parameters);

      assert.deepEqual([run.code, changesIn(tenant)], [1, []]);
      assert.match(run.said, message);
    });
});
