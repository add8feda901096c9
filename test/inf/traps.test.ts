// One small INF of our own for each trap that vendors' INFs hold. The comment in its first line names the trap and the test.
import assert from "node:assert/strict";
import { test } from "node:test";
import { inspectArchive, inspectionJson } from "../../src/services/drivers/inspect.ts";
import { reportOf } from "../../src/services/drivers/inspect-report.ts";
import { marked } from "../support/drivers/driver-zip.ts";
import { usedEntriesOf } from "../support/drivers/files-zip.ts";
import { cabinet, packedProgram, program } from "../support/drivers/programs.ts";
import { makeZip, sourceOf } from "../support/drivers/zip.ts";

interface Trap {
  /** The text of `a.inf`. A comment in its first line names the trap. */
  readonly inf: string;
  /** Further files by path. Lists of names are cabinets. */
  readonly files?: Readonly<Record<string, string | Buffer | readonly string[]>>;
  /** What is found in `a.inf`. */
  readonly found?: Readonly<Record<string, unknown>>;
  readonly unused?: readonly string[] | null;
  /** The files that a package without unused ones has. */
  readonly used?: readonly string[];
  /** The other INFs with their models. */
  readonly others?: Readonly<Record<string, readonly string[]>>;
  readonly printerInf?: string | null;
  /** What the report says of `a.inf`. */
  readonly reported?: Readonly<Record<string, unknown>>;
}

const version =
  '[Version]\nSignature="$Windows NT$"\nClass=Printer\nProvider=Papyrus\nDriverVer=06/21/2025,1.2.3.4\n';
const model = '[Manufacturer]\nX=M,NTamd64\n[M.NTamd64]\n"A"=I,hw\n';
const oneFile = "[I]\nCopyFiles=@a.dll\n[SourceDisksNames]\n1=d\n[SourceDisksFiles]\na.dll=1\n";
/** An INF of the printer driver “A”. @param rest its install section `I` */
const printer = (trap: string, rest: string, named = "") => `; ${trap}\n${version}${named}${model}${rest}`;
/** An INF with models for x64 and models of no architecture. */
const undecorated = (rest: string, named = "") =>
  `${version}${named}[Manufacturer]\nX=M,NTamd64\n[M]\n"A"=I\n[M.NTamd64]\n"A"=I\n${rest}`;
const other = (name: string, date = "06/21/2025") =>
  `${version.replace("06/21/2025", date)}${model.replace('"A"', `"${name}"`)}[I]\n`;

const traps: readonly Trap[] = [
  {
    inf: `; UTF-16 with a byte order mark stands beside ASCII in one package\n${version}${model}`,
    files: { "wide.inf": Buffer.from(`\ufeff${other("Breit ä")}`, "utf16le") },
    found: { descriptions: ["A"] },
    others: { "wide.inf": ["Breit ä"] },
  },
  {
    inf: printer("a line has more than 5,000 characters", "").replace(",hw", `,${"hw,".repeat(2000)}hw`),
    found: { descriptions: ["A"], modelLines: 1 },
  },
  {
    inf: `; a lone backslash at the end of a line continues it\n${version}[Manufacturer]\nX=M,\\\n NTamd64\n[M.NTamd64]\n"A" = I, \\\nhw\n"B"=I\n`,
    found: { descriptions: ["A", "B"], modelLines: 2, architectures: ["amd64"] },
  },
  {
    inf: `; a semicolon in quotes is text, and lines in comments do not count\n${version}[Manufacturer]\n"P; Co"=M,NTamd64 ; "Q"=N\n[M.NTamd64]\n"A; B" = I,hw ; the best\n;"C"=I\n"E; F"=I\n"say ""D"""=I\n`,
    found: { manufacturers: ["P; Co"], descriptions: ["A; B", "E; F", 'say "D"'], modelLines: 3 },
  },
  {
    inf: `; keys are quoted or not, with blanks around the equals sign\n${version}[Manufacturer]\n "%P%"   =   "M" ,  NTamd64\n[M.NTamd64]\nPlain Name=I\n[Strings]\n"P" = Papyrus\n`,
    found: { manufacturers: ["Papyrus"], descriptions: ["Plain Name"] },
  },
  {
    inf: `; names of sections, keys and files ignore case, also with blanks, slashes and dots, and sections of one name are joined\n${version}[MANUFACTURER]\nX="Two Words/x.y",NTAMD64\n[two words/X.Y.ntAmd64]\n"A"=i\n[I.NTAMD64]\ncopyfiles=@A.DLL\n[i.NTamd64]\nCopyFiles=@b.dll\n[sourcedisksnames]\n1=d\n[SOURCEDISKSFILES]\na.Dll=1\n`,
    files: { "a.DLL": "", "b.dll": "", "readme.txt": "" },
    found: { descriptions: ["A"], missing: [], unused: ["readme.txt"] },
  },
  {
    inf: `; several brands have decorations with versions of Windows and blanks\n${version}[Manufacturer]\nOne=M,NTamd64.6.0, NTx86.6 ,ntx86.6.0.3\nTwo=N, NTARM64\n[M.NTamd64.6.0]\n"A"=I\n[M.ntx86.6]\n"B"=I\n[M.NTx86.6.0.3]\n"C"=I\n[N.NTARM64]\n"D"=I\n`,
    found: {
      manufacturers: ["One", "Two"],
      architectures: ["x86", "amd64", "arm64"],
      descriptions: ["A", "B", "C", "D"],
    },
  },
  {
    inf: `; many lines have one description, some no hardware id, and core drivers are no printers\n${version}[Manufacturer]\nX=M,NTamd64\n[M.NTamd64]\n"A"=I,one\n"A"=I,two\n"A"=I\n"{D20EA372-DD35-4950-9ED8-A6335AFE79F0}" = I,core\n`,
    found: { descriptions: ["A"], modelLines: 4 },
  },
  {
    inf: `; an undecorated section is a real driver for 32-bit Windows\n${version}[Manufacturer]\nX=M\n[M]\n"A"=I\n`,
    found: { architectures: ["x86"], descriptions: ["A"] },
  },
  {
    inf: `; an undecorated section beside one for x64 serves 32-bit Windows\n${undecorated("")}`,
    found: { architectures: ["x86", "amd64"] },
  },
  {
    inf: `; an undecorated section is a leftover beside files for x64 only\n${undecorated("[SourceDisksFiles.amd64]\na.dll=1\n")}`,
    files: { "a.dll": "" },
    found: { architectures: ["amd64"], unused: [] },
  },
  {
    inf: `; an undecorated section is a leftover beside a catalog for x64\n${undecorated("", "CatalogFile.ntamd64=a.cat\n")}`,
    found: { architectures: ["amd64"] },
  },
  {
    inf: `; an undecorated section is a leftover beside a package for x64\n${undecorated("[PrinterPackageInstallation.amd64]\nPackageAware=TRUE\n")}`,
    found: { architectures: ["amd64"] },
  },
  {
    inf: `; the first of two catalogs with the same decoration counts\n${version}CatalogFile=\nCatalogFile=first.cat\nCatalogFile=second.cat\nCatalogFile.NT=nt.cat\n`,
    found: { catalogs: { default: "first.cat", nt: "nt.cat" } },
  },
  {
    inf: "; a printer’s class is named by its GUID, the driver is v4, and its version is a date\n[Version]\nClassGuid={4d36e979-e325-11ce-bfc1-08002be10318}\nClassVer=4.0\nDriverVer=6/07/2001\n",
    found: { isPrinter: true, driverModel: "v4", driverVer: { date: "6/07/2001", version: "" } },
  },
  {
    inf: "; the version is missing, the provider is undefined, and only a decorated catalog is named, which is absent\n[Version]\nClass=Printer\nProvider=%nobody%\nCatalogFile.ntamd64=gone.cat\n",
    found: {
      driverVer: null,
      provider: "%nobody%",
      catalogs: { default: null, ntamd64: "gone.cat" },
      missing: ["gone.cat"],
    },
  },
  {
    inf: `; the version has three parts, one over 65,535\n${version.replace(",1.2.3.4", " , 1.70000.3")}${model}`,
    found: { driverVer: { date: "06/21/2025", version: "1.70000.3" } },
  },
  {
    inf: printer(
      "files are copied by several lines, from other names, and twice by one section",
      "[I]\nCopyFiles=F,@one.dll,F\nCopyFiles=f,G\nNeeds=I2,I2\n[I2]\nNeeds=I\nCopyFiles=@two.dll\n[F]\nshown.dll,real.dll\n[G]\nthree.dll\n[SourceDisksNames]\n1=d\n[SourceDisksFiles]\none.dll=1\ntwo.dll=1\nreal.dll=1\nthree.dll=1\n",
    ),
    files: { "one.dll": "", "two.dll": "", "real.dll": "", "shown.dll": "" },
    found: { missing: ["three.dll"], unused: ["shown.dll"] },
  },
  {
    inf: printer(
      "entries for an architecture override the general ones one by one, and a compressed file stands for a plain one",
      "[I]\nCopyFiles=@a.dll,@b.dll\n[SourceDisksNames]\n1=d,,,gen\\sub\n[SourceDisksNames.amd64]\n2=d,,,x64\n[SourceDisksFiles]\na.dll=1\nb.dll=1\n[SourceDisksFiles.amd64]\nB.dll=2,deep\n",
    ),
    files: { "gen/sub/a.dl_": "", "gen/sub/b.dll": "", "x64/deep/b.dll": "" },
    found: { missing: [], foundCompressed: 1, unused: ["gen/sub/b.dll"] },
  },
  {
    inf: printer(
      "a cabinet, also beside the INF although its disk names a folder, holds all, some or none of the files, and one that cannot be read may hold them",
      "[I]\nCopyFiles=@all.dll,@some.dll,@none.dll,@any.dll\n[SourceDisksNames]\n1=d,all.cab,,sub\n2=d,none.cab\n3=d,any.cab\n[SourceDisksFiles]\nall.dll=1\nsome.dll=1\nnone.dll=2\nany.dll=3\n",
    ),
    files: {
      "all.cab": ["ALL.DLL", "sub\\some.dll"],
      "none.cab": ["other.dll"],
      "any.cab": "no directory",
    },
    found: { inCab: 3, missing: ["none.dll"], unused: ["none.cab"] },
  },
  {
    inf: printer(
      "a folder and a cabinet depend on the language",
      "[I]\nCopyFiles=@a.dll,@b.dll\n[SourceDisksNames]\n1=d,%L%.cab\n2=d,,,%L%\n[SourceDisksFiles]\na.dll=1\nb.dll=2\n[Strings]\nL=en\n[Strings.0407]\nL=de\n[Strings.0411]\nL=ja\n",
    ),
    files: { "en.cab": ["a.dll"], "de.cab": ["a.dll"], "en/b.dll": "", "ja/b.dll": "", "fr/b.dll": "" },
    found: { inCab: 1, missing: [], unused: ["fr/b.dll"] },
  },
  {
    inf: printer(
      "a file's folder and sub-folder always have the same language",
      "[I]\nCopyFiles=@f.dll\n[SourceDisksNames]\n1=d,,,%A%\n[SourceDisksFiles]\nf.dll=1,%B%\n[Strings]\nA=en\nB=sub\n[Strings.0407]\nA=de\nB=unter\n[Strings.040c]\nA=fr\n",
    ),
    files: {
      ...{ "en/sub/f.dll": "", "de/unter/f.dll": "", "fr/sub/f.dll": "" },
      ...{ "en/unter/f.dll": "", "de/sub/f.dll": "" },
    },
    found: { unused: ["de/sub/f.dll", "en/unter/f.dll"] },
  },
  {
    inf: printer("CopyINF brings another INF with its catalog", "[I]\nCopyINF=usb.inf\n"),
    files: {
      "usb.inf": "[Version]\nClass=USB\nCatalogFile=usb.cat\n[DefaultInstall.NTamd64]\nCopyFiles=@u.sys\n",
      "usb.cat": "",
      "u.sys": "",
      "readme.txt": "",
    },
    found: { copyInf: ["usb.inf"], unused: ["readme.txt", "u.sys", "usb.cat"] },
    unused: ["readme.txt"],
    others: { "usb.inf": [] },
  },
  {
    inf: printer(
      "files of Include and LayoutFile come with Windows",
      "[I]\nInclude=ntprint.inf\nNeeds=UNIDRV.OEM\nCopyFiles=@unidrv.dll,@own.dll\n[SourceDisksNames]\n1=d\n[SourceDisksFiles]\nown.dll=1\n",
      "LayoutFile=layout.inf\n",
    ),
    found: { missing: ["own.dll"] },
  },
  {
    inf: printer("without a layout file, nothing comes from Windows", "[I]\nCopyFiles=@own.dll\n"),
    found: { missing: ["own.dll"] },
  },
  {
    inf: printer(
      "without a section for the architecture, those for any architecture and version of Windows are installed",
      "[I.NT]\nCopyFiles=@all.dll\n[I.NT.6.1]\nCopyFiles=@seven.dll\n[I]\nCopyFiles=@old.dll\n",
    ),
    files: { "all.dll": "", "seven.dll": "", "old.dll": "" },
    found: { unused: ["old.dll"] },
  },
  {
    inf: printer(
      "a dot at the start of a path is ignored",
      "[I]\nCopyFiles=@a.dll\nCopyINF=.\\sub\\b.inf\n[SourceDisksNames]\n1=d,,,.\\x64\n[SourceDisksFiles]\na.dll=1\n",
      "CatalogFile=.\\a.cat\n",
    ),
    files: {
      ...{ "a.cat": "", "x64/a.dll": "", "sub/sub.dll": "", "sub.dll": "" },
      "sub/B.INF": other("B", "01/01/2020") + oneFile.slice(4).replaceAll("a.dll", "sub.dll"),
    },
    used: ["a.inf", "a.cat", "x64/a.dll", "sub/sub.dll", "sub/B.INF"],
    others: { "sub/B.INF": ["B"] },
  },
  {
    inf: printer(
      "listed files are used without CopyFiles, also compressed, in cabinets and in the folder of each language",
      "[I]\nCopyFiles=@a.dll\n[SourceDisksNames]\n1=d,c.cab\n2=d,,,%L%\n3=d,other.cab\n[SourceDisksFiles]\na.dll=2\nb.hlp=1\nlisted.gpd=3\n[Strings]\nL=en\n[Strings.0407]\nL=de\n",
    ),
    files: {
      ...{ "en/a.dll": "", "de/a.dl_": "", "fr/a.dll": "", "b.hl_": "" },
      ...{ "c.cab": ["nothing.dll"], "other.cab": ["LISTED.GPD"] },
    },
    used: ["a.inf", "en/a.dll", "de/a.dl_", "b.hl_", "other.cab"],
  },
  {
    inf: `; every architecture that the INF serves keeps its files\n[Version]\nClass=Printer\nCatalogFile.ntx86=x86.cat\nCatalogFile.ntamd64=x64.cat\n[Manufacturer]\nX=M,NTamd64,NTx86,NTarm64\n[M.NTamd64]\n"A"=I\n[M.NTx86]\n"A"=I\n[M.NTarm64]\n"A"=I\n[I]\nCopyFiles=@a.dll\n[SourceDisksNames]\n1=d,,,\n[SourceDisksFiles.amd64]\na.dll=1,x64\n[SourceDisksFiles.x86]\na.dll=1,x86\n[SourceDisksFiles.arm64]\na.dll=1,arm64\n`,
    files: {
      ...{ "x86.cat": "", "x64.cat": "" },
      ...{ "x64/a.dll": "", "x86/a.dll": "", "arm64/a.dll": "", "ia64/a.dll": "" },
    },
    used: ["a.inf", "x86.cat", "x64.cat", "x64/a.dll", "x86/a.dll", "arm64/a.dll"],
  },
  {
    inf: printer(
      "only the named one of two similar names is used",
      oneFile.replaceAll("a.dll", "i\u0307.dll"),
    ),
    files: { "\u0130.dll": "", "i\u0307.dll": "", "l.dll": "" },
    used: ["a.inf", "i\u0307.dll"],
  },
  {
    inf: printer("an INF that uses no files is packed alone", ""),
    files: { "a.dll": "", "b.cab": "" },
    used: ["a.inf"],
  },
  {
    inf: "; the INF of another device is no printer’s\n[Version]\nClass=Net\n[DefaultInstall]\nCopyFiles=@n.sys\n",
    files: { "n.sys": "", "readme.txt": "" },
    found: { isPrinter: false, driverModel: null, architectures: ["x86"] },
    printerInf: null,
    unused: null,
  },
  {
    inf: printer("of three INFs in sister folders, the one with the most models is the printer’s", ""),
    files: { "x/a.inf": "", "s/a.inf": other("A"), "r/a.inf": `${other("A")}`.replace('"A"', '"B"=I\n"A"') },
    printerInf: "a.inf",
    others: { "r/a.inf": ["B", "A"], "s/a.inf": ["A"], "x/a.inf": [] },
  },
  {
    inf: "; of equal INFs, the first by path is the printer’s; autorun and text files named .inf are none\n[autorun]\nopen=setup.exe\n",
    files: {
      "b.inf": other("A"),
      "c.inf": other("A"),
      "autorun.inf": "just words",
      "d.inf": other("D", "01/01/2020"),
    },
    printerInf: "b.inf",
    others: { "autorun.inf": [], "b.inf": ["A"], "c.inf": ["A"], "d.inf": ["D"] },
  },
  {
    inf: printer("a package declares an architecture that it does not ship", oneFile).replace(
      /X=M,NTamd64\n(.*\n)(.*\n)/,
      'X=M,NTamd64,NTx86\n$1$2[M.NTx86]\n"A"=I\n',
    ),
    files: { "a.dl_": packedProgram(0x8664) },
    found: { architectures: ["x86", "amd64"], foundCompressed: 1 },
    reported: { notShipped: ["x86"] },
  },
  {
    inf: printer(
      "a library without code runs on every machine, and a program for another one does not",
      oneFile.replace("@a.dll", "@a.dll,@b.dll"),
    ),
    files: { "a.dll": program(0x14c), "b.dll": program(0x14c, "resources") },
    reported: { notShipped: ["amd64"] },
  },
  {
    inf: printer("a library of resources alone says nothing about machines", oneFile),
    files: { "a.dll": program(0x14c, "resources") },
    reported: { notShipped: [] },
  },
  {
    inf: printer(
      "with a layout file, files beside the INF are used unlisted, and one that Windows does not bring is missing",
      "[I]\nCopyFiles=@A.GPD,@font.ufm,@STDNAMES.GPD,F\nDataFile=a.gpd\nConfigFile=unidrvui.dll\nHelpFile=a.hlp\nDependentFiles=b.ini,gone.ini,shown.dll\nDataSection=D\n[D]\nDriverFile=d.dll\n[F]\nshown.dll,real.dll\n[SourceDisksNames]\n100=d\n[SourceDisksFiles.amd64]\nreal.dll=100,x64\n",
      "LayoutFile=ntprint.inf\n",
    ),
    files: { "font.ufm": "", "B.INI": "", "x64/real.dll": "", "d.dll": "", "real.dll": "" },
    found: { missing: ["A.GPD", "a.hlp", "gone.ini"] },
    used: ["a.inf", "font.ufm", "B.INI", "x64/real.dll", "d.dll"],
  },
  {
    inf: "; the files that Windows brings for other devices than printers are not known\n[Version]\nClass=USB\nLayoutFile=layout.inf\n[DefaultInstall]\nCopyFiles=@any.sys\n",
    found: { missing: [] },
  },
  {
    inf: printer(
      "without a layout file, a file that is only named is used if it is there",
      "[I]\nDataFile=a.ppd\nDriverFile=gone.dll\nCopyFiles=@b.dll\n[SourceDisksNames]\n1=d,,,x64\n",
    ),
    files: { "x64/a.ppd": "", "b.dll": "" },
    found: { missing: [] },
    used: ["a.inf", "x64/a.ppd", "b.dll"],
  },
  {
    inf: `; a catalog for other machines is not needed, and one for a machine is missing only there\n${version}CatalogFile=other.cat\nCatalogFile.NT=a.cat\nCatalogFile.NTarm64=arm.cat\nCatalogFile.NTx86=x86.cat\nCatalogFile.NTia64=old.cat\n[Manufacturer]\nX=M,NTamd64,NTarm64\n[M.NTamd64]\n"A"=I\n[M.NTarm64]\n"A"=I\n`,
    files: { "a.cat": "", "x86.cat": "" },
    found: { missing: ["arm.cat"] },
    used: ["a.inf", "a.cat", "x86.cat"],
    reported: { missingFor: ["arm64"], catalogFiles: ["a.cat"], signed: true },
  },
  {
    inf: printer("a catalog for other machines signs nothing", "", "CatalogFile.NTx86=x86.cat\n"),
    files: { "x86.cat": "" },
    found: { missing: [] },
    reported: { catalogFiles: [], signed: false },
  },
  {
    inf: printer(
      "a tag file says nothing about the files of its disk",
      "[I]\nCopyFiles=@a.dll,@b.dll\n[SourceDisksNames]\n1=d,disk.tag\n[SourceDisksFiles]\na.dll=1\nb.dll=1\nc.dll=1\n",
    ),
    files: { "disk.tag": "", "a.dll": "" },
    found: { inCab: 0, missing: ["b.dll"] },
    used: ["a.inf", "disk.tag", "a.dll"],
  },
];

for (const { inf, files = {}, ...expected } of traps) {
  test(inf.slice(2, inf.indexOf("\n")), async () => {
    const parts = Object.entries(files).map(([name, content]) => ({
      name,
      bytes: Array.isArray(content) ? cabinet(content) : (content as string | Buffer),
    }));
    const zip = makeZip([{ name: "a.inf", bytes: marked(inf) }, ...parts]);
    const inspection = await inspectArchive(sourceOf(zip));

    const json = inspectionJson(inspection, "");
    const infs = json.infs as Record<string, Record<string, unknown>>;
    const { "a.inf": own = {}, ...others } = infs;

    for (const [field, value] of Object.entries(expected.found ?? {}))
      assert.deepEqual(own[field], value, field);
    const models = Object.entries(others).map(([path, { descriptions }]) => [path, descriptions]);
    assert.deepEqual(Object.fromEntries(models), expected.others ?? {});
    const { unused } = json.package as { unused: unknown };
    const used = expected.used && (await usedEntriesOf(zip, "a.inf")).map(({ path }) => path);
    assert.deepEqual(used, expected.used);
    if (expected.unused !== undefined) assert.deepEqual(unused, expected.unused);
    if (expected.printerInf !== undefined) assert.equal(json.printerInf, expected.printerInf);
    const report = { ...reportOf(inspection).infs.find(({ path }) => path === "a.inf") };
    for (const [field, value] of Object.entries(expected.reported ?? {}))
      assert.deepEqual(report[field as keyof typeof report], value, field);
  });
}
