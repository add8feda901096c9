import assert from "node:assert/strict";
import { test } from "node:test";
import { cabinetNames } from "../../src/inf/cabinet.ts";
import { executableMachine } from "../../src/inf/executable.ts";
import { readInf, unusedInPackage } from "../../src/inf/package.ts";
import { compressedName, PackageFiles } from "../../src/inf/package-files.ts";
import { inspectArchive } from "../../src/services/drivers/inspect.ts";
import { reportOf } from "../../src/services/drivers/inspect-report.ts";
import { filesInf, read, version } from "../support/drivers/inf.ts";
import { packedProgram } from "../support/drivers/programs.ts";
import { makeZip, sourceOf } from "../support/drivers/zip.ts";

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

test("without a section for the architecture, sections for any architecture and Windows version are installed", () => {
  const copy =
    "[Inst.NT]\nCopyFiles=@all.dll\n[Inst.NT.6.1]\nCopyFiles=@seven.dll\n[Inst]\nCopyFiles=@old.dll\n";

  const { files } = read(filesInf(copy, ""), ["a.cat", "all.dll", "seven.dll", "old.dll"]);

  assert.deepEqual([...files.used].sort(), ["a.cat", "a.inf", "all.dll", "seven.dll"]);
});

test("files of a layout file come from Windows; a missing catalog counts as missing", () => {
  const copy = "[Inst]\nInclude=ntprint.inf\nNeeds=UNIDRV.OEM\nCopyFiles=@stdnames.gpd\n";

  assert.deepEqual(
    read(filesInf(copy, "").replace("Class=", "LayoutFile=layout.inf\nClass=")).files.missing,
    ["a.cat"],
  );
  assert.deepEqual(read(filesInf(copy, "")).files.missing, ["a.cat", "stdnames.gpd"]);
});

test("a file that the INF lists counts as missing even with a layout file", () => {
  const text = filesInf(
    "[Inst]\nCopyFiles=@own.dll,@stdnames.gpd\n",
    "[SourceDisksNames]\n1=d\n[SourceDisksFiles]\nown.dll=1\n",
  );

  const { files } = read(text.replace("Class=", "LayoutFile=layout.inf\nClass="), ["a.cat"]);

  assert.deepEqual(files.missing, ["own.dll"]);
});

test("an INF that CopyINF names counts as used, with its own files", () => {
  const inf = filesInf("[Inst]\nCopyINF=usb.inf\n", "");
  const usb =
    '[Version]\nClass=USB\nCatalogFile=usb.cat\n[Manufacturer]\nX=M,NTamd64\n[M.NTamd64]\n"U"=I\n[I]\nCopyFiles=@u.sys\n[SourceDisksNames]\n1=d\n[SourceDisksFiles]\nu.sys=1\n';
  const files = new PackageFiles(["a.inf", "a.cat", "usb.inf", "usb.cat", "u.sys", "readme.txt"]);

  const readings = [readInf("a.inf", Buffer.from(inf), files), readInf("usb.inf", Buffer.from(usb), files)];

  assert.deepEqual(unusedInPackage(readings, files), ["readme.txt"]);
  assert.deepEqual(readings[0]?.files.copyInf, ["usb.inf"]);
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

test("an architecture without program files is detected, also with packed program files", async () => {
  const inf = `${version}[Manufacturer]\nX=M,NTamd64,NTx86\n[M.NTamd64]\n"A"=I\n[M.NTx86]\n"A"=I\n[I]\nCopyFiles=@a.dll\n[SourceDisksNames]\n1=d\n[SourceDisksFiles]\na.dll=1\n`;
  const zip = makeZip([
    { name: "a.inf", bytes: inf },
    { name: "a.dl_", bytes: packedProgram(0x8664) },
  ]);

  const report = reportOf(await inspectArchive(sourceOf(zip)));

  assert.deepEqual(report.infs[0]?.architectures, ["x86", "amd64"]);
  assert.deepEqual(report.infs[0]?.notShipped, ["x86"]);
});
