import assert from "node:assert/strict";
import { test } from "node:test";
import { UserError } from "../../src/domain/errors.ts";
import { readInf } from "../../src/inf/package.ts";
import { PackageFiles } from "../../src/inf/package-files.ts";
import { isDeep, rounds, seedOr, selectCases } from "../support/depth.ts";
import { printerInf } from "../support/drivers/driver-zip.ts";
import { vendorPackages } from "../support/drivers/vendors.ts";
import { seededRandom } from "../support/random.ts";
import { assertLinearTime } from "../support/times.ts";

const head =
  '[Version]\nSignature="$Windows NT$"\nClass=Printer\nDriverVer=1/2/2024,3.4\n[Manufacturer]\nX=M,NTamd64\n[M.NTamd64]\n';
const lines = (count: number, line: (i: number) => string) =>
  Array.from({ length: count }, (_, i) => line(i)).join("\n");

const readText = (text: string) => readInf("a.inf", Buffer.from(text), new PackageFiles([]));

/** Reads an INF. @returns whether it is refused, which must be clear */
function isRefused(bytes: Buffer): boolean {
  try {
    readInf("a.inf", bytes, new PackageFiles(["a.inf", "a.cat", "papyrus.dll"]));
    return false;
  } catch (error) {
    assert.ok(error instanceof UserError, error instanceof Error ? error.stack : String(error));
    return true;
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

for (const [name, make] of selectCases(Object.entries(constructs), 1)) {
  test(`ten times as many ${name} take about ten times as long`, async () => {
    await assertLinearTime(name, 4000, (count) => isRefused(Buffer.from(make(count))));
  });
}

const inLanguages = (count: number) => lines(count, (i) => `[Strings.${i}]\nA=a${i}\nB=b${i}`);

/** What is too much, the refusal, and how it is made. The last one is deep. */
const tooMuch: [what: string, message: RegExp, make: () => string][] = [
  ["lines", /200,000 lines/, () => lines(200_001, () => "a")],
  ["values", /500,000/, () => `${head}x=${",".repeat(500_001)}`],
  ["languages", /200 languages/, () => head + copying(1, "%B%") + inLanguages(8000)],
  ["files in languages", /too many files, fol/, () => head + copying(40_000, "%B%") + inLanguages(200)],
];
for (const [what, message, make] of isDeep ? tooMuch : tooMuch.slice(0, 3))
  test(`too many ${what} are refused`, () => {
    const text = make();
    const started = performance.now();

    assert.throws(() => readText(text), { name: "UserError", message });
    assert.ok(performance.now() - started < (isDeep ? 20_000 : 5000));
  });

test("a field is cut at 4096 characters before and after strings are replaced", () => {
  const text = `[Version]\nClass=${"c".repeat(100_000)}\nProvider=%p%%p%\n[Strings]\np=${"p".repeat(3000)}\n`;

  const { version } = readText(text);

  assert.equal(version.class?.length, 4096);
  assert.equal(version.provider?.length, 4096);
});

/** Small INFs of our own; in the deep tier also those of vendors that are here. */
function corpus(): Buffer[] {
  const needs = printerInf().replace("[Files]", "Needs=Install\r\n[Strings]\r\nP=x\r\n[Files]");
  const own = [printerInf(), printerInf({ models: ["A", "B"] }), needs];
  const small = own.flatMap((text) => [Buffer.from(text), Buffer.from(`\ufeff${text}`, "utf16le")]);
  const theirs = isDeep ? vendorPackages().flatMap(({ infs }) => [...infs.values()]) : [];
  return [...small, ...theirs.filter(({ length }) => length < 60_000)];
}

const snippets = '[ ] % " , = %% ; { \0 \ufeff \\\n [Manufacturer]\n CopyFiles=@ Needs= NTamd64'.split(" ");

test("mutations and random texts are read or clearly refused", (t) => {
  const seed = seedOr(44);
  const random = seededRandom(seed);
  const count = rounds(1000, 20_000);
  const originals = corpus();
  let refusals = 0;
  let slowest = 0;

  for (let i = 0; i < count; i++) {
    const bytes = mutate(originals[random(originals.length)] ?? Buffer.alloc(0), i);
    const started = performance.now();
    if (isRefused(bytes)) refusals++;
    slowest = Math.max(slowest, performance.now() - started);
  }

  t.diagnostic(
    `seed ${seed}: ${count} texts from ${originals.length} INFs, ${refusals} refused, slowest ${Math.round(slowest)} ms`,
  );
  assert.ok(slowest < 5000);

  function mutate(original: Buffer, i: number): Buffer {
    if (i % 10 === 0) {
      const mark = i % 20 === 0 ? "" : "\ufeff";
      const noise = Buffer.from(Array.from({ length: random(2000) }, () => random(256)));
      return Buffer.concat([Buffer.from(mark, "utf16le"), noise]);
    }
    const copy = Buffer.from(original);
    for (let n = 1 + random(4); n > 0; n--) copy[random(copy.length)] = random(256);
    const at = random(copy.length);
    const snippet = Buffer.from(snippets[random(snippets.length)] ?? "");
    return Buffer.concat([copy.subarray(0, at), snippet, copy.subarray(at + random(3))]);
  }
});
