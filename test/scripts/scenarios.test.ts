import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { after, describe, test } from "node:test";
import { selectCases } from "../support/depth.ts";
import { withoutPowerShell } from "../support/powershell/powershell.ts";
import {
  documentedRows,
  documentPath,
  formatRow,
  knownCells,
  runScenario,
  type Scenario,
  type ScenarioGroup,
  withTables,
} from "../support/powershell/scenario.ts";
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
const isWriting = process.env.WRITE_SCENARIOS === "1";

/** The part of a row that is known before the run. */
const beginningOf = (scenario: Scenario, group: ScenarioGroup) => formatRow(knownCells(scenario, group));

test("the document has a row for each scenario, in this order, and no other", {
  skip: isWriting && "the document is being written",
}, () => {
  const expected = groups.map((group) => [
    group.title,
    group.scenarios.map((scenario) => beginningOf(scenario, group)),
  ]);

  const found = groups.map((group) => [
    group.title,
    documented.get(group.title)?.map((row, i) => {
      const scenario = group.scenarios[i];
      return scenario === undefined ? row : row.slice(0, beginningOf(scenario, group).length);
    }),
  ]);

  assert.deepEqual(found, expected);
  const titles = [...documented.keys()];
  assert.deepEqual(
    titles,
    groups.map(({ title }) => title),
  );
});

describe("rows of docs/scenarios.md on a simulated Windows", { skip: withoutPowerShell }, () => {
  const rows = new Map<ScenarioGroup, string[]>();
  const windows = simulatedWindows();
  after(() => {
    const isWhole = groups.every((group) => rows.get(group)?.length === group.scenarios.length);
    if (isWriting && isWhole) writeFileSync(documentPath, withTables(document, groups, rows));
  });

  for (const group of groups) {
    for (const scenario of isWriting ? group.scenarios : selectCases(group.scenarios, 1)) {
      test(`${group.title}: ${knownCells(scenario, group).join(": ")}`, async () => {
        const expected = documented
          .get(group.title)
          ?.find((row) => row.startsWith(beginningOf(scenario, group)));

        const row = formatRow(await runScenario(windows, scenario, group));

        rows.set(group, [...(rows.get(group) ?? []), row]);
        if (!isWriting) assert.equal(row, expected, "`npm run scenarios` writes the document again");
      });
    }
  }
});
