import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { missingCountOf } from "../../src/domain/drivers/driver.ts";
import { inspectArchive } from "../../src/services/drivers/inspect.ts";
import { reportOf } from "../../src/services/drivers/inspect-report.ts";
import { startApp } from "../support/app.ts";
import { deepTest, rounds } from "../support/depth.ts";
import { driverZip, printerInf } from "../support/drivers/driver-zip.ts";
import { filesZip, usedEntriesOf } from "../support/drivers/files-zip.ts";
import { unpackers, without } from "../support/drivers/foreign.ts";
import { filesInf } from "../support/drivers/inf.ts";
import { bytesOf } from "../support/drivers/mixed-driver.ts";
import { cabinet } from "../support/drivers/programs.ts";
import { makeZip, sourceOf, type ZipPart } from "../support/drivers/zip.ts";
import { assertWithin, longestBlock } from "../support/times.ts";

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

  const names = ["A.inf", "a.cat", "x64/a.dll", "sub/B.INF", "sub/a.cat", "sub/sub.dll"];
  assert.deepEqual(
    used,
    names.map((name) => `drv/${name}`),
  );
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
  const count = rounds(50, 500);
  const inf = (i: number) => {
    const copied = [i + 1, i * 7, i + 100].map((number) => `${number % count}.inf`);
    const copy = `[Inst]\nCopyINF=${copied.join(",")},A.inf\nCopyFiles=@${i}.dll`;
    return filesInf(copy, "").replace("CatalogFile=a.cat", "");
  };
  const infs = Array.from({ length: count }, (_, i) => ({ name: `drv/${i}.inf`, bytes: inf(i) }));
  const files = Array.from({ length: count }, (_, i) => `drv/${i}.dll`);

  const used = await usedBy(inf(0), ...infs, ...files, `drv/${count}.dll`, "drv/a.cat");

  assert.equal(used.length, 2 * count + 1);
  assert.ok(!used.includes(`drv/${count}.dll`) && !used.includes("drv/a.cat"));
});

test("an INF that is missing or too large is refused with the remedy", async () => {
  const strings = Array.from({ length: 201 }, (_, i) => `[Strings.${i}]\nA=a`).join("\n");
  const zip = makeZip([
    { name: "a.inf", bytes: strings },
    { name: "b.inf", bytes: printerInf() },
  ]);
  const remedy =
    /Or turn off “Leave out unused files” on the driver’s page: packages then contain every file\.$/;

  for (const [path, message] of [
    ["c.inf", /“c\.inf” is not an INF file of the ZIP\./],
    ["a.inf", /has over 200 languages/],
    ["a.inf", remedy],
  ] as const)
    await assert.rejects(usedEntriesOf(zip, path), { code: "invalid", message });
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

function driverOfManyFiles(count: number, seed = 0): Buffer {
  const extra = Array.from({ length: count - 3 }, (_, i) => ({
    name: `a folder with a name/and another/file-${seed}-${i}.bin`,
    bytes: "x",
    method: 0,
  }));
  return driverZip({ extra });
}

const drop = { drop_unused: "on" };
/** Starts the service with a driver whose packages leave out unused files. */
async function startWith(t: TestContext, archive: Buffer) {
  const app = await startApp(t);
  const driver = await app.addDriver(archive);
  await app.post(`/drivers/${driver}`, drop);
  const names = async () => {
    const answer = await app.fetch(`/drivers/${driver}/files`);
    const bytes = await bytesOf(answer);
    assert.equal(answer.status, 200, String(bytes));
    return Object.keys(unpackers.fflate(bytes)).sort();
  };
  return { ...app, driver, names };
}

deepTest("three used files among sixty thousand are found without blocking other requests", async (t) => {
  const { fetch, post, names, driver } = await startWith(t, driverOfManyFiles(60_000));
  const statuses: number[] = [];
  const blocks: number[] = [];

  for (const fields of [drop, {}, drop]) {
    const block = await longestBlock(async () => {
      await post(`/drivers/${driver}`, fields);
      const head = await fetch(`/drivers/${driver}/files`, { method: "HEAD" });
      const range = await fetch(`/drivers/${driver}/files`, { headers: { range: "bytes=0-99" } });
      await range.arrayBuffer();
      statuses.push(head.status, range.status);
    });
    blocks.push(block);
  }

  assert.deepEqual([...new Set(statuses)].sort(), [200, 206]);
  assert.deepEqual(await names(), ["papyrus.cat", "papyrus.dll", "papyrus.inf"]);
  // The best of three runs must stay under 50 ms, so that garbage collections do not count.
  t.diagnostic(`longest blocks: ${blocks.map((block) => block.toFixed(1)).join(", ")} ms`);
  await assertWithin(50, { blocked: Math.min(...blocks) });
});

deepTest("two drivers that are too large for one package fit without their unused files", async (t) => {
  const { addDriver, addPrinter, post, fetch } = await startApp(t);
  await post("/clients", { name: "Large" });
  for (let i = 0; i < 2; i++) {
    const driver_id = String(await addDriver(driverOfManyFiles(33_000 + i, i)));
    await addPrinter({ name: `Printer ${i}`, client_id: "1", driver_id });
  }

  const before = await fetch("/clients/1/packages/rmm", { method: "HEAD" });
  await post("/drivers/1", drop);
  await post("/drivers/2", drop);
  const after = await fetch("/clients/1/packages/rmm", { method: "HEAD" });

  assert.deepEqual([before.status, after.status], [422, 200]);
});

test("an INF that uses no files is packed alone, and the scripts use its path", async (t) => {
  const inf = '[Version]\nClass=Printer\n[Manufacturer]\nX=M,NTamd64\n[M.NTamd64]\n"A"=Nowhere\n';
  const dead = Array.from({ length: 5 }, (_, i): ZipPart => ({ name: `${i}.dll`, bytes: `${i}` }));
  const { names, addPrinter, fetch, driver } = await startWith(
    t,
    makeZip([{ name: "x/a.inf", bytes: inf }, ...dead]),
  );
  const id = await addPrinter({ driver_id: String(driver) });

  const script = await (await fetch(`/printers/${id}/scripts/install`)).text();

  assert.deepEqual(await names(), ["x/a.inf"]);
  assert.match(script, /Inf = 'x\\a\.inf'/);
});
