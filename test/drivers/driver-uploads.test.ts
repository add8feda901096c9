import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { navigation, startApp, type TestApp, temporaryFolder } from "../support/app.ts";
import { driverZip, printerInf } from "../support/drivers/driver-zip.ts";
import { makeZip } from "../support/drivers/zip.ts";
import { makeSharedZip, withoutShared } from "../support/shared.ts";

/** The response to an upload, up to the list. */
async function uploadNotice({ upload }: TestApp, bytes: Uint8Array): Promise<string> {
  const text = await (await upload("/drivers/upload", bytes)).text();
  return text.slice(0, text.indexOf('<div id="driver-rows"'));
}

function toneOf(answer: string): string {
  return /<div class="notice (\w+)"/.exec(answer)?.[1] ?? "";
}

test("the notice of an upload has the tone of its worst line", async (t) => {
  const service = await startApp(t);
  const zips = [
    driverZip(),
    driverZip({ models: ["A", "B"] }),
    driverZip({ catalog: null }),
    driverZip({
      version: "2.0.0.0",
      extra: [{ name: "papyrus2.inf", bytes: printerInf({ provider: "Acme" }) }],
    }),
    makeZip([{ name: "papyrus.inf", bytes: printerInf() }]),
    Buffer.from("no ZIP"),
  ];

  const answers: string[] = [];
  for (const zip of zips) answers.push(await uploadNotice(service, zip));

  assert.deepEqual(answers.map(toneOf), ["good", "warn", "bad", "warn", "bad", "bad"]);
  assert.match(answers[2] ?? "", /role="alert"/);
});

test("an upload with several models asks for the model in its notice and accepts the answer there", async (t) => {
  const service = await startApp(t);
  const notice = await uploadNotice(service, driverZip({ models: ["Papyrus A", "Papyrus <B>"] }));
  const script = { "hx-request": "true" };

  const answer = await service.post(
    "/drivers/1",
    { from_form: "1", from_upload: "1", driver_desc: "Papyrus <B>" },
    script,
  );
  const repeated = await uploadNotice(service, driverZip({ models: ["Papyrus A", "Papyrus <B>"] }));

  assert.match(notice, /One of 2 names/);
  assert.match(notice, /type="radio" name="driver_desc"[^>]* value="Papyrus &lt;B&gt;"/);
  assert.doesNotMatch(notice, /name="driver_desc"[^>]* checked/);
  const text = await answer.text();
  assert.match(text, /Deploys <bdi>Papyrus &lt;B&gt;<\/bdi>, as you chose/);
  assert.match(text, /id="driver-list" hx-swap-oob="true"/, "the list follows");
  assert.equal(answer.headers.get("hx-redirect"), null);
  assert.doesNotMatch(repeated, /One of 2 names/);
  assert.match(repeated, /was already uploaded: the content is the same/);
});

test("an answer to the question for the model keeps the list narrowed", async (t) => {
  const service = await startApp(t);
  await service.addDriver(driverZip({ models: ["Vellum A", "Vellum B"] }));
  await service.addDriver(driverZip({ models: ["Papyrus A", "Papyrus B"] }));
  const page = { "hx-request": "true", "hx-current-url": `${service.url}/drivers?state=unchosen-model` };

  const answer = await service.post(
    "/drivers/1",
    { from_form: "1", from_upload: "1", driver_desc: "Vellum A" },
    page,
  );

  const text = await answer.text();
  assert.deepEqual(text.match(/href="\/drivers\/\d+"/g), ['href="/drivers/2"']);
  assert.match(text, /id="driver-count"[^>]*hx-swap-oob="innerHTML">1 of 2 drivers/);
});

test("a repeated upload keeps the driver's permissions when it asks for the model", async (t) => {
  const service = await startApp(t);
  const zip = driverZip({ models: ["Papyrus A", "Papyrus B"] });
  await service.addDriver(zip);
  await service.post("/drivers/1", { trust_publisher: "on" });

  const notice = await uploadNotice(service, zip);

  assert.match(notice, /type="hidden" name="trust_publisher" value="on"/);
});

test("an upload that restores a missing or damaged archive says so", async (t) => {
  const service = await startApp(t);
  await service.addDriver();
  const { blobs, drivers } = service.app.store;
  const path = blobs.pathOf("drivers", drivers.get(1).sha256);

  await blobs.remove("drivers", drivers.get(1).sha256);
  const missing = await uploadNotice(service, driverZip());
  await writeFile(path, "half of it");
  const damaged = await service.upload("/drivers/upload", driverZip(), "again.zip", navigation);
  const page = await (await service.fetch(damaged.headers.get("location") ?? "")).text();

  assert.match(missing, /Its archive was missing on disk and is restored/);
  assert.equal(toneOf(missing), "good");
  assert.equal(damaged.headers.get("location"), "/drivers/1?uploaded=damaged");
  assert.match(page, /Its archive was damaged on disk and is restored/);
  assert.equal((await service.app.overview.driver(1)).driver.state, "ready");
});

test("a ZIP with printers of two vendors names them; two INFs of one vendor cause no warning", async (t) => {
  const service = await startApp(t);
  const beside = (provider: string) => [{ name: "second/b.inf", bytes: printerInf({ provider, files: [] }) }];

  const two = await uploadNotice(service, driverZip({ extra: beside("Acme Inc.") }));
  const one = await uploadNotice(service, driverZip({ extra: beside("PAPYRUS, Ltd.") }));

  assert.match(
    two,
    /printer drivers of several vendors: Papyrus \(papyrus\.inf\), Acme Inc\. \(second\/b\.inf\)/,
  );
  assert.doesNotMatch(one, /several vendors/);
});

test("a ZIP that is not a printer driver says what it is, and is kept as needing attention", async (t) => {
  const service = await startApp(t);
  const net = driverZip({ className: "Net", provider: "Acme" });
  const odd = driverZip({ className: "Gizmo", provider: "%NOTHING%" });
  const setup = makeZip([{ name: "autorun.inf", bytes: "[autorun]\r\nopen=setup.exe" }]);

  const answers = [
    await uploadNotice(service, net),
    await uploadNotice(service, odd),
    await uploadNotice(service, setup),
  ];
  const page = await (await service.fetch("/drivers/1")).text();

  assert.match(
    answers[0] ?? "",
    /This is a driver for network adapters \(class Net\) of Acme, not for printers: INF papyrus\.inf\./,
  );
  assert.match(answers[1] ?? "", /This is a driver for devices of the class Gizmo, not for printers/);
  assert.match(answers[2] ?? "", /No INF in this ZIP belongs to a driver/);
  assert.deepEqual(answers.map(toneOf), ["bad", "bad", "bad"]);
  assert.match(page, /network adapters/);
  assert.equal(service.app.store.drivers.list().length, 3);
});

test("an upload offers to move printers if it is a newer version of their driver, and not otherwise", async (t) => {
  const service = await startApp(t);
  const driver = (version: string, models: string[]) => driverZip({ version, models });
  const old = await service.addDriver(driver("1.0.0.0", ["Papyrus 100", "Papyrus 200"]));
  await service.addPrinter({ driver_id: String(old), driver_desc: "Papyrus 200" });

  const unlike = await uploadNotice(service, driver("3.0.0.0", ["Papyrus 300"]));
  const [before, listed] = await Promise.all(
    ["/", "/drivers?state=newer"].map(async (path) => (await service.fetch(path)).text()),
  );
  const newer = await uploadNotice(service, driver("2.0.0.0", ["PAPYRUS 200", "Papyrus 201"]));
  const after = await (await service.fetch("/")).text();
  const page = await (await service.fetch(`/drivers/${old}`)).text();

  assert.doesNotMatch(unlike, /older version/);
  assert.doesNotMatch(before ?? "", /state=newer/);
  assert.match(listed ?? "", /0 of 2 drivers/);
  assert.match(after, /state=newer/);
  assert.match(newer, /1 printer has an older version: <bdi>Papyrus papyrus\.inf 1\.0\.0\.0 · /);
  assert.match(newer, new RegExp(`href="/drivers/${old}/move\\?to=3">Move 1 printer…`));
  assert.match(page, /Newer version: <a href="\/drivers\/3">/);
});

test("real ZIPs of a network card and of two vendors are recognised", {
  skip: withoutShared,
}, async (t) => {
  const service = await startApp(t);
  const folder = await temporaryFolder(t);
  const answers: string[] = [];

  for (const name of ["nonprinter-dlink-net", "canon-ricoh-mixed"]) {
    const path = join(folder, `${name}.zip`);
    await makeSharedZip(name, path, "--scale", "0.001");
    answers.push(await uploadNotice(service, await readFile(path)));
  }

  assert.match(answers[0] ?? "", /This is a driver for network adapters/);
  assert.match(answers[1] ?? "", /several vendors: Canon \(CNP60MA64\.INF\), Ricoh \(oemsetup\.inf\)/);
});
