import assert from "node:assert/strict";
import { test } from "node:test";
import { decodeText } from "../../src/domain/decode.ts";
import { InfDocument } from "../../src/inf/document.ts";

test("UTF-16 with and without a byte order mark, UTF-8 with and without one, ASCII and ANSI are read", () => {
  const text = "[Version]\r\nProvider=“Ä”\r\n; some more text so that there is enough of it\r\n";
  const swapped = Buffer.from(`\ufeff${text}`, "utf16le").swap16();

  const decoded = [
    decodeText(Buffer.from(`\ufeff${text}`, "utf16le")),
    decodeText(swapped),
    decodeText(Buffer.from(text, "utf16le")),
    decodeText(Buffer.from(`\ufeff${text}`)),
    decodeText(Buffer.from(text)),
    decodeText(Buffer.from("abc")),
    decodeText(Buffer.from([0x93, 0xc4, 0x94])),
  ];

  assert.deepEqual(decoded, [text, text, text, text, text, "abc", "“Ä”"]);
});

test("names ignore case, sections of one name are joined, comments end lines, `\\` continues lines", () => {
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

test("strings are replaced once, `%%` becomes a per cent sign, an unknown token stays", () => {
  const inf = new InfDocument(
    '[Strings]\nA="%B%"\nB = "%A%"\n"C d"="x, y"\n[S]\nv=%a%,%unknown%,100%%,%c D%,%\n',
  );

  assert.deepEqual(
    inf.values("s", "V").map((value) => inf.resolve(value)),
    ["%B%", "%unknown%", "100%", "x, y", "%"],
  );
});

test("a value that depends on the language is resolved in each language", () => {
  const inf = new InfDocument("[Strings]\nL=en\n[Strings.0407]\nL=de\n[Strings.040C]\nM=x\n");

  assert.deepEqual(inf.resolveTogether("lang\\%L%.cab"), [["lang\\en.cab"], ["lang\\de.cab"]]);
});

test("strings that exist only in localized sections have a value", () => {
  const inf = new InfDocument("[Strings.0407]\nP=deutsch\n[Strings.0409]\nP=english\n");

  assert.equal(inf.resolve("%P%"), "english");
});
