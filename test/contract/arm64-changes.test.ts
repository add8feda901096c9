import assert from "node:assert/strict";
import { test } from "node:test";
import { runImport } from "../../src/services/import/import.ts";
import { navigation } from "../support/app.ts";
import { appWithPair, armZip, driversOf } from "../support/drivers/arm64-pair.ts";
import { planOf } from "../support/printers/lists.ts";

test("before a second driver changes, the page names the printers that reinstall and those that would fail on ARM64", async (t) => {
  const service = await appWithPair(t, { arm64_driver_desc: "Papyrus ARM PS" });
  const { post, app, addDriver, addPrinter, main } = service;
  const two = await addDriver(
    armZip({
      version: "6.0.0.0",
      extra: [
        { name: "b/other.inf", bytes: Buffer.from(infOf("Papyrus Other", "NTarm64")) },
        { name: "b/x64.inf", bytes: Buffer.from(infOf("Papyrus ARM", "NTamd64")) },
        { name: "b/arm.dll", bytes: "other bytes" },
        { name: "b/papyrus.cat", bytes: "catalog" },
      ],
    }),
  );
  await post(`/drivers/${two}`, { inf_path: "papyrus.inf", driver_desc: "Papyrus ARM" });
  const printer = await addPrinter({
    driver_id: String(main),
    arm64_driver_id: String(two),
    name: "Second",
    arm64_driver_desc: "Papyrus ARM",
  });
  const form = { from_form: "1", inf_path: "b/other.inf", driver_desc: "Papyrus Other" };

  const preview = await (await post(`/drivers/${two}`, form, navigation)).text();
  await post(`/drivers/${two}`, { inf_path: "b/other.inf", driver_desc: "Papyrus Other" });
  const lost = (await app.overview.printer(printer)).row;
  await post(`/drivers/${two}`, { inf_path: "b/x64.inf", driver_desc: "Papyrus ARM" });
  const foreign = (await app.overview.printer(printer)).row;

  assert.match(
    preview,
    /1 printer will fail on ARM64 PCs\. The INF does not contain the model “<bdi>Papyrus ARM<\/bdi>”: .*Second/s,
  );
  assert.match(preview, /1 printer must be deployed again: .*Second/s);
  assert.deepEqual(
    lost.findings.map(({ kind, state, isArm64 }) => [kind, state, isArm64]),
    [["lost-model", "attention", true]],
  );
  assert.deepEqual(
    foreign.findings.map(({ kind, state }) => [kind, state]),
    [["not-for-arm64", "attention"]],
  );
});

function infOf(model: string, decoration: string): string {
  return [
    '[Version]\r\nSignature="$Windows NT$"\r\nClass=Printer\r\nProvider="Papyrus"\r\nDriverVer=06/21/2025,7.0.0.0',
    `CatalogFile=papyrus.cat\r\n[Manufacturer]\r\n"Papyrus"=Models,${decoration}\r\n[Models.${decoration}]`,
    `"${model}"=Install,USBPRINT\\P\r\n[Install]\r\nCopyFiles=@arm.dll\r\n[SourceDisksNames]\r\n1=d\r\n[SourceDisksFiles]\r\narm.dll=1\r\n`,
  ].join("\r\n");
}

test("an import restores both drivers from an export, and finds a second driver by its model", async (t) => {
  const service = await appWithPair(t, { arm64_driver_desc: "Papyrus ARM PS" });
  const { fetch, app, addPrinter, main, arm } = service;
  await addPrinter({ driver_id: String(main), name: "Plain" });

  const csv = await (await fetch("/export/printers.csv")).text();
  const same = await planOf(service, csv);
  const cleared = await planOf(
    service,
    "name,arm64_driver,arm64_driver_model,arm64_driver_sha256\nOffice,,,\n",
  );
  const text =
    "name,driver,arm64_driver_model,arm64_driver_version\nPlain,,PAPYRUS ARM PS,\nNew,Papyrus 100 PCL6,Papyrus ARM,3.0.0.0\n";
  const plan = await planOf(
    service,
    text.replace("name,driver,", "name,driver_model,").replace("Plain,,", "Plain,Papyrus 100 PCL6,"),
  );
  const source = { list: Buffer.from(csv), client: "", takesAll: false };
  const run = await runImport(app.store, source, { digest: undefined, leavesWrongOut: false });
  const wrong = await planOf(
    service,
    "name,arm64_driver_model\nPlain,Papyrus 100 PCL6\nOffice,Nothing Like It\n",
  );

  assert.match(
    csv.split("\r\n")[0] ?? "",
    /arm64_driver_desc.*,arm64_driver,arm64_driver_model,arm64_driver_inf,arm64_driver_version,arm64_driver_sha256,/,
  );
  assert.deepEqual(same.counts, { wrong: 0, changes: 0, new: 0, same: 2, "left out": 0 });
  assert.deepEqual(run.plan.counts.same, 2);
  assert.deepEqual(
    cleared.rows.map(({ write }) => [write?.settings.arm64_driver_id, write?.settings.arm64_driver_desc]),
    [[null, ""]],
  );
  assert.deepEqual(
    plan.rows.map(({ status, write }) => [
      status,
      write?.settings.driver_id,
      write?.settings.arm64_driver_id,
      write?.settings.arm64_driver_desc,
    ]),
    [
      ["changes", main, arm, "Papyrus ARM PS"],
      ["new", main, arm, ""],
    ],
  );
  assert.match(wrong.rows[0]?.reasons.join() ?? "", /has no ARM64 files/);
  assert.match(
    wrong.rows[1]?.remarks.join() ?? "",
    /Platen has no driver for ARM64 “Nothing Like It”\. The printer keeps its driver for ARM64\./,
  );
});

test("a row with contradictory columns for the second driver is wrong and names those columns", async (t) => {
  const service = await appWithPair(t);
  const { sha256 } = service.app.store.drivers.get(service.arm);

  const { rows } = await planOf(
    service,
    `name,arm64_driver,arm64_driver_sha256\nOffice,Scriptor 7,${sha256}\n`,
  );

  assert.match(
    rows[0]?.reasons.join() ?? "",
    /^“arm64_driver” is “Scriptor 7”, but Platen has no such driver\. “arm64_driver_sha256” is that of Papyrus/,
  );
});

test("an import saves the second driver with the printer", async (t) => {
  const service = await appWithPair(t);
  const { app, main, arm } = service;
  const text =
    "name,driver_model,arm64_driver_model,arm64_driver_desc\nOne,Papyrus 100 PCL6,,Papyrus ARM PS\nOffice,Papyrus 100 PCL6,,Papyrus ARM PS\n";

  const source = { list: Buffer.from(text), client: "", takesAll: false };
  const { refused } = await runImport(app.store, source, { digest: undefined, leavesWrongOut: false });

  assert.equal(refused, undefined);
  assert.deepEqual(driversOf(service), [
    ["Office", main, "", arm, "Papyrus ARM PS"],
    ["One", main, "", arm, "Papyrus ARM PS"],
  ]);
});

test("a row that changes a printer with a second driver to IPP is wrong: IPP has no second driver", async (t) => {
  const service = await appWithPair(t);

  const { rows } = await planOf(
    service,
    "name,protocol,driver_model\nOffice,ipp,Microsoft IPP Class Driver\n",
  );
  const without = await planOf(
    service,
    "name,protocol,driver_model,arm64_driver,arm64_driver_model,arm64_driver_sha256\nOffice,ipp,Microsoft IPP Class Driver,,,\n",
  );

  assert.match(rows[0]?.reasons.join() ?? "", /^IPP requires no driver for ARM64\. Leave this empty\.$/);
  assert.deepEqual(without.rows[0]?.reasons, []);
  assert.equal(without.rows[0]?.status, "changes");
});
