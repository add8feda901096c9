import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { describeFile } from "../../src/domain/drivers/unpacking.ts";
import { startGuarded } from "../support/access/guarded.ts";
import { navigation, startApp, type TestApp } from "../support/app.ts";
import { driverZip, printerInf } from "../support/drivers/driver-zip.ts";
import { makeZip } from "../support/drivers/zip.ts";

/** The response to an upload, up to the list. */
async function uploadNotice({ upload }: TestApp, bytes: Uint8Array): Promise<string> {
  const text = await (await upload("/drivers/upload", bytes)).text();
  return text.slice(0, text.search(/<form class="inline" method="get"|<div id="driver-rows"/));
}

function toneOf(answer: string): string {
  return /<div class="notice (\w+)"/.exec(answer)?.[1] ?? "";
}

test("uploads of the same ZIP create one driver, with a list of models and a notice about unused files", async (t) => {
  const { upload, app, dataDir } = await startApp(t);
  const zip = driverZip({ extra: [{ name: "readme.txt", bytes: "x" }] });

  const first = await upload("/drivers/upload", zip, "Papyrus 1.2.zip");
  const second = await upload("/drivers/upload", zip, "again.zip");
  const other = driverZip({ version: "2.0.0.0" });
  const program = await upload("/drivers/upload", zip, "again.zip", { accept: "text/plain" });
  const atOnce = await Promise.all([1, 2, 3, 4].map(() => upload("/drivers/upload", other)));

  const text = await first.text();
  assert.deepEqual(new Set([first, second, ...atOnce].map(({ status }) => status)), new Set([200]));
  const pages = [first, second, program].map(({ headers }) => headers.get("location"));
  assert.deepEqual(pages, ["/drivers/1", "/drivers/1", "/drivers/1"]);
  assert.equal(await program.text(), "driver 1 exists already\n");
  assert.match(text, /<select id="driver-select" name="driver_id"><option value="1" selected>/);
  assert.match(text, /Packages contain 1 unused file/);
  assert.match(text, /readme\.txt/);
  assert.match(await second.text(), /is already in Platen/);
  const names = app.store.drivers.list().map(({ file_name }) => file_name);
  assert.deepEqual(names.sort(), ["Papyrus 1.2.zip", "driver.zip"]);
  assert.deepEqual(readdirSync(join(dataDir, "incoming")), []);
  assert.equal(readdirSync(join(dataDir, "drivers")).length, 2);
});

test("a file that is not a driver ZIP is refused with 422, and one over the limit with 413; nothing is left", async (t) => {
  const service = await startApp(t, { uploadLimitBytes: 1 << 20 });
  const upload = (bytes: Buffer) => service.upload("/drivers/upload", bytes);

  const answers = [
    await upload(Buffer.from("this is no ZIP")),
    await upload(makeZip([{ name: "readme.txt", bytes: "no INF" }])),
    await upload(driverZip().subarray(0, 300)),
    await service.post("/drivers/upload", { file: "no file" }),
    await upload(Buffer.alloc((1 << 20) + 1)),
  ];

  const statuses = answers.map(({ status }) => status);
  assert.deepEqual(statuses, [422, 422, 422, 422, 413]);
  assert.match((await answers[4]?.text()) ?? "", /larger than 1 MB/);
  assert.equal(service.app.store.drivers.list().length, 0);
  for (const folder of ["incoming", "drivers"])
    assert.deepEqual(readdirSync(join(service.dataDir, folder)), []);
});

test("uploads above the limit of waiting ones are refused with 503 and Retry-After", async (t) => {
  const { upload, app } = await startApp(t, {}, { maxConcurrent: 1, max: 2 });

  const zips = [1, 2, 3, 4].map((number) => driverZip({ version: `1.0.0.${number}` }));
  const answers = await Promise.all(zips.map((zip) => upload("/drivers/upload", zip)));

  const busy = answers.filter(({ status }) => status === 503);
  assert.ok(busy.length > 0 && answers.every(({ status }) => status === 200 || status === 503));
  for (const answer of busy) assert.match(answer.headers.get("retry-after") ?? "", /^\d+$/);
  assert.equal(app.store.drivers.list().length, 4 - busy.length);
});

const beside = (provider: string) => [{ name: "second/b.inf", bytes: printerInf({ provider, files: [] }) }];
const file = (name: string, size = 9) => ({ name, bytes: "x".repeat(size) });
const autorun = { name: "autorun.inf", bytes: "[autorun]\r\nopen=setup.exe" };

/** What is uploaded, the tone of the notice and what it says. */
const notices: [zip: Buffer, tone: "good" | "warn" | "bad", said: RegExp][] = [
  [driverZip(), "good", /was uploaded/],
  [driverZip({ models: ["A", "B"] }), "good", /was uploaded/],
  [driverZip({ catalog: null }), "bad", /role="alert"/],
  [
    driverZip({ extra: beside("Acme Inc.") }),
    "warn",
    /printer drivers of several vendors: Papyrus \(papyrus\.inf\), Acme Inc\. \(second\/b\.inf\)/,
  ],
  [driverZip({ extra: beside("PAPYRUS, Ltd.") }), "good", /^(?![\s\S]*several vendors)/],
  [makeZip([{ name: "papyrus.inf", bytes: printerInf() }]), "bad", /2 files that the INF needs are missing/],
  [
    driverZip({ className: "Net", provider: "Acme" }),
    "bad",
    /This is not a printer driver\. It is for network adapters \(class Net\) of Acme: INF papyrus\.inf\./,
  ],
  [
    driverZip({ className: "Gizmo", provider: "%NOTHING%" }),
    "bad",
    /not a printer driver\. It is for devices of the class Gizmo/,
  ],
  [makeZip([autorun]), "bad", /This ZIP contains no INF of a driver/],
  [
    makeZip([file("autorun.txt", 1), file("Setup & 1.exe", 5), file("data.cab", 3), file("a/no.zip", 9)]),
    "bad",
    /no INF file\. It contains 3 programs or archives: “Setup &amp; 1\.exe”, “data\.cab”, “a\/no\.zip”\. Extract/,
  ],
  [makeZip([file("readme.txt")]), "bad", /contains no INF file\. Zip the folder with the INF file/],
  [Buffer.from("MZ Inno Setup Setup Data"), "bad", /is not a ZIP file, but a setup program made with Inno/],
  [
    makeZip([autorun, { name: "x.exe", bytes: "MZ Nullsoft.NSIS" }]),
    "bad",
    /no INF of a driver\. “x\.exe” in it is a setup program made with NSIS\. Extract it with 7-Zip/,
  ],
  [
    makeZip([{ name: "CON.inf", bytes: "[Version]" }]),
    "bad",
    /“CON\.inf” is the name of a Windows device\. Extract it, zip the folder/,
  ],
  [
    driverZip({ extra: [{ name: "papyrus.inf:Zone.Identifier", bytes: "[ZoneTransfer]" }] }),
    "warn",
    /Packages leave out files that Windows cannot create: “papyrus\.inf:Zone\.Identifier” contains/,
  ],
];

/** The start of a file, and what is said of it. */
const formats: readonly (readonly [head: string, said: RegExp])[] = [
  ["Rar!\x1a\x07\x01", /a RAR archive\. Extract it with 7-Zip, then zip and upload the folder/],
  ["7z\xbc\xaf\x27\x1c", /a 7z archive\. Extract it with 7-Zip/],
  ["MSCF\0\0\0\0", /a cabinet \(CAB\)\. .* expand -F:\* FILE\.cab FOLDER/],
  ["ISc(", /an InstallShield cabinet\. Upload the setup program/],
  [
    "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1",
    /\(MSI\)\. Extract it with msiexec \/a .* \/export-driver oemNN\.inf FOLDER/,
  ],
  ["\xef\xbb\xbf<!DOCTYPE HTML>", /a web page\. .* Download the driver again/],
  [
    "MZ...JR.Inno.Setup...Rar!\x1a\x07",
    /made with Inno Setup\. 7-Zip cannot open it\. Extract it with innoextract/,
  ],
  ["MZ...NullsoftInst", /made with NSIS\. Extract it with 7-Zip.* \/export-driver oemNN\.inf FOLDER/],
  ["MZ...I\0n\0s\0t\0a\0l\0l\0S\0h\0i\0e\0l\0d\0", /InstallShield\. Run it with \/extract_all:/],
  ["MZ...7z\xbc\xaf\x27\x1c", /a self-extracting RAR, 7z or CAB\. Extract it with 7-Zip/],
  ["MZ...", /a program\. If 7-Zip can extract it/],
  ["%PDF-1.7", /^This is not a ZIP file\. Upload the ZIP/],
  ["", /This file is empty/],
];

test("a file that is no ZIP is named by its bytes, with the way to its driver", () => {
  for (const [head, said] of formats) assert.match(describeFile(Buffer.from(head, "latin1")), said);
});

test("a ZIP in a ZIP without a printer INF becomes the driver: of several, the one with the best printer INF", async (t) => {
  const service = await startApp(t);
  const inner = driverZip({ extra: [{ name: "readme.txt", bytes: "x" }] });
  const program = Buffer.concat([Buffer.from("MZ".padEnd(600)), driverZip({ decoration: "NTx86" })]);
  const kit = makeZip([
    { name: "setup/32 & 64/x86.exe", bytes: program },
    { name: "setup/x64.ZIP", bytes: inner },
    { name: "broken.zip", bytes: driverZip().subarray(0, 200) },
    { name: "deeper.zip", bytes: makeZip([{ name: "driver.zip", bytes: inner }]) },
    { name: "scanner.inf", bytes: printerInf({ className: "Image" }) },
  ]);
  const archiveOf = async (id: number) =>
    Buffer.from(await (await service.fetch(`/drivers/${id}/archive`)).arrayBuffer());

  const answer = await uploadNotice(service, kit);
  const other = makeZip([{ name: "x64.zip", bytes: driverZip({ version: "2.0.0.0" }) }]);
  const sent = await service.upload("/drivers/upload", other, "a.zip", navigation);
  const page = await (await service.fetch(sent.headers.get("location") ?? "")).text();
  const plain = await service.upload("/drivers/upload", kit, "kit.zip", { accept: "text/plain" });
  rmSync(service.app.store.blobs.pathOf("drivers", service.app.store.drivers.get(1).sha256));
  const again = await uploadNotice(service, kit);
  const itself = await uploadNotice(service, inner);

  assert.match(
    answer,
    /no printer INF, so Platen took “setup\/x64\.ZIP” from it\. Other printer drivers are in “setup\/32 &amp; 64\/x86\.exe”/,
  );
  assert.deepEqual(await archiveOf(1), inner);
  assert.equal(service.app.store.drivers.get(1).file_name, "x64.ZIP");
  const told = "The uploaded file contains no printer INF, so Platen took “setup/x64.ZIP” from it. ";
  assert.ok((await plain.text()).startsWith(`driver 1 exists already. ${told}Other printer drivers are in`));
  assert.match(
    page,
    /was uploaded\. <bdi>The uploaded file contains no printer INF, so Platen took “x64\.zip”/,
  );
  assert.match(again, /Its ZIP was missing and was replaced[\s\S]*so Platen took “setup\/x64\.ZIP”/);
  assert.match(itself, /is already in Platen with the same content/);
  assert.doesNotMatch(itself, /so Platen took/);
  assert.deepEqual(readdirSync(join(service.dataDir, "incoming")), []);
});

test("a ZIP in a ZIP above the size limit of uploads is not taken", async (t) => {
  const service = await startApp(t, { uploadLimitBytes: 100_000 });
  const inner = driverZip({ extra: [{ name: "large", bytes: Buffer.alloc(200_000), method: 0 }] });

  const answer = await uploadNotice(service, makeZip([{ name: "inner.zip", bytes: inner }]));

  assert.match(answer, /contains no INF file\. Extract this ZIP and “inner\.zip” in it/);
  assert.deepEqual(readdirSync(join(service.dataDir, "incoming")), []);
});

test("the notice of an upload has the tone of its worst line, says what the ZIP is, and how to get at the driver in it", async (t) => {
  const service = await startApp(t);

  const answers: string[] = [];
  for (const [zip] of notices) answers.push(await uploadNotice(service, zip));
  const network = service.app.store.drivers.list().find(({ name }) => /Acme/.test(name));
  const page = await (await service.fetch(`/drivers/${network?.id}`)).text();

  for (const [i, [, tone, said]] of notices.entries()) {
    assert.equal(toneOf(answers[i] ?? ""), tone, String(said));
    assert.match(answers[i] ?? "", said);
  }
  assert.match(page, /network adapters/);
  assert.doesNotMatch(page, /href="\/drivers\/\d+\/packages\/mdm"/);
  const offers = [...(answers[6] ?? "").matchAll(/<(?:button|a)[^>]*>([^<]*)</g)].map(([, text]) => text);
  assert.deepEqual(offers, ["Open driver", "Delete driver", "Choose another file"]);
});

test("the notice of an upload has the few fields of a first printer, with a model only where it is needed", async (t) => {
  const service = await startApp(t);
  const fieldsIn = (notice: string) => {
    const fields = notice.replace(/^.*<h3/s, "").matchAll(/<(?:input|select)[^>]* name="([^"]+)"/g);
    return [...fields].map(([, name]) => name);
  };
  const several = driverZip({ models: ["Papyrus A", "Papyrus <B>"] });
  const steps: (string | undefined)[][] = [];

  steps.push(fieldsIn(await uploadNotice(service, driverZip())));
  await service.post("/clients", { name: "Acme" });
  const one = await uploadNotice(service, several);
  steps.push(fieldsIn(one));
  await service.post("/clients", { name: "Beta" });
  const two = await uploadNotice(service, driverZip());
  steps.push(fieldsIn(await uploadNotice(service, driverZip({ models: [] }))));
  const form = { from_form: "1", driver_id: "2", name: "Attic", address: "10.0.0.9" };
  const saved = await service.post("/printers", { ...form, driver_desc: "Papyrus <B>" }, navigation);
  const refused = await service.post("/printers", form, navigation);

  const always = ["from_form", "driver_id", "name", "address"];
  const all = [...always, "client_id", "driver_desc"];
  assert.deepEqual(steps, [always, all, all], "an INF without models needs one too");
  assert.match(one, /<option value="1" selected>Acme<\/option>/, "the only client is chosen");
  assert.match(one, /<option value="Papyrus &lt;B&gt;">/);
  assert.doesNotMatch(two, /<option value="\d" selected>/);
  assert.match(two, /is already in Platen with the same content/);
  assert.equal(saved.headers.get("location"), "/printers/1?done=first");
  assert.equal(refused.status, 422);
  assert.match(await refused.text(), /Choose one of \d+ models[\s\S]*value="Attic"/);
});

test("the notice of a large driver leaves out unused files with one button, and every other setting stays", async (t) => {
  const service = await startApp(t);
  const zip = driverZip({
    models: ["Papyrus A", "Papyrus B"],
    extra: [{ name: "setup.bin", bytes: randomBytes(1_200_000), method: 0 }],
  });
  const settingsNow = () => {
    const { report, ...settings } = service.app.store.drivers.get(1);
    return settings;
  };

  const notice = await uploadNotice(service, zip);
  await service.post("/drivers/1", { name: "Ours", comment: "Kept", trust_publisher: "on" });
  const before = settingsNow();
  const only = { only: "drop_unused", drop_unused: "on" };
  const done = await service.post("/drivers/1", only, { "hx-request": "true" });
  const after = settingsNow();
  const back = await service.post("/drivers/1", { only: "drop_unused" }, navigation);

  assert.equal(toneOf(notice), "warn");
  assert.match(notice, /<li class="warn"><details>[\s\S]*<button [^>]*>Leave out 1 unused file \(1\.1 MB sm/);
  assert.match(await done.text(), /Packages leave out 1 unused file[\s\S]*<button [^>]*>Include unused/);
  assert.equal(done.headers.get("hx-redirect"), null);
  assert.deepEqual(after, { ...before, drop_unused: true });
  assert.match(back.headers.get("location") ?? "", /^\/drivers\/1\?done=saved(?:&change=[\w-]{12})?$/);
  assert.deepEqual(settingsNow(), before);
});

test("every page of an operator has one upload form, and a viewer's page has none", async (t) => {
  const { operator, viewer, service } = await startGuarded(t);
  await operator.post("/clients", { name: "Acme" });
  await operator.addDriver(driverZip());
  await operator.addPrinter({ driver_id: "1" });
  const shared = ["/", "/drivers", "/printers/1"];
  const others = ["/printers", "/printers/1/edit", "/clients", "/clients/1", "/drivers/1", "/packages"];
  const formsIn = async ({ fetch }: Pick<typeof operator, "fetch">, ...paths: string[]) => {
    const pages = await Promise.all(paths.map(async (path) => (await fetch(path)).text()));
    return new Set(pages.map((page) => page.split('id="upload-form"').length - 1));
  };

  const found = [await formsIn(operator, ...shared, ...others), await formsIn(viewer, ...shared)];

  assert.deepEqual(found, [new Set([1]), new Set([0])]);
  assert.deepEqual(await formsIn(service, "/sign-in"), new Set([0]));
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
  assert.match(newer, /1 printer uses an older version of this driver: <bdi>Papyrus 100\/200 1\.0 · x64</);
  assert.match(newer, new RegExp(`href="/drivers/${old}/move\\?to=3">Move 1 printer…`));
  assert.match(page, /Newer version: <a href="\/drivers\/3">/);
});
