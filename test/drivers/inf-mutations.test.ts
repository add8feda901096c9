import assert from "node:assert/strict";
import { test } from "node:test";
import { UserError } from "../../src/domain/errors.ts";
import { readInf } from "../../src/inf/package.ts";
import { PackageFiles } from "../../src/inf/package-files.ts";
import { deepTest, isDeep, rounds, seedOr } from "../support/depth.ts";
import { printerInf } from "../support/drivers/driver-zip.ts";
import { filesInf, read, version } from "../support/drivers/inf.ts";
import { vendorPackages } from "../support/drivers/vendors.ts";
import { seededRandom } from "../support/random.ts";

deepTest("a huge text is refused or read in bounded time", { timeout: 60_000 }, () => {
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

/** Small INFs of our own; in the deep tier also those of vendors that are here. */
function corpus(): Buffer[] {
  const own = [
    printerInf(),
    printerInf({ models: ["A", "B"] }),
    filesInf("[Inst]\nCopyFiles=@a\nNeeds=Inst\n", "[Strings]\nP=x"),
  ];
  const small = own.flatMap((text) => [Buffer.from(text), Buffer.from(`\ufeff${text}`, "utf16le")]);
  const theirs = isDeep ? vendorPackages().flatMap(({ infs }) => [...infs.values()]) : [];
  return [...small, ...theirs.filter(({ length }) => length < 60_000)];
}

test("mutations and random texts are read or clearly refused", { timeout: 300_000 }, (t) => {
  const seed = seedOr(44);
  const random = seededRandom(seed);
  const count = rounds(1000, 20_000);
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

  for (let i = 0; i < count; i++) {
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
    `seed ${seed}: ${count} texts from ${originals.length} INFs, ${refusals} refused, slowest ${Math.round(slowest)} ms`,
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
