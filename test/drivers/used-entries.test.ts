import assert from "node:assert/strict";
import { test } from "node:test";
import { missingCountOf } from "../../src/domain/drivers/driver.ts";
import { inspectArchive } from "../../src/services/drivers/inspect.ts";
import { reportOf } from "../../src/services/drivers/inspect-report.ts";
import { printerInf } from "../support/drivers/driver-zip.ts";
import { filesZip, usedEntriesOf } from "../support/drivers/files-zip.ts";
import { unpackers, without } from "../support/drivers/foreign.ts";
import { filesInf } from "../support/drivers/inf.ts";
import { cabinet } from "../support/drivers/programs.ts";
import { makeZip, sourceOf, type ZipPart } from "../support/drivers/zip.ts";

/** The files that an INF uses in an archive with these other files. */
async function usedBy(inf: string, ...others: readonly (string | ZipPart)[]): Promise<string[]> {
  const parts = others.map((part) => (typeof part === "string" ? { name: part, bytes: part } : part));
  const used = await usedEntriesOf(makeZip([{ name: "drv/A.inf", bytes: inf }, ...parts]), "drv/A.inf");
  return used.map(({ path }) => path);
}

const copies = (rest: string) => `[Inst]\nCopyFiles=F\n[F]\na.dll\n${rest}`;
const onDisk = "[SourceDisksNames]\n1=d\n[SourceDisksFiles]\na.dll=1";

test("an INF, its catalog and the files that it copies are used, without regard to case", async () => {
  const used = await usedBy(filesInf(copies(""), onDisk), "drv/A.CAT", "drv/A.Dll", "drv/setup.exe", "a.dll");

  assert.deepEqual(used, ["drv/A.inf", "drv/A.CAT", "drv/A.Dll"]);
});

test("`.` at the start of a path is ignored", async () => {
  const disks = "[SourceDisksNames]\n1=d,,,.\\x64\n[SourceDisksFiles]\na.dll=1";
  const other = filesInf(
    "[Inst]\nCopyFiles=@sub.dll",
    "[SourceDisksNames]\n1=d\n[SourceDisksFiles]\nsub.dll=1",
  );
  const inf = filesInf(copies("[Inst]\nCopyINF=.\\sub\\b.inf"), disks).replace("a.cat", ".\\a.cat");

  const used = await usedBy(
    inf,
    "drv/a.cat",
    "drv/x64/a.dll",
    { name: "drv/sub/B.INF", bytes: other },
    "drv/sub/a.cat",
    "drv/sub/sub.dll",
    "drv/sub.dll",
  );

  assert.deepEqual(used, [
    "drv/A.inf",
    "drv/a.cat",
    "drv/x64/a.dll",
    "drv/sub/B.INF",
    "drv/sub/a.cat",
    "drv/sub/sub.dll",
  ]);
});

test("listed files are used without CopyFiles, also compressed, in cabinets and in the folder of each language", async () => {
  const rest =
    "[SourceDisksNames]\n1=d,c.cab\n2=d,,,%Lang%\n3=d,other.cab\n[SourceDisksFiles]\na.dll=2\nb.hlp=1\nlisted.gpd=3\n[Strings]\nLang=en\n[Strings.0407]\nLang=de";
  const cab = (name: string, content: string): ZipPart => ({ name, bytes: cabinet([content]) });

  const used = await usedBy(
    filesInf(copies(""), rest),
    "drv/en/a.dll",
    "drv/de/a.dl_",
    "drv/fr/a.dll",
    "drv/b.hl_",
    cab("drv/c.cab", "nothing.dll"),
    cab("drv/other.cab", "LISTED.GPD"),
  );

  assert.deepEqual(used, ["drv/A.inf", "drv/en/a.dll", "drv/de/a.dl_", "drv/b.hl_", "drv/other.cab"]);
});

test("every architecture that the INF serves keeps its files", async () => {
  const inf = [
    "[Version]\nClass=Printer\nCatalogFile.ntx86=x86.cat\nCatalogFile.ntamd64=x64.cat",
    "[Manufacturer]\nX=M,NTamd64,NTx86,NTarm64",
    '[M.NTamd64]\n"A"=I\n[M.NTx86]\n"A"=I\n[M.NTarm64]\n"A"=I',
    "[I]\nCopyFiles=@a.dll",
    "[SourceDisksNames]\n1=d,,,\n[SourceDisksFiles.amd64]\na.dll=1,x64\n[SourceDisksFiles.x86]\na.dll=1,x86\n[SourceDisksFiles.arm64]\na.dll=1,arm64",
  ].join("\n");

  const used = await usedBy(
    inf,
    ...["x86.cat", "x64.cat", "x64/a.dll", "x86/a.dll", "arm64/a.dll", "ia64/a.dll"].map(
      (name) => `drv/${name}`,
    ),
  );

  assert.equal(used.length, 6);
  assert.ok(!used.includes("drv/ia64/a.dll"));
});

test("only the named one of two files with similar names is kept, if Windows tells them apart", async () => {
  const name = "i\u0307.dll";
  const inf = filesInf(
    `[Inst]\nCopyFiles=@${name}`,
    `[SourceDisksNames]\n1=d\n[SourceDisksFiles]\n${name}=1`,
  );

  const used = await usedBy(inf, "drv/a.cat", "drv/\u0130.dll", `drv/${name}`, "drv/l.dll");

  assert.deepEqual(used, ["drv/A.inf", "drv/a.cat", `drv/${name}`]);
});

test("INFs that copy each other are read once each", async () => {
  const name = (i: number) => `drv/${i}.inf`;
  const inf = (next: number) =>
    filesInf(`[Inst]\nCopyINF=${next}.inf,A.inf\nCopyFiles=@${next}.dll`, "").replace(
      "CatalogFile=a.cat",
      "",
    );
  const circle = Array.from({ length: 50 }, (_, i) => ({ name: name(i), bytes: inf((i + 1) % 50) }));
  const files = Array.from({ length: 50 }, (_, i) => `drv/${i}.dll`);

  const used = await usedBy(inf(0), ...circle, ...files, "drv/51.dll", "drv/a.cat");

  assert.equal(used.length, 101);
  assert.ok(!used.includes("drv/51.dll") && !used.includes("drv/a.cat"));
});

test("an INF that uses no files is alone in its package", async () => {
  const inf = '[Version]\nClass=Printer\n[Manufacturer]\nX=M,NTamd64\n[M.NTamd64]\n"A"=Nowhere\n';

  const used = await usedBy(inf, "drv/a.dll", "drv/a.cat");

  assert.deepEqual(used, ["drv/A.inf"]);
});

test("an INF that is missing or too large is refused with the remedy", async () => {
  const strings = Array.from({ length: 201 }, (_, i) => `[Strings.${i}]\nA=a`).join("\n");
  const zip = makeZip([
    { name: "a.inf", bytes: strings },
    { name: "b.inf", bytes: printerInf() },
  ]);
  const remedy =
    /Or turn off “Leave out unused files” on the driver’s page: packages then contain every file\.$/;

  await assert.rejects(usedEntriesOf(zip, "c.inf"), {
    code: "invalid",
    message: /“c\.inf” is not an INF file of the ZIP\./,
  });
  await assert.rejects(usedEntriesOf(zip, "a.inf"), {
    code: "invalid",
    message: /has over 200 languages/,
  });
  await assert.rejects(usedEntriesOf(zip, "a.inf"), { code: "invalid", message: remedy });
  assert.deepEqual(
    (await usedEntriesOf(zip, "b.inf")).map(({ path }) => path),
    ["b.inf"],
  );
});

test("a reduced package reads like the whole one, and other unpackers can open it", {
  skip: without.unzip || without.sevenZip,
}, async () => {
  const extra = Array.from({ length: 30 }, (_, i) => ({ name: `dead/weight ${i}.bin`, bytes: `dead ${i}` }));
  const archive = makeZip([
    ...extra,
    { name: "papyrus.inf", bytes: printerInf() },
    { name: "papyrus.cat", bytes: "catalog" },
    { name: "papyrus.dll", bytes: "library", method: 0 },
  ]);

  const zip = await filesZip(archive, "papyrus.inf");
  const trees = [unpackers.unzip(zip), unpackers.sevenZip(zip)];
  const [before, after] = [await inspectArchive(sourceOf(archive)), await inspectArchive(sourceOf(zip))].map(
    reportOf,
  );

  for (const tree of trees)
    assert.deepEqual(Object.keys(tree).sort(), ["papyrus.cat", "papyrus.dll", "papyrus.inf"]);
  const [inf, reduced] = [before?.infs[0], after?.infs[0]];
  assert.deepEqual({ ...reduced, unused: inf?.unused }, inf);
  assert.equal(reduced && missingCountOf(reduced), 0);
  assert.equal(reduced?.unused.count, 0);
});
