import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { csvRow, readCsv } from "../../src/domain/csv.ts";
import { UserError } from "../../src/domain/errors.ts";
import { csvColumns, readPrinterCsv } from "../../src/domain/import/printer-csv.ts";
import { parsePrinter, printerDefaults } from "../../src/domain/printers/printer-fields.ts";
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
  const input = rows.map((cells) => csvRow(cells, ",")).join("");
  const program =
    "import csv, io, json, sys\ntext = sys.stdin.buffer.read().decode('utf-8')\nprint(json.dumps([row for row in csv.reader(io.StringIO(text, newline=''))]))";

  const python = spawnSync("python3", ["-c", program], { input, maxBuffer: 1 << 28 });

  assert.equal(python.stderr.toString(), "");
  // A row of one empty cell is an empty line, which Python reads as a row without cells.
  const expected = rows.map((cells) => (cells.length === 1 && cells[0] === "" ? [] : cells));
  assert.deepEqual(JSON.parse(python.stdout.toString()), expected);
});

/** Checks that a text is refused as invalid with this message. */
function assertRefused(read: () => unknown, message: RegExp): void {
  const isExpected = (error: unknown) =>
    error instanceof UserError && error.code === "invalid" && message.test(error.message);
  assert.throws(read, isExpected);
}

test("cells are read as in RFC 4180, with the leniency of spreadsheets", () => {
  const texts: [text: string, ...rows: string[][]][] = [
    ['a,"b ""c"", d"\r\n"e\r\nf",g', ["a", 'b "c", d'], ["e\r\nf", "g"]],
    ["a,b,\n,c", ["a", "b", ""], ["", "c"]],
    ["a\n\nb\n", ["a"], [""], ["b"]],
    ['"a"b,c "d"', ["ab", 'c "d"']],
    [""],
  ];

  for (const [text, ...rows] of texts) assert.deepEqual(readCsv(text, ","), rows);
});

test("an invalid file is refused with the number of the row, and not read to its end", () => {
  const refused: [string, RegExp][] = [
    ['a,b\nc,"d\ne,f\n', /Row 2 .* quote that is never closed/],
    [`a\n${",".repeat(100_000)}`, /Row 2 .* more than 256 columns/],
    [`a\n"${"x".repeat(40_000)}"`, /Row 2 .* more than 32767 characters: a quote may be missing/],
    [`a\n${"x".repeat(8_000_000)}`, /Row 2 .* more than 32767 characters/],
    [`a\n${'"'.repeat(7_999_999)}`, /Row 2 /],
  ];

  for (const [text, message] of refused) assertRefused(() => readCsv(text, ","), message);
});

const awkwardTexts = [
  ..."=1+1|＝1+1|'＋x|a;－1|＠a|+49 30 1|-x|@a|'=1|''|'s-Hertogenbosch|a;=1|a; \"=1\"|a, -b".split("|"),
  ...'the "door"|=HYPERLINK("x")|Büro|😀 مكتب|a\u00a0b|1e5|007|yes|a\'b|, ; \'x|plain'.split("|"),
];

/** Form fields of a printer that a spreadsheet or a careless reader damages. */
function awkwardPrinter(seed: number): Record<string, string> {
  const random = seededRandom(seed);
  const text = () => awkwardTexts[random(awkwardTexts.length)] ?? "";
  const one = (...choices: string[]) => choices[random(choices.length)] ?? "";
  const name = text().replace(/[\\,!]/g, "-");
  const [on, address] = [one("", "on"), one("", "10.0.0.9", "fe80::1", "printer.contoso.local")];
  return {
    ...{ name: `${name} ${seed}`, client_id: one("", "1", "2"), port_name: one("", "=port", "IP_10.0.0.9") },
    ...{ protocol: one("raw", "lpr"), port_number: one("", "515", "9101"), lpr_queue: one("lp", "-auto") },
    ...{ snmp: one("", "on"), snmp_community: text(), snmp_index: one("", "7"), location: text() },
    ...{ comment: `${text()}${text()}`, set_default: one("", "on"), shared: on, keep_driver: on },
    ...{ share_name: one("", "=share", "OFFICE"), duplex: one("", "one_sided", "long_edge") },
    ...{ color: one("", "mono"), collate: one("", "on", "off"), paper_size: one("", "A4") },
    ...{ reset_user_preferences: one("", "on"), keep_printed: on, hold_mismatched: one("", "on") },
    ...{ address, requires_reachable: address && on, subnets: one("", "10.9.9.9\nfd00:1::/48") },
    permission_sddl: one("", "G:SYD:(A;;LCSWSDRCWDWO;;;BA)(A;;SWRC;;;WD)"),
    replaces: [
      ...[text(), text(), "-old"].map((line) => line.replace(/[\\,!]/g, "-")),
      ...one("", "\\\\server\\=q\naddress:fe80::1").split("\n"),
    ].join("\n"),
  };
}

test("an export has no formulas and is imported without loss: nothing changes here, and another Platen gets the same printers", async (t) => {
  const source = await startApp(t);
  const target = await startApp(t);
  const zip = driverZip({ models: ["Papyrus 100 PCL6", "Papyrus 100 PS"] });
  for (const { addDriver, post } of [source, target]) {
    await addDriver(zip);
    await post("/clients", { name: "=cmd|' /C calc'!A0; -Beta" });
  }
  await source.post("/clients", { name: "'Gamma" });
  const count = rounds(12, 120);
  for (let seed = 1; seed <= count; seed++) {
    const driver = [{}, { driver_id: "1" }, { driver_id: "1", driver_desc: "Papyrus 100 PS" }][seed % 3];
    await source.app.store.printers.add(parsePrinter({ ...awkwardPrinter(seed), ...driver }));
  }
  const all = ({ app }: typeof source) => {
    const names = new Map(app.store.clients.names().map(({ id, name }) => [id, name]));
    return app.store.printers.withSettings().map(({ id, client_id, ...settings }) => {
      return { ...settings, client: names.get(client_id ?? 0) };
    });
  };

  const paths = ["/export/printers.csv?separator=semicolon", "/export/printers.csv"];
  for (const path of selectCases(paths, 1)) {
    const text = await (await source.fetch(path)).text();
    const ownPlan = await planOf(source, text);
    const otherPlan = await planOf(target, text);
    // A reader that ignores quotes begins a cell at every separator and line break.
    const cells = text.slice(1).split(/[,;\t\r\n]/);

    assert.deepEqual(ownPlan.counts, { new: 0, changes: 0, same: count, wrong: 0, "left out": 0 });
    assert.deepEqual(otherPlan.counts, { new: count, changes: 0, same: 0, wrong: 0, "left out": 0 });
    assert.deepEqual(ownPlan.notices, []);
    const formulas = cells.filter((cell) => /^[ "]*[=+@\-＝＋＠－]/.test(cell));
    assert.deepEqual(formulas, []);
  }
  const text = await (await source.fetch("/export/printers.csv")).text();
  assert.equal((await target.post("/import", { text })).status, 200);
  assert.deepEqual(all(target), all(source));
});

test("every setting of a printer is a column", () => {
  const missing = Object.keys(printerDefaults).filter((name) => !csvColumns.includes(name));

  // An id means something only in this Platen; other columns name the driver.
  assert.deepEqual(missing, ["arm64_driver_id"]);
  assert.equal(new Set(csvColumns).size, csvColumns.length);
});

test("the export is UTF-8 for Excel with its line breaks, and an attachment", async (t) => {
  const { post, fetch } = await startApp(t);
  const office = { name: "Büro", address: "10.0.0.9", location: 'the "door", left', replaces: "a\nb" };
  await post("/printers", office);

  const answer = await fetch("/export/printers.csv");
  const bytes = Buffer.from(await answer.arrayBuffer());

  const [head = [], row = []] = readCsv(bytes.subarray(3).toString(), ",");
  const values = ["name", "location", "replaces", "port_number", "snmp"].map(
    (name) => row[head.indexOf(name)],
  );
  assert.match(answer.headers.get("content-type") ?? "", /^text\/csv; charset=utf-8/);
  assert.match(answer.headers.get("content-disposition") ?? "", /attachment; filename="printers.csv"/);
  assert.deepEqual([...bytes.subarray(0, 3)], [0xef, 0xbb, 0xbf]);
  assert.doesNotMatch(bytes.toString().replaceAll("\r\n", "").replaceAll("a\nb", ""), /[\r\n]/);
  assert.deepEqual(values, ["Büro", 'the "door", left', "a\nb", "9100", "no"]);
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
  const found = broken.rows.map(({ number, values }) => [number, values]);
  assert.deepEqual(found, [[2, { name: "A", location: "Hall" }]]);
});

test("unknown and duplicate columns are reported once, names of JavaScript properties are harmless, and yes and no are written as in Excel", () => {
  const head = "name,__proto__,constructor,odd,odd,address,name,name";
  const words = ["yes", "TRUE", "WAHR", "x", "no", "FALSCH", "", "maybe"];

  const { rows, notices } = readPrinterCsv(`${head}\nA,w,x,y,z,10.0.0.1,B,C\n`);
  const read = readPrinterCsv(`name,snmp\n${words.map((word) => `a,${word}\n`).join("")}`).rows;

  assert.deepEqual(rows[0]?.values, { name: "A", address: "10.0.0.1" });
  assert.deepEqual(notices, [
    "Unknown columns are ignored: “__proto__”, “constructor”, “odd”.",
    "Only the first of duplicate columns is used: “name”.",
  ]);
  const values = read.map(({ values }) => values.snmp);
  assert.deepEqual(values, ["on", "on", "on", "on", "", "", "", ""]);
  const problems = read.flatMap((row) => row.problems);
  assert.deepEqual(problems, ["“snmp” is “maybe”. Use yes or no."]);
});

/** What a list of Windows says of its first printer, or why it is left out. */
function queueIn(text: string): string {
  const [row] = readPrinterCsv(text).rows;
  const { name, address, port_name, location, comment } = row?.values ?? {};
  const visible = [row?.number, name, row?.driver?.model, address, port_name, location, comment].join("|");
  return row?.leftOut ?? [visible, ...(row?.remarks ?? [])].join(" ");
}

test("lists of Windows are read with their names for columns, and ports by the rules for a print server", () => {
  const byName = "The address 10.0.0.3 comes from the port’s name. Check it.";
  const exported = (type: string, port: string) =>
    `#TYPE Microsoft.Management.Infrastructure.CimInstance#ROOT/standardcimv2/MSFT_Printer\r\n"Name","Type","PortName","DriverName","Location","CimClass"\r\n"Hall","${type}","${port}","Papyrus","2nd, left","ROOT/standardcimv2:MSFT_Printer"\r\n`;
  const lists: [text: string, found: string][] = [
    [exported("Local", "IP_10.0.0.3"), `3|Hall|Papyrus|10.0.0.3||2nd, left| ${byName}`],
    [exported("Local", "PORTPROMPT:"), "Asks for a file name, and prints to no device."],
    [
      exported("Connection", "IP_10.0.0.3"),
      "Is a connection to a shared printer. Run the command on its server.",
    ],
    [exported("Local", "Hall"), "Prints to “Hall”. The list has no address for this port."],
    [exported("Local", "WSD-1"), "3|Hall|Papyrus|||2nd, left|"],
    [
      "\ufeffPrinterName;PrinterHostAddress;Portname;PrintDriverName\nHall;10.0.0.4;IP_10.0.0.3;Papyrus\n",
      "2|Hall|Papyrus|10.0.0.4|IP_10.0.0.3||",
    ],
    [
      "PRINTER NAME\tDriver Name\tComments\tDriver Type\nHall\tPapyrus\tOld, slow\tType 3\n",
      "2|Hall|Papyrus||||Old, slow",
    ],
    ["Printer Name,Port Name\nMicrosoft Print to PDF,USB001", "Is connected by USB to that PC only."],
    ["name,IP Address\nHall,10.0.0.4", "2|Hall||10.0.0.4|||"],
    ["PrinterName,PrinterHostAddress,address\nHall,10.0.0.3,10.0.0.4", "2|Hall||10.0.0.4|||"],
  ];

  for (const [text, found] of lists) assert.equal(queueIn(text), found, text);
});

test("a list of Windows may have other columns of Platen, says nothing about settings that it lacks, and shares nothing", () => {
  const head =
    "PrinterName,client,IPAddress,Driver Version,DriverName,duplex,Protocol,LprQueueName,Shared,Odd";
  const cells = "Hall,Contoso,10.0.0.4,1.2.3.4,Papyrus,long_edge,2,lp,True,x";

  const { rows, notices } = readPrinterCsv(`${head}\n${cells}\n`);
  const own = readPrinterCsv(
    "name,address,driver_model,port_name,shared,DriverName,PortName,Type\nA,,,,yes,B,C,D",
  );

  const [row] = rows;
  const values = { name: "Hall", address: "10.0.0.4", duplex: "long_edge", protocol: "lpr", lpr_queue: "lp" };
  assert.deepEqual(row?.values, values);
  assert.deepEqual(
    [row?.client, row?.driver?.model, row?.driver?.version],
    ["Contoso", "Papyrus", "1.2.3.4"],
  );
  assert.deepEqual(notices, ["Other columns are ignored: “Shared”, “Odd”."]);
  assert.deepEqual(own.rows[0]?.values, { name: "A", address: "", port_name: "", shared: "on" });
  assert.deepEqual(own.notices, ["Unknown columns are ignored: “DriverName”, “PortName”, “Type”."]);
});

test("a file without the column “name” or with too many rows is refused", () => {
  const refused: [text: string, message: RegExp][] = [
    ["Drucker;IP\nA;10.0.0.1\n", /must contain the column “name”/],
    ['Dear all, "see below\n', /must contain the column “name”/],
    [`name${",x".repeat(300)}\nA\n`, /^Row 1 .* has more than 256 columns\./],
    [`sep=;\nname${";x".repeat(300)}\nA\n`, /^Row 1 .* has more than 256 columns\./],
    ["\u0000\u0001PK", /must contain the column “name”/],
    [`name\n${"a\n".repeat(5001)}`, /more than 5000 printers/],
    [`name\nA\n${"\n".repeat(20_001)}`, /more than 20000 rows, including blank ones/],
  ];

  for (const [text, message] of refused) assertRefused(() => readPrinterCsv(text), message);
  const separators = ";\n".repeat(14_000);
  assert.equal(readPrinterCsv(`name;location\n${"a;\n".repeat(5000)}${separators}\n`).rows.length, 5000);
});
