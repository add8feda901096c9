import assert from "node:assert/strict";
import { test } from "node:test";
import { inspectArchive } from "../../src/services/drivers/inspect.ts";
import { reportOf } from "../../src/services/drivers/inspect-report.ts";
import { startApp } from "../support/app.ts";
import { driverZip, marked, printerInf } from "../support/drivers/driver-zip.ts";
import { sourceOf } from "../support/drivers/zip.ts";

const usual = printerInf();

/** A printer's INF with these extra lines in its install section. */
function withLines(install: string, rest = ""): string {
  return `${usual.replace("CopyFiles=Files", `CopyFiles=Files\r\n${install}`)}\r\n${rest}`;
}

const withKey = (key: string, rest = "") => withLines("AddReg=R", `[R]\nHKLM,${key}${rest}`);
const withFolder = (folder: string) => withLines("", `[DestinationDirs]\nFiles=${folder}`);

async function warningsOf(inf: string, extra: readonly { name: string; bytes: string }[] = []) {
  const zip = driverZip({ extra: [...extra, { name: "other/papyrus.inf", bytes: marked(inf) }] });
  return reportOf(await inspectArchive(sourceOf(zip))).warnings.join("\n");
}

const windows = "Software\\Microsoft\\Windows\\CurrentVersion";
const imageOptions = "Software\\Microsoft\\Windows NT\\CurrentVersion\\Image File Execution Options";
const otherSlashes = '%A%"/\\CURRENTVERSION//run",x,,"calc.exe"';

const keys = /registry keys that make Windows start or trust programs/;
const services = "[Install.Services]\nAddService";

const cases: readonly [what: string, inf: string, expected: RegExp][] = [
  [
    "a service",
    withLines("", `${services}=Evil Svc,2,Svc\r\n[Svc]\r\nServiceBinary=%12%\\e.exe`),
    /“other\/papyrus\.inf” does more than .* it installs services \(Evil Svc\)\./,
  ],
  ["a token", withLines("", `${services}=%S%,2,Svc\n[Strings]\nS="Sneaky"`), /services \(Sneaky\)/],
  ["a section of Needs", withLines("Needs=More", "[More]\nAddService=Deep,2,x"), /services \(Deep\)/],
  [
    "a program at each start",
    withKey(`"${windows}\\RunOnce",x,,"calc.exe"`),
    /registry keys .*\(HKLM\\Software\\Microsoft\\Windows\\CurrentVersion\\RunOnce\)/,
  ],
  ["other slashes", withKey(otherSlashes, '\n[Strings]\nA="SOFTWARE\\Microsoft\\Windows"'), keys],
  ["a debugger of another program", withKey(`${imageOptions}\\sethc.exe,Debugger,,x`), keys],
  ["a certificate", withKey("Software\\Microsoft\\SystemCertificates\\ROOT\\AB,Blob,1,00"), keys],
  ["a service's key", withKey("System\\CurrentControlSet\\Services\\Evil,ImagePath,,x"), keys],
  ["a library", withLines("RegisterDlls=D", "[D]\n11,,evil.dll,1"), /runs or installs other programs \(D\)/],
  ["commands", withLines("RunPostSetupCommands=C", "[C]\ncalc.exe"), /other programs \(C\)/],
  ["software", withLines("", "[Install.Software]\nAddSoftware=Evil,,S"), /other programs \(Evil\)/],
  ["files in the startup folder", withFolder("16391"), /outside the driver folders \(16391\)/],
  ["files anywhere", withFolder('66000,"..\\..\\.."'), /outside the driver folders/],
  ["files at an absolute path", withFolder('-1,"C:\\Windows"'), /\(-1\\C:\\Windows\)/],
  [
    "a file whose name leads out of its folder",
    withLines("CopyFiles=Out", "[Out]\n..\\..\\evil.exe,papyrus.dll"),
    /outside the driver folders \(\.\.\\\.\.\\evil\.exe\)/,
  ],
  ["a single file that leads out", withLines("CopyFiles=@..\\evil.exe"), /folders \(\.\.\\evil\.exe\)/],
  ["deleted files", withLines("DelFiles=Gone"), /deletes, renames or changes files \(Gone\)/],
  ["an INI file", withLines("UpdateInis=I", "[I]\nwininit.ini,a,,b=c"), /changes files \(wininit\.ini\)/],
];

test("a warning names each side effect of an INF", async () => {
  for (const [what, inf, expected] of cases) assert.match(await warningsOf(inf), expected, what);
});

test("warnings include INFs that CopyINF names, and exclude sections that nothing installs", async () => {
  const usb =
    '[Version]\nClass=USB\n[Manufacturer]\nX=M,NTamd64\n[M.NTamd64]\n"U"=I,USB\\x\n[I.Services]\nAddService=Along,2,x\n';
  const extra = [{ name: "other/usb.inf", bytes: usb }];

  const copied = await warningsOf(withLines("CopyINF=usb.inf"), extra);
  const beside = await warningsOf(usual, extra);
  const unused = await warningsOf(`${usual}[Nobodys]\nAddService=Idle,2,x\n`);

  assert.match(copied, /“other\/usb\.inf” does more .*\(Along\)/);
  assert.doesNotMatch(beside + unused, /does more/);
});

test("usual actions of printer drivers cause no warning", async () => {
  const daily = withLines(
    "AddReg=R\nUpdateInis=I\nDelReg=R",
    '[Install.Services]\nAddService=,2\n[R]\nHKLM,"System\\CurrentControlSet\\Control\\Print\\Monitors",,,\nHKLM,"System\\CurrentControlSet\\Services\\Class\\Printer",NoUseClass\nHKR,,Icon,,-4\nHKLM,Software\\Papyrus,x,,y\n[I]\nwin.ini,Ports,"LPT1.DOS=",\n[DestinationDirs]\nDefaultDestDir=66000\nFiles=11\nA=66002\nB=16425\nC=13',
  );

  assert.equal(await warningsOf(daily), "");
});

test("the warning about very many side effects is short, on the driver's page too", async (t) => {
  const { fetch, addDriver } = await startApp(t);
  const many = Array.from({ length: 500 }, (_, i) => `AddService=${i}\u202e<b>${"x".repeat(3000)},2,s`);
  const inf = withLines("", `[Install.Services]\n${many.join("\n")}`);
  const bytes = inf.slice(0, 9000);
  const extra = Array.from({ length: 50 }, (_, i) => ({ name: `${i}/papyrus.inf`, bytes }));

  const page = await (await fetch(`/drivers/${await addDriver(driverZip({ extra }))}`)).text();
  const warnings = await warningsOf(inf);

  assert.match(page, /does more than a printer driver requires/);
  assert.match(page, /46 more INFs of this ZIP do this too/);
  assert.match(warnings, / and others\)\./);
  assert.ok(warnings.length < 1500, `${warnings.length} characters`);
  assert.match(warnings, /services \(0\[U\+202E\]<b>xxx/);
  assert.doesNotMatch(page, /<b>x|\u202e/);
});

test("sections that thousands of lines name are read once", async () => {
  const keys = Array.from({ length: 2000 }, () => `HKLM,"${"a/".repeat(40)}",x`).join("\n");
  const names = Array.from({ length: 100 }, () => `AddReg=${Array(600).fill("R").join(",")}`).join("\n");

  const started = performance.now();
  const warnings = await warningsOf(withLines(names, `[R]\n${keys}`));

  assert.equal(warnings, "");
  assert.ok(performance.now() - started < 5000);
});
