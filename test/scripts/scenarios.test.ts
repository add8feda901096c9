import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { after, describe, test } from "node:test";
import { some } from "../support/depth.ts";
import { withoutPowerShell } from "../support/powershell/powershell.ts";
import { headOf, play, type Scenario, type ScenarioGroup } from "../support/powershell/scenario.ts";
import { registryChanges } from "../support/powershell/scenario-registry.ts";
import { documentedRows, documentPath, rowOf, withTables } from "../support/powershell/scenario-table.ts";
import { simulatedWindows } from "../support/powershell/simulated-windows.ts";
import { driverless } from "./scenarios/driverless.ts";
import { drivers } from "./scenarios/drivers.ts";
import { onArm64, ownDrivers, troubles } from "./scenarios/machines.ts";
import { plain } from "./scenarios/plain.ts";
import { users } from "./scenarios/users.ts";
import { whereAndWhy } from "./scenarios/where-and-why.ts";

const groups = [plain, troubles, ownDrivers, driverless, onArm64, ...drivers, ...users, ...whereAndWhy];
const document = readFileSync(documentPath, "utf8");
const documented = documentedRows(document);
const writes = process.env.WRITE_SCENARIOS === "1";

/** A row as far as it is known without a run. */
const beginningOf = (scenario: Scenario, group: ScenarioGroup) => rowOf(headOf(scenario, group));

test("the document has a row for each scenario, in this order, and no other", {
  skip: writes && "it is written now",
}, () => {
  const expected = groups.map((group) => [
    group.title,
    group.scenarios.map((scenario) => beginningOf(scenario, group)),
  ]);

  const found = groups.map((group) => [
    group.title,
    documented.get(group.title)?.map((row, i) => {
      const scenario = group.scenarios[i];
      const beginning = scenario === undefined ? "" : beginningOf(scenario, group);
      return beginning !== "" && row.startsWith(beginning) ? beginning : row;
    }),
  ]);

  assert.deepEqual(found, expected);
  assert.deepEqual(
    [...documented.keys()],
    groups.map(({ title }) => title),
  );
});

test("no scenario is told twice", () => {
  const heads = groups.flatMap((group) =>
    group.scenarios.map((scenario) => `${group.title}: ${headOf(scenario, group).join()}`),
  );

  assert.deepEqual(
    heads.filter((head, i) => heads.indexOf(head) !== i),
    [],
  );
  assert.ok(heads.length > 40, `${heads.length}`);
});

test("a change of the registry that no row has a word for is told by its key", () => {
  const before = { "HKEY_LOCAL_MACHINE\\SOFTWARE\\Theirs": { a: 1 } };

  const changes = registryChanges(before, {});

  assert.deepEqual(changes, [
    { verb: "removed", what: "registry key `HKEY_LOCAL_MACHINE\\SOFTWARE\\Theirs`" },
  ]);
});

describe("what docs/scenarios.md says, on a simulated Windows", { skip: withoutPowerShell }, () => {
  const rows = new Map<ScenarioGroup, string[]>();
  const windows = simulatedWindows();
  after(() => {
    const isWhole = groups.every((group) => rows.get(group)?.length === group.scenarios.length);
    if (writes && isWhole) writeFileSync(documentPath, withTables(document, groups, rows));
  });

  for (const group of groups) {
    for (const scenario of writes ? group.scenarios : some(group.scenarios, 1)) {
      test(`${group.title}: ${headOf(scenario, group).join(": ")}`, async () => {
        const expected = documented
          .get(group.title)
          ?.find((row) => row.startsWith(beginningOf(scenario, group)));

        const row = rowOf(await play(windows, scenario, group));

        rows.set(group, [...(rows.get(group) ?? []), row]);
        if (!writes) assert.equal(row, expected, "`npm run scenarios` writes the document anew");
      });
    }
  }
});
