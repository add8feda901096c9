import assert from "node:assert/strict";
import { test } from "node:test";
import { startApp } from "../support/app.ts";
import { driverZip, printerInf, twoInfs } from "../support/drivers/driver-zip.ts";
import { program } from "../support/drivers/programs.ts";
import { makeZip } from "../support/drivers/zip.ts";

/** The titles in a list, in order. */
function titlesIn(page: string): string[] {
  const links = page.matchAll(/<a href="\/drivers\/\d+"><bdi>([^<]*)<\/bdi><\/a>/g);
  return [...links].map(([, title = ""]) => title);
}

/** The texts and groups of a select's options, in order: `Blocked: Papyrus 100 1.2 · x64`. */
function optionsOf(page: string, select: string): string[] {
  const [, inside = "none"] = new RegExp(`<select id="${select}"[^>]*>(.*?)</select>`, "s").exec(page) ?? [];
  let group = "";
  return [...inside.matchAll(/<optgroup label="([^"]*)">|<\/optgroup>|<option[^>]*>([^<]*)/g)].flatMap(
    ([tag, label, text]) => {
      if (text !== undefined) return [group + text];
      group = tag === "</optgroup>" ? "" : `${label}: `;
      return [];
    },
  );
}

const ofWindows = [
  "Included in Windows: Microsoft IPP Class Driver · x64, ARM64",
  "Included in Windows: Microsoft PCL6 and PS Class Drivers · x64, ARM64, x86",
  "Included in Windows: Generic / Text Only · x64, ARM64, x86",
];

test("every list of drivers tells versions apart and sorts by title, the newest version first", async (t) => {
  const { addDriver, fetch } = await startApp(t);
  await addDriver(driverZip({ version: "9.0.0.0", date: "01/31/2026" }));
  await addDriver(driverZip({ version: "10.0.0.0", date: "01/31/2026" }));
  await addDriver(driverZip({ version: "1.0.0.0", provider: "acme" }));
  await addDriver(driverZip({ version: "12.0.0.0", date: "01/31/2020" }));

  const list = await (await fetch("/drivers")).text();
  const form = await (await fetch("/printers")).text();

  const papyrus = ["10.0", "9.0", "12.0"].map((version) => `Papyrus 100 PCL6 ${version}`);
  const titles = ["acme Papyrus 100 PCL6 1.0", ...papyrus];
  assert.deepEqual(titlesIn(list), titles);
  const labels = titles.map((title) => `${title} · x64`);
  assert.deepEqual(optionsOf(form, "f-driver_id"), ["No driver", ...labels, ...ofWindows]);
  assert.match(list, /<time datetime="2026-01-31">31 Jan 2026<\/time>/);
});

test("the list is narrowed by words and state, and shows the total", async (t) => {
  const { addDriver, addPrinter, fetch } = await startApp(t);
  const first = await addDriver(driverZip({ provider: "Acme" }));
  await addDriver(driverZip({ models: ["A", "B"] }));
  await addDriver(driverZip({ catalog: null, version: "2.0.0.0" }));
  await addPrinter({ driver_id: String(first) });
  await addPrinter({ driver_id: "2", name: "Second" });
  const titles = async (query: string) => titlesIn(await (await fetch(`/drivers?${query}`)).text());

  const found = {
    words: await titles("q=ACME+papyrus.inf"),
    attention: await titles("state=attention"),
    kind: await titles("state=unsigned"),
    unused: await titles("state=unused"),
    both: await titles("q=acme&state=blocked"),
    version: await titles("q=2.0.0"),
    unknown: (await titles("state=nonsense")).length,
  };
  const page = await (await fetch("/drivers?q=acme")).text();
  const nothing = await (await fetch(`/drivers?q=${encodeURIComponent("<b>")}`)).text();

  assert.deepEqual(found, {
    words: ["Acme Papyrus 100 PCL6 1.2"],
    attention: ["Papyrus A/B 1.2"],
    kind: ["Papyrus 100 PCL6 2.0"],
    unused: ["Papyrus 100 PCL6 2.0"],
    both: [],
    version: ["Papyrus 100 PCL6 2.0"],
    unknown: 3,
  });
  assert.match(page, /1 of 3 drivers/);
  assert.match(nothing, /Nothing matches “<bdi>&lt;b&gt;<\/bdi>”\.[\s\S]*Show all 3 drivers/);
  assert.match(nothing, /value="&lt;b&gt;"/);
});

test("a driver is found by any model in its archive, and the list shows the model", async (t) => {
  const { addDriver, fetch } = await startApp(t);
  const models = ["Vellum 300", "Vellum 400", "Vellum 410", "Vellum Ärmel 500"];
  for (const zip of [twoInfs, driverZip({ models, provider: "Vellum" })]) await addDriver(zip);
  const expected: [path: string, shown: RegExp][] = [
    ["/search?q=PAPYRUS+777", /Papyrus PCL6 3\.0<\/bdi>[\s\S]*<bdi>Papyrus 777 PCL6<\/bdi>/],
    ["/search?q=vellum+armel", /<bdi>Vellum Ärmel 500<\/bdi>/],
    ["/search?q=150+777", /No client, driver or printer matches/],
    ["/drivers?q=159+PCL6", /1 of 2 drivers[\s\S]*has <bdi>Papyrus 159 PCL6<\/bdi>/],
    ["/drivers?q=500&state=ready", /1 of 2 drivers[\s\S]*Vellum papyrus 1\.2/],
  ];

  for (const [path, shown] of expected) {
    const page = await (await fetch(path)).text();

    assert.match(page, shown, path);
  }
});

test("files that are missing only for x86 do not block a driver on x64", async (t) => {
  const { addDriver, fetch, app } = await startApp(t);
  const inf = printerInf({ decoration: "NTamd64,NTx86" })
    .replace(/(\[Models\.NTx86\]\r\n.*=)Install/, "$1Old")
    .replace("[SourceDisksNames]", "[Old]\r\nCopyFiles=@old.dll\r\n[SourceDisksNames]")
    .concat("old.dll=1\r\n");
  const others = ["papyrus.cat", "papyrus.dll"].map((name) => ({ name, bytes: name }));
  await addDriver(makeZip([{ name: "papyrus.inf", bytes: inf }, ...others]));

  const { state, findings } = (await app.overview.driver(1)).driver;
  const page = await (await fetch("/drivers/1")).text();

  const text = "A file that the INF needs is missing for x86. Installation fails there.";
  assert.deepEqual([state, findings[0]?.text], ["attention", text]);
  assert.match(page, /<li class="warn">Missing: <code><bdi>old\.dll</);
});

test("a driver is blocked if its programs are all for machines that its INF does not name", async (t) => {
  const { addDriver, app } = await startApp(t);
  const other = { name: "papyrus.dll", bytes: program(0xaa64) };
  await addDriver(makeZip([{ name: "papyrus.inf", bytes: printerInf({ catalog: null }) }, other]));
  await addDriver(driverZip({ models: [] }));

  const found = await Promise.all([1, 2].map((id) => app.overview.driver(id)));

  const texts = found.map(({ driver }) => driver.findings.find(({ kind }) => kind === "missing-files")?.text);
  assert.deepEqual(texts, [
    "The INF is for x64, but the ZIP’s program files are all for other machines. Installation fails.",
    "The INF names no architecture of Windows. Installation fails.",
  ]);
});

test("a driver for no printer is in no select, and an address cannot choose it", async (t) => {
  const { addDriver, addPrinter, fetch, upload } = await startApp(t);
  const networkDriver = driverZip({ className: "Net", provider: "Acme", models: ["Acme Network Adapter"] });
  const alone = await (await upload("/drivers/upload", networkDriver)).text();
  const fresh = await (await fetch("/printers?driver_id=1")).text();
  await addPrinter({ driver_id: String(await addDriver()) });
  await addPrinter({ name: "Wrong", driver_id: "1" });

  const pages = [];
  for (const path of ["/printers", "/printers?copy=2", "/printers/1/edit", "/drivers/2/move"])
    pages.push(await (await fetch(path)).text());
  const kept = await (await fetch("/printers/2/edit")).text();

  assert.doesNotMatch(alone, /id="driver-select"/);
  for (const page of [fresh, ...pages]) assert.doesNotMatch(page, /<option[^>]*>Acme/);
  assert.doesNotMatch(fresh, /<option value="\d+" selected/);
  assert.match(kept, /<option value="1" selected>Acme/, "a printer’s form keeps what is chosen");
});

test("blocked drivers are marked and last in every select", async (t) => {
  const { addDriver, addPrinter, fetch } = await startApp(t);
  await addDriver(driverZip({ provider: "Acme", models: ["Acme 7"], catalog: null }));
  await addPrinter({ driver_id: String(await addDriver()) });
  const expected = ["Papyrus 100 PCL6 1.2 · x64", ...ofWindows, "Blocked: Acme 7 1.2 · x64"];

  const list = await (await fetch("/printers")).text();
  const edit = await (await fetch("/printers/1/edit")).text();
  const move = await (await fetch("/drivers/2/move")).text();

  for (const page of [list, edit])
    assert.deepEqual(optionsOf(page, "f-driver_id"), ["No driver", ...expected]);
  assert.deepEqual(optionsOf(list, "bulk-driver"), ["Choose one", ...expected, "No driver"]);
  const others = expected.filter((text) => !/Papyrus|IPP/.test(text));
  assert.deepEqual(optionsOf(move, "f-to"), ["Choose one", ...others]);
});
