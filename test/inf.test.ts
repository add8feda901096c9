import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { deflateRawSync } from "node:zlib";
import { preferredDescription } from "../src/domain/driver.ts";
import { UserError } from "../src/domain/errors.ts";
import { cabinetNames } from "../src/inf/cabinet.ts";
import { decodeInf } from "../src/inf/decode.ts";
import { InfDocument } from "../src/inf/document.ts";
import { executableMachine } from "../src/inf/executable.ts";
import { choosePrinterInf, type InfReading, readInf, unusedInPackage } from "../src/inf/package.ts";
import { compressedName, PackageFiles } from "../src/inf/package-files.ts";
import { inspectArchive } from "../src/services/inspect.ts";
import { reportOf } from "../src/services/inspect-report.ts";
import { printerInf } from "./support/driver-zip.ts";
import { seededRandom } from "./support/random.ts";
import { shared, withoutShared } from "./support/shared.ts";
import { makeZip, sourceOf } from "./support/zip.ts";

function read(
  text: string | Buffer,
  paths: readonly string[] = [],
  path = "a.inf",
  cabinets?: Map<string, string[]>,
): InfReading {
  return readInf(path, Buffer.from(text as string), new PackageFiles([path, ...paths], cabinets));
}

const version = '[Version]\nSignature="$Windows NT$"\nClass=Printer\nProvider=%P%\nDriverVer=1/2/2024,3.4\n';

test("UTF-16 with and without a mark, UTF-8 with and without one, ASCII and ANSI are read", () => {
  const text = "[Version]\r\nProvider=“Ä”\r\n; some more text so that there is enough of it\r\n";
  const swapped = Buffer.from(`\ufeff${text}`, "utf16le").swap16();

  const decoded = [
    decodeInf(Buffer.from(`\ufeff${text}`, "utf16le")),
    decodeInf(swapped),
    decodeInf(Buffer.from(text, "utf16le")),
    decodeInf(Buffer.from(`\ufeff${text}`)),
    decodeInf(Buffer.from(text)),
    decodeInf(Buffer.from("abc")),
    decodeInf(Buffer.from([0x93, 0xc4, 0x94])),
  ];

  assert.deepEqual(
    decoded.map(({ encoding, bom }) => [encoding, bom]),
    [
      ["utf-16le", true],
      ["utf-16be", true],
      ["utf-16le", false],
      ["utf-8", true],
      ["utf-8", false],
      ["ascii", false],
      ["windows-1252", false],
    ],
  );
  assert.deepEqual(new Set(decoded.slice(0, 5).map((each) => each.text)), new Set([text]));
  assert.equal(decoded[6]?.text, "“Ä”");
});

test("names have no case, sections of one name are one, comments end lines, `\\` continues them", () => {
  const inf = new InfDocument(
    '[One]\nKey = a , "b;c" ; comment\n;Key2=x\n"Quoted Key"="say ""hi"""\n[ONE]\nlong=1,\\\n  2 ,3\n[ Two Words/x.y ]\nalone\n',
  );

  assert.deepEqual(inf.section("one"), [
    { key: "Key", values: ["a", "b;c"] },
    { key: "Quoted Key", values: ['say "hi"'] },
    { key: "long", values: ["1", "2", "3"] },
  ]);
  assert.deepEqual(inf.section("two words/X.Y"), [{ key: undefined, values: ["alone"] }]);
});

test("strings are replaced once, `%%` is a per cent sign, an unknown token stays", () => {
  const inf = new InfDocument(
    '[Strings]\nA="%B%"\nB = "%A%"\n"C d"="x, y"\n[S]\nv=%a%,%unknown%,100%%,%c D%,%\n',
  );

  assert.deepEqual(
    inf.values("s", "V").map((value) => inf.resolve(value)),
    ["%B%", "%unknown%", "100%", "x, y", "%"],
  );
});

test("a value that depends on the language has all of its forms", () => {
  const inf = new InfDocument("[Strings]\nL=en\n[Strings.0407]\nL=de\n[Strings.040C]\nM=x\n");

  assert.deepEqual(inf.resolveAll("lang\\%L%.cab"), ["lang\\en.cab", "lang\\de.cab"]);
  assert.deepEqual(inf.languages, ["0407", "040c"]);
});

test("strings that exist only in languages still have a value", () => {
  const inf = new InfDocument("[Strings.0407]\nP=deutsch\n[Strings.0409]\nP=english\n");

  assert.equal(inf.resolve("%P%"), "english");
});

test("several makers with their decorations give models by architecture", () => {
  const { models } = read(
    `${version}[Manufacturer]\n%P%=M, NTamd64 , NTARM64.6.3\n"Other"=N,NTx86.5.1\n[M]\n"old"=i\n[M.NTamd64]\n"A"=i,hw1\n"A"=i,hw2\n"B"=i\n[M.ntarm64.6.3]\n"A"=i\n[N.NTx86.5.1]\n"C"=i\n[Strings]\nP="Papyrus"\n`,
  );

  assert.deepEqual(models.manufacturers, ["Papyrus", "Other"]);
  assert.deepEqual(models.architectures, ["x86", "amd64", "arm64"]);
  assert.deepEqual(models.descriptions.toSorted(), ["A", "B", "C", "old"]);
  assert.equal(models.lineCount, 6);
});

test("an undecorated models section serves 32-bit Windows only where nothing rules that out", () => {
  const body = '[Manufacturer]\nX=M,NTamd64\n[M]\n"A"=i\n[M.NTamd64]\n"A"=i\n';

  assert.deepEqual(read(version + body).models.architectures, ["x86", "amd64"]);
  assert.deepEqual(read(`${version}${body}[SourceDisksFiles.amd64]\na.dll=1\n`).models.architectures, [
    "amd64",
  ]);
  assert.deepEqual(read(`${version}CatalogFile.ntamd64=a.cat\n${body}`).models.architectures, ["amd64"]);
  assert.deepEqual(
    read(`${version}${body}[PrinterPackageInstallation.amd64]\nPackageAware=TRUE\n`).models.architectures,
    ["amd64"],
  );
});

test("a core driver is never a printer, and a commented-out model does not count", () => {
  const { models } = read(
    `${version}[Manufacturer]\nX=M,NTamd64\n[M.NTamd64]\n"{D20EA372-DD35-4950-9ED8-A6335AFE79F0}"=i,x\n"A"=i\n;"B"=i\n`,
  );

  assert.deepEqual(models.descriptions, ["A"]);
  assert.equal(models.lineCount, 2);
});

test("the version is read as it stands, also where it is short, large, missing or unresolved", () => {
  const text = (ver: string) =>
    `[Version]\nClassGuid={4d36e979-e325-11ce-bfc1-08002be10318}\nClassVer=4.0\nProvider=%nobody%\n${ver}\n`;

  assert.deepEqual(read(text("DriverVer = 06/07/2001 , 70000.1")).version.driverVer, {
    date: "06/07/2001",
    version: "70000.1",
  });
  assert.deepEqual(read(text("DriverVer=6/07/2001")).version.driverVer, { date: "6/07/2001", version: "" });
  const { version: found } = read(text(""));
  assert.deepEqual(
    [found.driverVer, found.provider, found.isPrinter, found.driverModel],
    [null, "%nobody%", true, "v4"],
  );
});

const filesInf = (copy: string, rest: string) =>
  `${version}CatalogFile=a.cat\n[Manufacturer]\nX=M,NTamd64\n[M.NTamd64]\n"A"=Inst\n${copy}\n${rest}\n`;

test("files are found by section, by `@`, by their source names, compressed, in folders and in cabinets", () => {
  const inf = filesInf(
    "[Inst.NTamd64]\nCopyFiles=One,@two.dll\nCopyFiles=Cabs\n[One]\nshown.dll,real.dll\npacked.dll\nnoext\n[Cabs]\nincab.dll\nnotincab.dll\n",
    "[SourceDisksNames]\n1=d\n2=d,my.cab\n3=d,,,x64\\sub\n[SourceDisksFiles]\nreal.dll=1\npacked.dll=1\nnoext=1\nincab.dll=2\nnotincab.dll=2\n[SourceDisksFiles.amd64]\ntwo.dll=3,deep\n",
  );
  const paths = ["a.cat", "REAL.DLL", "packed.dl_", "noext._", "x64/Sub/deep/two.dll", "my.cab", "extra.txt"];

  const { files } = read(inf, paths, "a.inf", new Map([["my.cab", ["INCAB.dll", "other.dll"]]]));

  assert.deepEqual([...files.used].sort(), [
    "REAL.DLL",
    "a.cat",
    "a.inf",
    "my.cab",
    "noext._",
    "packed.dl_",
    "x64/Sub/deep/two.dll",
  ]);
  assert.deepEqual(files.missing, ["notincab.dll"]);
  assert.deepEqual([files.foundCompressed, files.inCab], [2, 1]);
});

test("files of a layout file, or of another INF, come from Windows; a missing catalog is missing", () => {
  const copy = "[Inst]\nInclude=ntprint.inf\nNeeds=UNIDRV.OEM\nCopyFiles=@stdnames.gpd\n";

  assert.deepEqual(
    read(filesInf(copy, "").replace("Class=", "LayoutFile=layout.inf\nClass=")).files.missing,
    ["a.cat"],
  );
  assert.deepEqual(read(filesInf(copy, "")).files.missing, ["a.cat", "stdnames.gpd"]);
});

test("what CopyINF brings along counts as used, with its own files", () => {
  const inf = filesInf("[Inst]\nCopyINF=usb.inf\n", "");
  const usb =
    '[Version]\nClass=USB\nCatalogFile=usb.cat\n[Manufacturer]\nX=M,NTamd64\n[M.NTamd64]\n"U"=I\n[I]\nCopyFiles=@u.sys\n[SourceDisksNames]\n1=d\n[SourceDisksFiles]\nu.sys=1\n';
  const files = new PackageFiles(["a.inf", "a.cat", "usb.inf", "usb.cat", "u.sys", "readme.txt"]);

  const readings = [readInf("a.inf", Buffer.from(inf), files), readInf("usb.inf", Buffer.from(usb), files)];

  assert.deepEqual(unusedInPackage(readings, files), ["readme.txt"]);
  assert.deepEqual(readings[0]?.files.copyInf, ["usb.inf"]);
});

test("the printer's INF is chosen by class, models, completeness, machine, place and date", () => {
  const files = new PackageFiles(["a.cat"]);
  const make = (path: string, options: Parameters<typeof printerInf>[0]) =>
    readInf(path, Buffer.from(printerInf({ catalog: null, files: [], ...options })), files);
  const order = [
    make("new.inf", { date: "01/01/2025" }),
    make("old.inf", { date: "01/01/2024" }),
    make("sub/deeper.inf", { date: "01/01/2026" }),
    make("x86.inf", { decoration: "NTx86" }),
    make("incomplete.inf", { files: ["gone.dll"] }),
    make("empty.inf", { models: [] }),
  ];

  for (let i = 0; i < order.length; i++) {
    assert.equal(choosePrinterInf(order.slice(i).reverse())?.path, order[i]?.path);
  }
  assert.equal(choosePrinterInf([make("usb.inf", { className: "USB" })]), undefined);
});

test("the model preselected has no version and carries the maker's name", () => {
  assert.equal(
    preferredDescription(["HP Universal Printing PCL 6 (v7.0.1)", "HP Universal Printing PCL 6"]),
    "HP Universal Printing PCL 6",
  );
  assert.equal(
    preferredDescription(
      ["Universal PCL", "KONICA MINOLTA Universal PCL v3.9.2", "KONICA MINOLTA Universal PCL"],
      ["KONICA MINOLTA"],
    ),
    "KONICA MINOLTA Universal PCL",
  );
  assert.equal(preferredDescription(["A v1.0.0"]), "A v1.0.0");
  assert.equal(preferredDescription([]), "");
});

test("compressed names, cabinets and programs are recognised", () => {
  assert.deepEqual(["a/b.dll", "a.b/c", "x.in"].map(compressedName), ["a/b.dl_", "a.b/c._", "x.in_"]);
  assert.equal(cabinetNames(Buffer.from("MZ no cabinet")), undefined);
  const program = Buffer.alloc(256);
  program.write("MZ");
  program.writeUInt32LE(128, 60);
  program.write("PE\0\0", 128, "latin1");
  program.writeUInt16LE(0xaa64, 132);
  assert.equal(executableMachine(program), "arm64");
  assert.equal(executableMachine(program.subarray(0, 100)), undefined);
});

/** A cabinet of one file, packed with MSZIP, as `name.dl_` is. */
function packedProgram(machine: number): Buffer {
  const program = Buffer.alloc(2000, 7);
  program.write("MZ");
  program.writeUInt32LE(128, 60);
  program.write("PE\0\0", 128, "latin1");
  program.writeUInt16LE(machine, 132);
  const data = Buffer.concat([Buffer.from("CK"), deflateRawSync(program)]);
  const head = Buffer.alloc(70);
  head.write("MSCF");
  head.writeUInt32LE(44, 16);
  head.writeUInt16LE(1, 26);
  head.writeUInt16LE(1, 28);
  head.writeUInt32LE(62, 36);
  head.writeUInt16LE(1, 40);
  head.writeUInt16LE(1, 42);
  head.write("x\0", 60, "latin1");
  head.writeUInt16LE(data.length, 66);
  head.writeUInt16LE(program.length, 68);
  return Buffer.concat([head, data]);
}

test("an architecture that is declared but not shipped is found, also in packed program files", async () => {
  const inf = `${version}[Manufacturer]\nX=M,NTamd64,NTx86\n[M.NTamd64]\n"A"=I\n[M.NTx86]\n"A"=I\n[I]\nCopyFiles=@a.dll\n[SourceDisksNames]\n1=d\n[SourceDisksFiles]\na.dll=1\n`;
  const zip = makeZip([
    { name: "a.inf", bytes: inf },
    { name: "a.dl_", bytes: packedProgram(0x8664) },
  ]);

  const report = reportOf(await inspectArchive(sourceOf(zip)));

  assert.deepEqual(report.infs[0]?.architectures, ["x86", "amd64"]);
  assert.deepEqual(report.infs[0]?.notShipped, ["x86"]);
});

test("a text without measure is refused or answered in good time", { timeout: 60_000 }, () => {
  const circles = `[Strings]\n${Array.from({ length: 50_000 }, (_, i) => `s${i}=%s${i + 1}%%s${i + 1}%`).join("\n")}\n[Version]\nProvider=%s0%\n`;
  const models = `${version}[Manufacturer]\nX=M,NTamd64\n[M.NTamd64]\n${'"A"=i,h\n'.repeat(1_000_001)}`;
  const needs = `${version}[Manufacturer]\nX=M,NTamd64\n[M.NTamd64]\n"A"=s0\n${Array.from({ length: 50_000 }, (_, i) => `[s${i}]\nNeeds=s${i + 1},s${(i * 7) % 50_000}`).join("\n")}\n`;
  const started = performance.now();

  assert.equal(read(circles).version.provider, "%s1%%s1%");
  assert.throws(() => read("[v]\na\n".repeat(100_001)), UserError);
  assert.throws(() => read(models), UserError);
  assert.equal(read(needs).files.missing.length, 0);
  read(
    `[${"[".repeat(1_000_000)}\n${'"'.repeat(1_000_001)}\n${"=,".repeat(490_000)}\n${"%".repeat(1_000_001)}`,
  );
  read(`[Version]\nProvider=${"a\\\n".repeat(190_000)}`);

  assert.ok(performance.now() - started < 30_000);
});

function corpus(): Buffer[] {
  const own = [
    printerInf(),
    printerInf({ models: ["A", "B"] }),
    filesInf("[Inst]\nCopyFiles=@a\nNeeds=Inst\n", "[Strings]\nP=x"),
  ];
  const small = own.flatMap((text) => [Buffer.from(text), Buffer.from(`\ufeff${text}`, "utf16le")]);
  if (withoutShared) return small;
  const folders = readdirSync(join(shared, "inf"), { recursive: true, encoding: "utf8" }).filter((name) =>
    /\.inf$/i.test(name),
  );
  const theirs = folders
    .map((name) => readFileSync(join(shared, "inf", name)))
    .filter((bytes) => bytes.length < 60_000);
  return [...small, ...theirs];
}

test("20,000 mutations and random texts end in a result or a clear refusal", { timeout: 300_000 }, (t) => {
  const random = seededRandom(44);
  const originals = corpus();
  const snippets = [
    "[",
    "]",
    "%",
    '"',
    "\\\n",
    ",",
    "=",
    "\0",
    "[Manufacturer]\n",
    "%%",
    ";",
    "\ufeff",
    "CopyFiles=@",
    "Needs=",
    "{",
    "NTamd64",
  ];
  let refusals = 0;
  let slowest = 0;

  for (let i = 0; i < 20_000; i++) {
    const bytes = mutate(originals[random(originals.length)] ?? Buffer.alloc(0), i);
    const started = performance.now();
    try {
      readInf("a.inf", bytes, new PackageFiles(["a.inf", "a.cat", "papyrus.dll"]));
    } catch (error) {
      assert.ok(error instanceof UserError, `mutation ${i}: ${error instanceof Error ? error.stack : error}`);
      refusals++;
    }
    slowest = Math.max(slowest, performance.now() - started);
  }

  t.diagnostic(
    `seed 44: 20000 texts from ${originals.length} INFs, ${refusals} refused, slowest ${Math.round(slowest)} ms`,
  );
  assert.ok(slowest < 5000);

  function mutate(original: Buffer, i: number): Buffer {
    if (i % 20 === 0) return Buffer.from(Array.from({ length: random(2000) }, () => random(256)));
    if (i % 20 === 1)
      return Buffer.from(
        `\ufeff${Array.from({ length: random(1000) }, () => String.fromCharCode(random(0x10000))).join("")}`,
        "utf16le",
      );
    const copy = Buffer.from(original);
    for (let n = 1 + random(4); n > 0; n--) copy[random(copy.length)] = random(256);
    const at = random(copy.length);
    const snippet = Buffer.from(snippets[random(snippets.length)] ?? "");
    return Buffer.concat([copy.subarray(0, at), snippet, copy.subarray(at + random(3))]);
  }
});
