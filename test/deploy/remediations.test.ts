import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { deploymentOf, withoutDrivers } from "../../src/pkg/scripts/deployment.ts";
import { startGuarded } from "../support/access/guarded.ts";
import { startApp } from "../support/app.ts";
import { deployable, withoutPowerShell } from "../support/powershell/powershell.ts";
import { papyrusDriver } from "../support/powershell/simulated-machine.ts";
import { simulatedWindows } from "../support/powershell/simulated-windows.ts";

test("the pages of a printer and a client have the two scripts of a remediation, which need no files", async (t) => {
  const { fetch, post, addPrinter } = await startApp(t);
  await post("/clients", { name: "Haus" });
  await addPrinter({ client_id: "1" });
  for (const owner of ["/printers/1", "/clients/1"]) {
    const page = await (await fetch(owner)).text();
    const [, fold = ""] = /<details class="more" id="remediation">([\s\S]*?)<\/details>/.exec(page) ?? [];
    const links = [...fold.matchAll(/href="(\/[^"]+)">Download/g)].map(([, path = ""]) => path);

    const [detect = "", install = ""] = await Promise.all(
      links.map(async (path) => (await fetch(path)).text()),
    );

    assert.deepEqual(links, [`${owner}/scripts/detect`, `${owner}/scripts/install?driver=apart`]);
    assert.match(detect, /exit 1\r\n/);
    assert.match(install, /Origin = 'apart'/);
    assert.doesNotMatch(install, /pnputil|Invoke-WebRequest/);
    assert.doesNotMatch(fold, /subnets/);
  }
  assert.doesNotMatch(await (await fetch("/drivers/1?tab=deploy")).text(), /id="remediation"/);
});

test("a printer with subnets says that remediations do not read them", async (t) => {
  const { fetch, addPrinter } = await startApp(t);
  await addPrinter({ subnets: "10.1.2.0/24" });

  const page = await (await fetch("/printers/1")).text();

  assert.match(page, /Remediations do not read the subnets\./);
});

test("the remediation of a printer with a Windows driver is its usual install script", async (t) => {
  const { fetch, addPrinter } = await startApp(t);
  await addPrinter({ driver_id: "1000003" });

  const page = await (await fetch("/printers/1")).text();

  assert.match(
    page,
    /Remediation script: <a href="\/printers\/1\/scripts\/install">Download install\.ps1<\/a>/,
  );
  assert.doesNotMatch(page, /It has no files/);
});

test("a viewer may download the install script without the driver, and a stranger may not", async (t) => {
  const { service, admin, viewer } = await startGuarded(t);
  await admin.addPrinter();
  const path = "/printers/1/scripts/install?driver=apart";

  const statuses = [(await viewer.fetch(path)).status, (await service.fetch(path)).status];

  assert.deepEqual(statuses, [200, 401]);
});

describe("a remediation on a simulated Windows", { skip: withoutPowerShell }, () => {
  const windows = simulatedWindows();
  const apart = withoutDrivers(deploymentOf(deployable()));
  const alone = { withoutFiles: true };

  test("adds the printer where the driver is, and detection then reports success", async () => {
    await windows.setMachine({ Drivers: [papyrusDriver()] });

    const before = await windows.run("detect", apart, alone);
    const repaired = await windows.run("install", apart, alone);
    const after = await windows.run("detect", apart, alone);

    assert.deepEqual([before.code, repaired.code, after.code], [1, 0, 0]);
    assert.deepEqual(after.output, ["Installed: Office"]);
  });

  test("fails with 1603 and names the driver's package where the driver is not", async () => {
    await windows.setMachine();

    const result = await windows.run("install", apart, alone);

    assert.equal(result.code, 1603);
    assert.match(
      result.output.at(-1) ?? "",
      /^Failed: Office: This machine lacks the driver Papyrus 100 PCL6/,
    );
  });
});
