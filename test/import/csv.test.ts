import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { csvRow, readCsv } from "../../src/domain/csv.ts";
import { UserError } from "../../src/domain/errors.ts";
import { csvColumns, readPrinterCsv } from "../../src/domain/import/printer-csv.ts";
import { printerDefaults } from "../../src/domain/printers/printer-fields.ts";
import { startApp } from "../support/app.ts";
import { rounds, selectCases } from "../support/depth.ts";
import { driverZip } from "../support/drivers/driver-zip.ts";
import { without } from "../support/drivers/foreign.ts";
import { planOf } from "../support/printers/lists.ts";
import { seededRandom } from "../support/random.ts";

const pieces = 'a|Büro|"|""|,|;|\t|\n|\r\n|\r| |\'|=1+1|😀|مكتب|\u00a0|0'.split("|");

/** Rows of cells that a careless reader or writer damages. */
function awkwardRows(seed: number): string[][] {
  const random = seededRandom(seed);
  const cell = () => Array.from({ length: random(5) }, () => pieces[random(pieces.length)] ?? "").join("");
  const width = 1 + random(6);
  return Array.from({ length: 1 + random(8) }, () => Array.from({ length: width }, cell));
}

test("written cells are read back unchanged, whatever the cells and the separator", () => {
  for (const separator of [",", ";", "\t"]) {
    for (let seed = 1; seed <= rounds(100, 300); seed++) {
      const rows = awkwardRows(seed);
      const text = rows.map((cells) => csvRow(cells, separator)).join("");

      const read = readCsv(text, separator);

      assert.deepEqual(read, rows);
    }
  }
});

test("Python’s reader finds the same cells", { skip: without.python }, () => {
  const rows = Array.from({ length: 300 }, (_, i) => awkwardRows(i + 1)).flat();
  const text = rows.map((cells) => csvRow(cells, ",")).join("");
  const program =
    "import csv, io, json, sys\ntext = sys.stdin.buffer.read().decode('utf-8')\nprint(json.dumps([row for row in csv.reader(io.StringIO(text, newline=''))]))";

  const python = spawnSync("python3", ["-c", program], { input: text, maxBuffer: 1 << 28 });

  assert.equal(python.stderr.toString(), "");
  // A row of one empty cell is an empty line, which Python reads as a row without cells.
  const expected = rows.map((cells) => (cells.length === 1 && cells[0] === "" ? [] : cells));
  assert.deepEqual(JSON.parse(python.stdout.toString()), expected);
});

test("cells are read as in RFC 4180, with the leniency of spreadsheets", () => {
  const read = (text: string) => readCsv(text, ",");

  assert.deepEqual(read('a,"b ""c"", d"\r\n"e\r\nf",g'), [
    ["a", 'b "c", d'],
    ["e\r\nf", "g"],
  ]);
  assert.deepEqual(read("a,b,\n,c"), [
    ["a", "b", ""],
    ["", "c"],
  ]);
  assert.deepEqual(read("a\n\nb\n"), [["a"], [""], ["b"]]);
  assert.deepEqual(read('"a"b,c "d"'), [["ab", 'c "d"']]);
  assert.deepEqual(read(""), []);
});

test("an invalid file is refused with the number of the row, and not read to its end", () => {
  const refused: [string, RegExp][] = [
    ['a,b\nc,"d\ne,f\n', /Row 2 .* quote that is never closed/],
    [`a\n${",".repeat(100_000)}`, /Row 2 .* more than 256 columns/],
    [`a\n"${"x".repeat(40_000)}"`, /Row 2 .* more than 32767 characters: a quote may be missing/],
    [`a\n${"x".repeat(8_000_000)}`, /Row 2 .* more than 32767 characters/],
    [`a\n${'"'.repeat(7_999_999)}`, /Row 2 /],
  ];
  for (const [text, message] of refused) {
    assert.throws(
      () => readCsv(text, ","),
      (error) => error instanceof UserError && error.code === "invalid" && message.test(error.message),
    );
  }
});

const awkwardTexts = [
  ...[
    "=1+1",
    "＝1+1",
    "'＋x",
    "a;－1",
    "＠a",
    "+49 30 1",
    "-x",
    "@a",
    "'=1",
    "''",
    "'s-Hertogenbosch",
    "a;=1",
  ],
  ...[
    'a; "=1"',
    "a, -b",
    'the "door"',
    '=HYPERLINK("x")',
    "Büro",
    "😀 مكتب",
    "a\u00a0b",
    "1e5",
    "007",
    "yes",
  ],
  ...["a'b", ", ; 'x", "plain"],
];

/** Form fields of a printer that a spreadsheet or a careless reader damages. */
function awkwardPrinter(seed: number): Record<string, string> {
  const random = seededRandom(seed);
  const text = () => awkwardTexts[random(awkwardTexts.length)] ?? "";
  const one = (...choices: string[]) => choices[random(choices.length)] ?? "";
  const name = text().replace(/[\\,!]/g, "-");
  return {
    name: `${name} ${seed}`,
    client_id: one("", "1", "2"),
    address: one("", "10.0.0.9", "fe80::1", "printer.contoso.local"),
    port_name: one("", "=port", "IP_10.0.0.9"),
    protocol: one("raw", "lpr"),
    port_number: one("", "515", "9101"),
    lpr_queue: one("lp", "-auto"),
    snmp: one("", "on"),
    snmp_community: text(),
    snmp_index: one("", "7"),
    location: text(),
    comment: `${text()}${text()}`,
    set_default: one("", "on"),
    shared: one("", "on"),
    share_name: one("", "=share", "OFFICE"),
    duplex: one("", "one_sided", "long_edge"),
    color: one("", "mono"),
    collate: one("", "on", "off"),
    paper_size: one("", "A4"),
    keep_driver: one("", "on"),
    reset_user_preferences: one("", "on"),
    permission_sddl: one("", "G:SYD:(A;;LCSWSDRCWDWO;;;BA)(A;;SWRC;;;WD)"),
    keep_printed: one("", "on"),
    hold_mismatched: one("", "on"),
    replaces: [
      ...[text(), text(), "-old"].map((line) => line.replace(/[\\,!]/g, "-")),
      ...one("", "\\\\server\\=q\naddress:fe80::1").split("\n"),
    ].join("\n"),
  };
}

test("an export is imported without loss: nothing changes here, and another Platen gets the same printers", async (t) => {
  const source = await startApp(t);
  const target = await startApp(t);
  const zip = driverZip({ models: ["Papyrus 100 PCL6", "Papyrus 100 PS"] });
  for (const { addDriver, post } of [source, target]) {
    await addDriver(zip);
    await post("/clients", { name: "=Alpha; -Beta" });
  }
  await source.post("/clients", { name: "'Gamma" });
  const count = rounds(6, 120);
  for (let seed = 1; seed <= count; seed++) {
    const driver = [{}, { driver_id: "1" }, { driver_id: "1", driver_desc: "Papyrus 100 PS" }][seed % 3];
    const { status } = await source.post("/printers", { ...awkwardPrinter(seed), ...driver });
    assert.equal(status, 200);
  }

  const paths = ["/export/printers.csv?separator=semicolon", "/export/printers.csv"];
  for (const path of selectCases(paths, 1)) {
    const text = await (await source.fetch(path)).text();
    const ownPlan = await planOf(source, text);
    const otherPlan = await planOf(target, text);
    assert.deepEqual(ownPlan.counts, { new: 0, changes: 0, same: count, wrong: 0, "left out": 0 });
    assert.deepEqual(otherPlan.counts, { new: count, changes: 0, same: 0, wrong: 0, "left out": 0 });
    assert.deepEqual(ownPlan.notices, []);
  }
  const text = await (await source.fetch("/export/printers.csv")).text();
  assert.equal((await target.post("/import", { text })).status, 200);

  const all = ({ app }: typeof source) => {
    const names = new Map(app.store.clients.names().map(({ id, name }) => [id, name]));
    return app.store.printers.withSettings().map(({ id, client_id, ...settings }) => {
      return { ...settings, client: names.get(client_id ?? 0) };
    });
  };
  assert.deepEqual(all(target), all(source));
});

test("every setting of a printer is a column", () => {
  const missing = Object.keys(printerDefaults).filter((name) => !csvColumns.includes(name));

  // An id means something only in this Platen; other columns name the driver.
  assert.deepEqual(missing, ["arm64_driver_id"]);
  assert.equal(new Set(csvColumns).size, csvColumns.length);
});

test("no cell of an export is a formula, whatever separator the spreadsheet expects", async (t) => {
  const { post, fetch } = await startApp(t);
  for (let seed = 1; seed <= rounds(20, 60); seed++) await post("/printers", awkwardPrinter(seed));
  await post("/clients", { name: "=cmd|' /C calc'!A0" });
  await post("/printers", { name: "-1+1 ;=2", client_id: "1", location: 'x";"=3', comment: "x\t=4,@5" });

  for (const path of ["/export/printers.csv", "/export/printers.csv?separator=semicolon"]) {
    const text = (await (await fetch(path)).text()).slice(1);
    // A reader that ignores quotes begins a cell at every separator and line break.
    const cells = text.split(/[,;\t\r\n]/).map((cell) => cell.replace(/^[ "]+/, ""));

    assert.deepEqual(
      cells.filter((cell) => /^[=+@\-＝＋＠－]/.test(cell)),
      [],
    );
  }
});

test("the export is UTF-8 for Excel, an attachment, and readable by Python", {
  skip: without.python,
}, async (t) => {
  const { post, fetch } = await startApp(t);
  const office = { name: "Büro", address: "10.0.0.9", location: 'the "door", left', replaces: "a\nb" };
  await post("/printers", office);

  const answer = await fetch("/export/printers.csv");
  const bytes = Buffer.from(await answer.arrayBuffer());

  const program =
    "import csv, io, json, sys\ntext = sys.stdin.buffer.read().decode('utf-8-sig')\nprint(json.dumps(list(csv.DictReader(io.StringIO(text, newline='')))))";
  const python = spawnSync("python3", ["-c", program], { input: bytes });
  const [row] = JSON.parse(python.stdout.toString());
  assert.match(answer.headers.get("content-type") ?? "", /^text\/csv; charset=utf-8/);
  assert.match(answer.headers.get("content-disposition") ?? "", /attachment; filename="printers.csv"/);
  assert.deepEqual([...bytes.subarray(0, 3)], [0xef, 0xbb, 0xbf]);
  assert.doesNotMatch(bytes.toString().replaceAll("\r\n", "").replaceAll("a\nb", ""), /[\r\n]/);
  const { name, location, replaces, port_number, snmp } = row;
  assert.deepEqual([name, location, replaces], ["Büro", 'the "door", left', "a\nb"]);
  assert.deepEqual([port_number, snmp], ["9100", "no"]);
});

test("the separator is recognised by the column names", () => {
  for (const separator of [",", ";", "\t"]) {
    const line = (...cells: string[]) => cells.join(separator);
    const text = `${line("Name", "Location", "address")}\r\n${line("A", '"x, y; z\t!"', "10.0.0.1")}\r\n`;

    const { rows } = readPrinterCsv(text);

    assert.deepEqual(rows[0]?.values, { name: "A", location: "x, y; z\t!", address: "10.0.0.1" });
  }
  assert.equal(readPrinterCsv("sep=;\r\nname;comment\r\nA;b,c\r\n").rows[0]?.values.comment, "b,c");
  const broken = readPrinterCsv('"Raum\n(Etage)";name;location\nx;A;Hall\n');
  assert.deepEqual(
    broken.rows.map(({ number, values }) => [number, values]),
    [[2, { name: "A", location: "Hall" }]],
  );
});

test("unknown and duplicate columns are reported once, and names of JavaScript properties are harmless", () => {
  const { rows, notices } = readPrinterCsv(
    "name,__proto__,constructor,odd,odd,address,name,name\nA,w,x,y,z,10.0.0.1,B,C\n",
  );

  assert.deepEqual(rows[0]?.values, { name: "A", address: "10.0.0.1" });
  assert.deepEqual(notices, [
    "Unknown columns are ignored: “__proto__”, “constructor”, “odd”.",
    "Only the first of duplicate columns is used: “name”.",
  ]);
});

test("a file without the column “name” or with too many rows is refused", () => {
  for (const [text, message] of [
    ["Drucker;IP\nA;10.0.0.1\n", /must contain the column “name”/],
    ['Dear all, "see below\n', /must contain the column “name”/],
    [`name${",x".repeat(300)}\nA\n`, /^Row 1 .* has more than 256 columns\./],
    [`sep=;\nname${";x".repeat(300)}\nA\n`, /^Row 1 .* has more than 256 columns\./],
    ["\u0000\u0001PK", /must contain the column “name”/],
    [`name\n${"a\n".repeat(5001)}`, /more than 5000 printers/],
  ] as const)
    assert.throws(
      () => readPrinterCsv(text),
      (error) => error instanceof UserError && message.test(error.message),
    );
  assert.equal(readPrinterCsv(`name\n${"a\n".repeat(5000)}\n\n`).rows.length, 5000);
});

test("yes and no can be written as in Excel, and any other word is reported", () => {
  const words = ["yes", "TRUE", "WAHR", "x", "no", "FALSCH", "", "maybe"];

  const { rows } = readPrinterCsv(`name,snmp\n${words.map((word) => `a,${word}\n`).join("")}`);

  assert.deepEqual(
    rows.map(({ values }) => values.snmp),
    ["on", "on", "on", "on", "", "", "", ""],
  );
  assert.deepEqual(
    rows.flatMap(({ problems }) => problems),
    ["“snmp” is “maybe”. Use yes or no."],
  );
});
