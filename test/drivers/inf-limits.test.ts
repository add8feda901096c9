import assert from "node:assert/strict";
import { test } from "node:test";
import { UserError } from "../../src/domain/errors.ts";
import { readInf } from "../../src/inf/package.ts";
import { PackageFiles } from "../../src/inf/package-files.ts";
import { deepTest, selectCases } from "../support/depth.ts";
import { assertLinearTime } from "../support/times.ts";

const head =
  '[Version]\nSignature="$Windows NT$"\nClass=Printer\nDriverVer=1/2/2024,3.4\n[Manufacturer]\nX=M,NTamd64\n[M.NTamd64]\n';
const lines = (count: number, line: (i: number) => string) =>
  Array.from({ length: count }, (_, i) => line(i)).join("\n");

/** Reads an INF. A clear refusal is fine too. */
function read(text: string): void {
  try {
    readInf("a.inf", Buffer.from(text), new PackageFiles(["a.inf"]));
  } catch (error) {
    assert.ok(error instanceof UserError, error instanceof Error ? error.stack : String(error));
  }
}

const copying = (count: number, source: string) =>
  `"A"=I\n[I]\nCopyFiles=F\n[F]\n${lines(count, (i) => `f${i}.dll`)}\n[SourceDisksNames]\n1=d,%A%.cab,,%A%\n[SourceDisksFiles]\n${lines(count, (i) => `f${i}.dll=1,${source}`)}\n`;

/** Texts with `count` of each construct. */
const constructs: Record<string, (count: number) => string> = {
  "blanks after a bracket": (n) => `[${" ".repeat(n * 10)}x`,
  brackets: (n) => "[".repeat(n * 10),
  quotes: (n) => `${head}x=${'"a'.repeat(n * 4)}`,
  "doubled quotes": (n) => `${head}x="${'""'.repeat(n * 4)}"`,
  "per cent signs": (n) => `${head}${"%".repeat(n * 4)}=I`,
  semicolons: (n) => `${head}x=";${";".repeat(n * 4)}`,
  commas: (n) => `${head}x=${",".repeat(n)}`,
  "equals signs": (n) => `${head}${"=".repeat(n * 4)}`,
  backslashes: (n) => `${head}CopyFiles=@${"\\".repeat(n * 4)}x`,
  "continued lines": (n) => `${head}x=${"a\\\n".repeat(n)}`,
  "blank lines": (n) => `${head}${"\n".repeat(n * 10)}`,
  "characters in a line": (n) => `${head}"${"A".repeat(n * 40)}"=I`,
  sections: (n) => `${head}${lines(n, (i) => `[s${i}]`)}`,
  "decorated sections of one name": (n) =>
    `${head}${lines(n, () => '"A"=I')}\n${lines(n, (i) => `[I.ntamd64.${i}]`)}`,
  "dots in a section’s name": (n) => `${head}[a${".nt.1".repeat(n)}x]`,
  strings: (n) => `${head}[Strings]\n${lines(n, (i) => `s${i}=v${i}`)}`,
  "strings that grow": (n) => `${head}${lines(n, (i) => `%a%${i}=%a%`)}\n[Strings]\na=${"x".repeat(4000)}\n`,
  models: (n) => `${head}${lines(n, (i) => `"Papyrus ${i}"=I${i},USBPRINT\\P${i}`)}`,
  "Needs in circles": (n) => `${head}"A"=s0\n${lines(n, (i) => `[s${i}]\nNeeds=s${i + 1},s${(i * 7) % n}`)}`,
  "CopyFiles lists": (n) =>
    `${head}"A"=I\n[I]\n${lines(n, (i) => `CopyFiles=F,@one${i}.dll`)}\n[F]\n${lines(n, (i) => `two${i}.dll`)}`,
  "listed files": (n) => head + copying(n, "x64"),
  "listed files in languages": (n) =>
    head + copying(n, "%B%") + lines(50, (i) => `[Strings.${i}]\nA=a${i}\nB=b${i}`),
  disks: (n) =>
    `${head}[SourceDisksNames]\n${lines(n, (i) => `${i}=d,c${i}.cab,,f${i}`)}\n[SourceDisksFiles]\n${lines(n, (i) => `f${i}=${i}`)}`,
  manufacturers: (n) =>
    `[Version]\nClass=Printer\n[Manufacturer]\n${lines(n, (i) => `m${i}=M,NTamd64,NTx86`)}\n[M.NTamd64]\n${lines(n, (i) => `"A${i}"=I`)}`,
  decorations: (n) =>
    `[Version]\nClass=Printer\n[Manufacturer]\nX=M,${lines(n, (i) => `NTamd64.${i}`).replaceAll("\n", ",")}`,
  catalogs: (n) => `[Version]\nClass=Printer\n${lines(n, (i) => `CatalogFile.nt${i}=c${i}.cat`)}`,
  "CopyINF lists": (n) => `${head}"A"=I\n[I]\nCopyINF=${lines(n, (i) => `${i}.inf`).replaceAll("\n", ",")}`,
};

for (const [name, make] of Object.entries(constructs)) {
  deepTest(`ten times as many ${name} take about ten times as long`, { timeout: 120_000 }, async () => {
    await assertLinearTime(name, 4000, (count) => read(make(count)));
  });
}

test("folders and sub-folders in 8,000 languages are refused", { timeout: 60_000 }, () => {
  const strings = lines(8000, (i) => `[Strings.${i}]\nA=a${i}\nB=b${i}`);
  const started = performance.now();

  const read = () => readInf("a.inf", Buffer.from(head + copying(1, "%B%") + strings), new PackageFiles([]));

  assert.throws(read, { name: "UserError", message: /200 languages/ });
  assert.ok(performance.now() - started < 5000);
});

test("a file's folder and sub-folder always have the same language", () => {
  const text = `${head}${copying(1, "%B%")}[Strings]\nA=en\nB=sub\n[Strings.0407]\nA=de\nB=unter\n[Strings.040c]\nA=fr\n`;
  const paths = [
    "a.inf",
    "en/sub/f0.dll",
    "de/unter/f0.dll",
    "fr/sub/f0.dll",
    "en/unter/f0.dll",
    "de/sub/f0.dll",
  ];

  const { files } = readInf("a.inf", Buffer.from(text), new PackageFiles(paths));

  assert.deepEqual([...files.used].sort(), ["a.inf", "de/unter/f0.dll", "en/sub/f0.dll", "fr/sub/f0.dll"]);
});

test("the time to read blanks after a bracket is proportional to their number", {
  timeout: 60_000,
}, async () => {
  await assertLinearTime("blanks", 6000, (count) => read(`[${" ".repeat(count)}x`));
});

deepTest("files in very many languages are refused as too much work", { timeout: 60_000 }, () => {
  const text = head + copying(40_000, "%B%") + lines(200, (i) => `[Strings.${i}]\nA=a${i}\nB=b${i}`);
  const started = performance.now();

  const read = () => readInf("a.inf", Buffer.from(text), new PackageFiles([]));

  assert.throws(read, { name: "UserError", message: /too many files, folders and languages/ });
  assert.ok(performance.now() - started < 20_000);
});

const tooMany: Record<string, () => string> = {
  lines: () => lines(200_001, () => "a"),
  sections: () => lines(200_001, (i) => `[${i}]`),
  values: () => `${head}x=${",".repeat(500_001)}`,
};
for (const [what, make] of selectCases(Object.entries(tooMany), 2))
  test(`too many ${what} are refused`, () => {
    const read = () => readInf("a.inf", Buffer.from(make()), new PackageFiles([]));

    assert.throws(read, UserError);
  });

test("a field is cut at 4096 characters before and after strings are replaced", () => {
  const text = `[Version]\nClass=${"c".repeat(100_000)}\nProvider=%p%%p%\n[Strings]\np=${"p".repeat(3000)}\n`;

  const { version } = readInf("a.inf", Buffer.from(text), new PackageFiles([]));

  assert.equal(version.class?.length, 4096);
  assert.equal(version.provider?.length, 4096);
});
