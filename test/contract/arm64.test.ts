import assert from "node:assert/strict";
import { test } from "node:test";
import { navigation, startApp } from "../support/app.ts";
import { appWithPair, armZip, misdeclaredZip } from "../support/drivers/arm64-pair.ts";
import { driverZip } from "../support/drivers/driver-zip.ts";

test("a printer’s second driver is saved with its model, and pages, searches and counts include it", async (t) => {
  const { fetch, app, main, arm, printer } = await appWithPair(t, { arm64_driver_desc: "Papyrus ARM PS" });

  const { printer: kept } = app.store.printers.get(printer);
  const page = await (await fetch(`/printers/${printer}`)).text();
  const packages = await (await fetch("/packages?q=arm+ps")).text();
  const found = await (await fetch("/printers?q=papyrus+arm+ps")).text();
  const other = await (await fetch("/printers?q=papyrus+arm+ps+nowhere")).text();
  const driver = await (await fetch(`/drivers/${arm}`)).text();

  assert.deepEqual(
    [kept.driver_id, kept.arm64_driver_id, kept.arm64_driver_desc],
    [main, arm, "Papyrus ARM PS"],
  );
  assert.match(page, /<h3>On ARM64 PCs<\/h3>.*Papyrus ARM PS/s);
  assert.match(page, />x64, ARM64</, "what Intune is told");
  assert.match(page, /the drivers are in the package/);
  assert.match(packages, /ARM64: <bdi>Papyrus ARM PS<\/bdi>/);
  assert.match(found, /\/printers\/1"/);
  assert.match(other, /Nothing matches/);
  assert.match(driver, /id="driver-printers".*Office/s);
  assert.deepEqual(
    app.store.drivers.list().map(({ id, printer_count }) => [id, printer_count]),
    [
      [arm, 1],
      [main, 1],
    ],
  );
});

test("an unsuitable second driver is refused at its field, and nothing is changed", async (t) => {
  const { post, addDriver, app, printer } = await appWithPair(t);
  const x64 = await addDriver(driverZip({ version: "7.0.0.0" }));
  const lying = await addDriver(misdeclaredZip());
  const before = app.store.printers.get(printer);
  const wrong: [Record<string, string>, RegExp][] = [
    [{ arm64_driver_id: "99" }, /^Driver 99 for ARM64 does not exist\./],
    [{ arm64_driver_id: "x" }, /Driver for ARM64 “x” does not exist\./],
    [{ arm64_driver_id: String(x64) }, /has no ARM64 files\. Choose another driver\./],
    [{ arm64_driver_id: String(lying) }, /has no ARM64 files/],
    [{ arm64_driver_id: "1000001" }, /works only with IPP/],
    [
      { arm64_driver_id: "1000002", protocol: "ipp", driver_id: "1000001" },
      /IPP requires no driver for ARM64/,
    ],
    [
      { arm64_driver_id: "2", arm64_driver_desc: "Papyrus 100" },
      /^The driver for ARM64 does not contain the model “Papyrus 100”\./,
    ],
    [{ arm64_driver_desc: "Papyrus ARM" }, /Choose the driver for ARM64 that has the model “Papyrus ARM”/],
  ];

  for (const [fields, message] of wrong) {
    const form = { name: "Office", address: "10.0.0.9", driver_id: "1", ...fields };
    const changed = await post(`/printers/${printer}`, form);
    const made = await post("/printers", form, navigation);
    const page = await made.text();

    const field = /id="f-(arm64_driver_(?:id|desc))-problem">([^<]*)/.exec(page);
    assert.deepEqual([changed.status, made.status], [422, 422], JSON.stringify(fields));
    assert.match(field?.[2] ?? "", message);
    assert.equal(field?.[1] === "arm64_driver_desc", fields.arm64_driver_desc === "Papyrus 100");
    assert.match(page, /<details class="more" data-fold open>\s*<summary>ARM64 PCs/);
  }
  assert.deepEqual(app.store.printers.get(printer), before);
  assert.equal(app.store.printers.list().length, 1);
});

test("a Windows driver for ARM64 machines works beside a vendor’s driver for the others", async (t) => {
  const { fetch, post, addPrinter, app } = await startApp(t);
  const printer = await addPrinter({
    arm64_driver_id: "1000002",
    arm64_driver_desc: "Microsoft PS Class Driver",
  });

  const script = await (await fetch(`/printers/${printer}/scripts/install`)).text();
  const page = await (await fetch(`/printers/${printer}`)).text();
  const unset = await post(`/printers/${printer}`, { name: "Office", address: "10.0.0.9", driver_id: "1" });

  assert.match(script, /Arm64DriverKey = 'driver-1000002'/);
  assert.match(script, /Arm64DriverName = 'Microsoft PS Class Driver'/);
  assert.equal(
    [...script.matchAll(/\sDownload = 'http/g)].length,
    1,
    "there is nothing to download of Included in Windows",
  );
  assert.match(page, /Microsoft PS Class Driver/);
  assert.equal(unset.status, 200);
  assert.equal(app.store.printers.get(printer).printer.arm64_driver_id, null);
});

test("a script fetched alone names each driver’s files and digest once, and no second driver if there is none", async (t) => {
  const { fetch, addPrinter, url, main, arm, printer } = await appWithPair(t);
  const plain = await addPrinter({ driver_id: String(main), name: "Plain" });

  const script = async (id: number, kind: string) => (await fetch(`/printers/${id}/scripts/${kind}`)).text();
  const install = await script(printer, "install");
  const digests = [...install.matchAll(/FilesSha256 = '([0-9A-F]{64})'/g)].map((match) => match[1]);
  const others = [await script(printer, "uninstall"), await script(printer, "detect")];
  const without = await script(plain, "install");

  const downloads = [...install.matchAll(/\sDownload = '([^']*)'/g)].map((match) => match[1]);
  assert.deepEqual(downloads, [`${url}/drivers/${main}/files`, `${url}/drivers/${arm}/files`]);
  assert.equal(new Set(digests).size, 2);
  for (const text of [install, ...others]) assert.match(text, /function Resolve-Driver/);
  for (const text of others) assert.doesNotMatch(text, /https?:\/\//);
  assert.doesNotMatch(without, /Resolve-Driver|driver-arm64/);
});

test("the revision changes with the second driver and its model; without one it stays the same", async (t) => {
  const { fetch, post, main, arm, printer } = await appWithPair(t);
  const revision = async () =>
    /Revision = '(\w{12})'/.exec(await (await fetch(`/printers/${printer}/scripts/detect`)).text())?.[1];
  const save = async (fields: Record<string, string>) => {
    await post(`/printers/${printer}`, {
      name: "Office",
      address: "10.0.0.9",
      driver_id: String(main),
      ...fields,
    });
    return revision();
  };

  const both = await revision();
  const other = await save({ arm64_driver_id: String(arm), arm64_driver_desc: "Papyrus ARM PS" });
  const back = await save({ arm64_driver_id: String(arm) });
  await post(`/drivers/${arm}`, { trust_publisher: "on" });
  const trusted = await revision();
  const alone = await save({});
  await post(`/drivers/${arm}`, { name: "Another name" });
  const aloneStill = await revision();

  assert.equal(new Set([both, other, trusted, alone]).size, 4);
  assert.deepEqual([back, aloneStill], [both, alone]);
});

test("without scripts, the form lists only drivers for ARM64, keeps the chosen one, and says whether one is needed", async (t) => {
  const { fetch, main, arm, printer, addDriver, addPrinter } = await appWithPair(t);
  const both = await addDriver(driverZip({ decoration: "NTamd64,NTarm64", version: "5.0.0.0" }));
  const single = await addPrinter({ driver_id: String(both), name: "Both" });

  const page = await (await fetch(`/printers/${printer}/edit`)).text();
  const nothingToChoose = await (await fetch(`/printers/${single}/edit`)).text();

  const select = /<select id="f-arm64_driver_id".*?<\/select>/s.exec(page)?.[0] ?? "";
  const values = [...select.matchAll(/<option value="(\d*)"/g)].map((match) => match[1]);
  assert.deepEqual(values, ["", String(both), String(arm), "1000002", "1000003"]);
  assert.match(select, new RegExp(`value="${arm}" selected`));
  assert.match(select, /<optgroup label="Included in Windows">/);
  assert.match(page, /the driver above has no ARM64 files/);
  assert.match(page, /<datalist id="arm64-models"[^>]*><option value="Papyrus ARM"><\/option>/s);
  assert.match(page, /<summary>ARM64 PCs <span class="soft count">1 set/);
  assert.match(nothingToChoose, /Optional: the driver above has ARM64 files too/);
  assert.equal(main === both, false);
});

test("the form asks for the second driver’s model if it has several and none is chosen", async (t) => {
  const { post, addDriver } = await startApp(t);
  const main = await addDriver();
  const arm = await addDriver(armZip());
  const form = {
    ...{ name: "Office", address: "10.0.0.9", driver_id: String(main), arm64_driver_id: String(arm) },
    from_form: "1",
  };

  const refused = await post("/printers", form, navigation);
  const page = await refused.text();
  const chosen = await post("/printers", { ...form, arm64_driver_desc: "Papyrus ARM PS" }, navigation);

  assert.deepEqual([refused.status, chosen.status], [422, 303]);
  assert.match(page, /id="f-arm64_driver_desc-problem">Choose one of 2 models\./);
});

test("a client’s page names the architectures for all of its printers, by the files shipped, not by those declared", async (t) => {
  const { fetch, post, addDriver, addPrinter, main, arm } = await appWithPair(t);
  await post("/clients", { name: "Alpha" });
  const client = { client_id: "1", driver_id: String(main) };
  const machines = async () => {
    const page = await (await fetch("/clients/1")).text();
    return /Operating system architecture<\/dt><dd><bdi[^>]*>([^<]*)/.exec(page)?.[1];
  };

  const second = { arm64_driver_id: String(arm), arm64_driver_desc: "Papyrus ARM" };
  await addPrinter({ ...client, ...second, name: "Pair" });
  const pairAlone = await machines();
  const lying = await addDriver(misdeclaredZip());
  const declared = await addPrinter({ client_id: "1", driver_id: String(lying), name: "Declared" });
  const withLying = await machines();
  await post(`/printers/${declared}`, {
    name: "Declared",
    client_id: "1",
    driver_id: String(lying),
    ...second,
  });
  const mended = await machines();

  assert.deepEqual([pairAlone, withLying, mended], ["x64, ARM64", "x64", "x64, ARM64"]);
});
