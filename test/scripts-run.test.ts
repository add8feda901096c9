import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { deployable, Simulation, withoutPowerShell } from "./support/powershell.ts";

describe("scripts on a simulated Windows", { skip: withoutPowerShell }, () => {
  let windows: Simulation;
  before(() => {
    windows = new Simulation();
  });
  after(() => windows.close());

  test("a fresh machine gets driver, port, queue and marker, and is detected", async () => {
    await windows.machine();
    const office = deployable({ name: "Büro “1”", location: "Hall" });

    const before = await windows.run("detect", office);
    const install = await windows.run("install", office);
    const after = await windows.run("detect", office);

    console.log(install.code, install.output, install.errors, install.calls.length);
    console.log(install.log);
    console.log(JSON.stringify(install.machine, null, 1));
    console.log(before.code, before.output, before.errors, after.code, after.output, after.errors);
    assert.equal(install.code, 0);
  });
});
