import assert from "node:assert/strict";
import { test } from "node:test";
import { decodeInf, decodeText, utf8Reading } from "../../src/domain/decode.ts";
import { cabinetNames } from "../../src/inf/cabinet.ts";
import { InfDocument } from "../../src/inf/document.ts";
import { executableMachine } from "../../src/inf/executable.ts";
import { choosePrinterInf, readInf } from "../../src/inf/package.ts";
import { compressedName, PackageFiles } from "../../src/inf/package-files.ts";
import { printerInf } from "../support/drivers/driver-zip.ts";
import { program } from "../support/drivers/programs.ts";

test("UTF-16 with and without a byte order mark, UTF-8 with and without one, ASCII and ANSI are read", () => {
  const text = "[Version]\r\nProvider=“Ä”\r\n; some more text so that there is enough of it\r\n";
  const marked = Buffer.from(`\ufeff${text}`, "utf16le");
  const wide = [marked, Buffer.from(marked).swap16(), Buffer.from(text, "utf16le")];
  const encoded = [...wide, Buffer.from(`\ufeff${text}`), Buffer.from(text)];

  const decoded = [...encoded, Buffer.from("abc"), Buffer.from([0x93, 0xc4, 0x94])].map(decodeText);

  assert.deepEqual(decoded, [text, text, text, text, text, "abc", "“Ä”"]);
});

test("an INF in UTF-8 without a byte order mark is read as Windows reads it, and the other reading is known", () => {
  const texts = ["Papyrus ä€", "\ufeffPapyrus ä€"].map((text) => decodeInf(Buffer.from(text)));

  const others = ["Papyrus Ã¤â‚¬", "Papyrus ä", "Papyrus €ä", "ascii", "一"].map(utf8Reading);

  assert.deepEqual(texts, ["Papyrus Ã¤â‚¬", "Papyrus ä€"]);
  assert.deepEqual(others, ["Papyrus ä€", undefined, undefined, undefined, undefined]);
});

test("strings are replaced once and in each language, `%%` becomes a per cent sign, an unknown token stays", () => {
  const inf = new InfDocument(
    '[Strings]\nA="%B%"\nB = "%A%"\n"C d"="x, y"\nL=en\n[S]\nv=%a%,%unknown%,100%%,%c D%,%\n[Strings.0407]\nL=de\n[Strings.040C]\nM=x\n',
  );
  const localized = new InfDocument("[Strings.0407]\nP=deutsch\n[Strings.0409]\nP=english\n");

  const values = inf.values("s", "V").map((value) => inf.resolve(value));

  assert.deepEqual(values, ["%B%", "%unknown%", "100%", "x, y", "%"]);
  assert.deepEqual(inf.resolveTogether("lang\\%L%.cab"), [["lang\\en.cab"], ["lang\\de.cab"]]);
  assert.equal(localized.resolve("%P%"), "english", "where only localized sections have strings");
});

test("compressed names, cabinets and programs are recognised", () => {
  const library = program(0xaa64);
  const started = program(0xaa64, "resources");
  started.writeUInt32LE(4096, 168);
  const heads = [library, library.subarray(0, 136), started, program(0xaa64, "resources")];

  const machines = [...heads, library.subarray(0, 100)].map(executableMachine);

  assert.deepEqual(machines, ["arm64", "arm64", "arm64", undefined, undefined]);
  assert.deepEqual(["a/b.dll", "a.b/c", "x.in"].map(compressedName), ["a/b.dl_", "a.b/c._", "x.in_"]);
  assert.equal(cabinetNames(Buffer.from("MZ no cabinet")), undefined);
});

test("the printer's INF is chosen by class, models, completeness, architecture, folder and date", () => {
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

  const chosen = order.map((_, i) => choosePrinterInf(order.slice(i).reverse()));

  assert.deepEqual(chosen, order);
  assert.equal(choosePrinterInf([make("usb.inf", { className: "USB" })]), undefined);
});
