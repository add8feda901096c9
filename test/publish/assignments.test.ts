import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Fields } from "../support/graph/schema.ts";
import { withoutPowerShell } from "../support/powershell/powershell.ts";
import {
  addSharedDriver,
  appOf,
  changesIn,
  type OnePrinter,
  resultRows,
  startPublished,
  startPublishing,
  startWithoutPlaten,
  startWithPrinter,
} from "../support/publish/publishing.ts";

const [everyone, office, guests, filter] = [1, 2, 3, 4].map(
  (digit) => `${String(digit).repeat(8)}-2222-4333-8444-555555555555`,
) as [string, string, string, string];

/** Assignments such as `required group <id>` and `required allDevices`. */
const said = (assignments: readonly Fields[]) =>
  assignments.map(({ intent, target }) => {
    const { groupId = "", "@odata.type": type } = target as Fields;
    return `${intent} ${String(type).slice(17).replace("AssignmentTarget", "")} ${groupId}`.trim();
  });

const assignmentsOf = ({ tenant, app }: OnePrinter) => tenant.getApp(app().id).assignments;

describe("assigning published apps", { skip: withoutPowerShell }, () => {
  test("printers are assigned to the groups, and their driver's app is not", async (t) => {
    const { service, tenant, publish, published } = await startPublishing(t);
    await addSharedDriver(service);
    await published("/clients/1/publish");

    const given = { AssignTo: [`${everyone},${office}`], Intent: "available" };
    const run = await publish("/clients/1/publish", given);

    const found = ["printer:1", "printer:2", "driver:1"].map((key) =>
      said(tenant.getApp(appOf(tenant, key).id).assignments),
    );
    const both = [`available group ${everyone}`, `available group ${office}`];
    assert.equal(run.code, 0, run.said);
    assert.deepEqual(found, [both, both, []]);
  });

  test("existing assignments and exclusions stay", async (t) => {
    const one = await startPublished(t);
    const { tenant, publish, path, app } = one;
    tenant.assign(app().id, everyone, "available");
    tenant.assign(app().id, guests, "required", true);

    const run = await publish(path, { AssignTo: [everyone, office, guests] });

    const expected = [`available group ${everyone}`, `required exclusionGroup ${guests}`];
    assert.deepEqual(said(assignmentsOf(one)), [...expected, `required group ${office}`]);
    const kept = `kept as in Intune: the group ${everyone} is assigned as available (-Force changes it)`;
    assert.ok(run.said.includes(kept), run.said);
    assert.match(run.said, new RegExp(`kept as in Intune: .*the group ${guests} is excluded`));
  });

  test("a group that is assigned in Intune is not excluded", async (t) => {
    const one = await startPublished(t);
    const { tenant, publish, path, app } = one;
    tenant.assign(app().id, guests, "required");

    const run = await publish(path, { AssignTo: ["AllDevices"], Exclude: [guests] });

    const refusal = /is assigned as required in Intune, so it is not excluded\. Nothing was assigned/;
    assert.equal(run.code, 1, run.said);
    assert.match(run.said, refusal);
    assert.deepEqual(said(assignmentsOf(one)), [`required group ${guests}`]);
  });

  test("-Force changes assignments and exclusions, and keeps an administrator's filter", async (t) => {
    const one = await startPublished(t);
    const { tenant, publish, path, app } = one;
    tenant.assign(app().id, everyone, "available");
    const [assignment] = assignmentsOf(one);
    const ofFilter = {
      deviceAndAppManagementAssignmentFilterId: filter,
      deviceAndAppManagementAssignmentFilterType: "include",
    };
    Object.assign(assignment?.target ?? {}, ofFilter);
    tenant.assign(app().id, guests, "required", true);
    tenant.assign(app().id, office, "required");

    const given = { AssignTo: [everyone, guests, "AllDevices"], Exclude: [office], Force: true };
    const run = await publish(path, given);

    assert.equal(run.code, 0, run.said);
    const groups = [`required group ${everyone}`, `required group ${guests}`];
    const others = [`required exclusionGroup ${office}`, "required allDevices"];
    assert.deepEqual(said(assignmentsOf(one)), [...groups, ...others]);
    const [{ target } = { target: {} }] = assignmentsOf(one);
    assert.equal((target as Fields).deviceAndAppManagementAssignmentFilterId, filter);
    assert.doesNotMatch(run.said, /kept as in Intune/);
    tenant.directory.assignmentFilters.push({ id: office, displayName: "Desktops" });
    const other = await publish(path, { AssignTo: [everyone], Filter: "Desktops", Force: true });
    const [changed = { target: {} }] = assignmentsOf(one);
    assert.equal((changed.target as Fields).deviceAndAppManagementAssignmentFilterId, office, other.said);
  });

  test("a new app gets groups, a filter, scope tags and a category by name, once its content is published", async (t) => {
    const one = await startWithPrinter(t, { processingFor: 2 });
    const { tenant, publish, path, app } = one;
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
    const expected = [`required group ${office}`, "required allDevices", `required exclusionGroup ${guests}`];
    assert.deepEqual(said(assignments), expected);
    const filters = assignments.map(({ target }) => {
      const { deviceAndAppManagementAssignmentFilterId: id, ...more } = target as Fields;
      return [id, more.deviceAndAppManagementAssignmentFilterType];
    });
    assert.deepEqual(filters, [
      [filter, "exclude"],
      [filter, "exclude"],
      [undefined, undefined],
    ]);
    const { notifications, deliveryOptimizationPriority } = (assignments[0]?.settings ?? {}) as Fields;
    assert.deepEqual([notifications, deliveryOptimizationPriority], ["hideAll", "foreground"]);
    // Without -ScopeTag it would have the tag "0" of the tenant.
    assert.deepEqual([categories.map(({ id }) => id), app().roleScopeTagIds], [["c1"], ["7"]]);
  });

  for (const [what, tag, expected, changes, result] of [
    ["the group and scope tag that an app has changes nothing", "Contoso", ["7"], 0, /Unchanged/],
    ["another scope tag adds it to that of the app", "East", ["7", "8"], 1, /Updated +Scope tags/],
  ] as const)
    test(`a run with ${what}`, async (t) => {
      const { tenant, publish, path, app } = await startPublished(t);
      const { groups, roleScopeTags } = tenant.directory;
      groups.push({ id: office, displayName: "Front desk" });
      roleScopeTags.push({ id: "7", displayName: "Contoso" }, { id: "8", displayName: "East" });
      tenant.assign(app().id, office);
      tenant.change(app().id, { roleScopeTagIds: ["7"] });

      const run = await publish(path, { AssignTo: ["Front desk"], ScopeTag: [tag] });

      assert.deepEqual([run.code, changesIn(tenant).length], [0, changes], run.said);
      assert.match(resultRows(run).join(), result);
      assert.deepEqual(app().roleScopeTagIds, expected);
    });

  for (const [name, parameters, message] of [
    [
      "a name that two groups have",
      { AssignTo: ["Twice"] },
      /this tenant has 2 groups 'Twice'\. Use the id: /,
    ],
    ["a name that no group has", { AssignTo: ["Nobody"] }, /-AssignTo: this tenant has no group 'Nobody'/],
    [
      "an unknown filter",
      { AssignTo: [everyone], Filter: "None" },
      /-Filter: this tenant has no filter 'None'/,
    ],
    ["a group to assign and exclude", { AssignTo: [office], Exclude: [office] }, /name the group \S+ twice/],
  ] as const)
    test(`${name}: the run is refused and changes nothing`, async (t) => {
      const { tenant, run } = await startWithoutPlaten(t);
      for (const id of [office, guests]) tenant.directory.groups.push({ id, displayName: "Twice" });

      const { code, said: text } = await run(parameters);

      assert.deepEqual([code, changesIn(tenant)], [1, []]);
      assert.match(text, message);
    });
});
