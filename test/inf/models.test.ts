import assert from "node:assert/strict";
import { test } from "node:test";
import { preferredDescription } from "../../src/domain/drivers/models.ts";
import { choosePrinterInf, readInf } from "../../src/inf/package.ts";
import { PackageFiles } from "../../src/inf/package-files.ts";
import { printerInf } from "../support/drivers/driver-zip.ts";
import { read, version } from "../support/drivers/inf.ts";

test("several manufacturers with decorations give models by architecture", () => {
  const { models } = read(
    `${version}[Manufacturer]\n%P%=M, NTamd64 , NTARM64.6.3\n"Other"=N,NTx86.5.1\n[M]\n"old"=i\n[M.NTamd64]\n"A"=i,hw1\n"A"=i,hw2\n"B"=i\n[M.ntarm64.6.3]\n"A"=i\n[N.NTx86.5.1]\n"C"=i\n[Strings]\nP="Papyrus"\n`,
  );

  assert.deepEqual(models.manufacturers, ["Papyrus", "Other"]);
  assert.deepEqual(models.architectures, ["x86", "amd64", "arm64"]);
  assert.deepEqual(models.descriptions.toSorted(), ["A", "B", "C", "old"]);
  assert.equal(models.lineCount, 6);
});

test("an undecorated models section serves 32-bit Windows unless the INF rules it out", () => {
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

test("the first of two catalogs with the same decoration counts", () => {
  const { version: found } = read(
    `${version}CatalogFile=\nCatalogFile=first.cat\nCatalogFile=second.cat\nCatalogFile.NT=nt.cat\n`,
  );

  assert.deepEqual(found.catalogs, { default: "first.cat", nt: "nt.cat" });
});

test("core drivers and commented-out models do not count", () => {
  const { models } = read(
    `${version}[Manufacturer]\nX=M,NTamd64\n[M.NTamd64]\n"{D20EA372-DD35-4950-9ED8-A6335AFE79F0}"=i,x\n"A"=i\n;"B"=i\n`,
  );

  assert.deepEqual(models.descriptions, ["A"]);
  assert.equal(models.lineCount, 2);
});

test("the version is read as written, also if it is short, large, missing or unresolved", () => {
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

  for (let i = 0; i < order.length; i++) {
    assert.equal(choosePrinterInf(order.slice(i).reverse())?.path, order[i]?.path);
  }
  assert.equal(choosePrinterInf([make("usb.inf", { className: "USB" })]), undefined);
});

test("the preferred model has no version and starts with the manufacturer's name", () => {
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
