import { makeZip, type ZipPart } from "../test/support/drivers/zip.ts";

/** An INF of a fictitious maker, with the files that it copies. */
export interface DemoInf {
  /** Inside the archive. */
  readonly path: string;
  readonly maker: string;
  readonly version: string;
  /** As an INF writes it: mm/dd/yyyy. */
  readonly date: string;
  readonly models: readonly string[];
  readonly machines?: readonly ("x86" | "amd64" | "arm64")[];
  readonly isV4?: boolean;
  readonly isSigned?: boolean;
  /** For each machine, with their size in KB. */
  readonly files: Readonly<Record<string, number>>;
  /** Files that the INF copies and the archive lacks. */
  readonly lacking?: readonly string[];
}

/** A driver ZIP as its maker's website would offer it. */
export interface DemoArchive {
  readonly fileName: string;
  readonly infs: readonly DemoInf[];
  /** Files that no INF uses, with their size in KB. */
  readonly beside?: Readonly<Record<string, number>>;
}

/** The archive's bytes, always the same. */
export function archiveBytes({ infs, beside = {} }: DemoArchive): Buffer {
  const others = Object.entries(beside).map(([name, size]) => filePart(name, size));
  return makeZip([...infs.flatMap(partsOf), ...others]);
}

function partsOf(inf: DemoInf): ZipPart[] {
  const { path, machines = ["amd64"], isSigned = true, files } = inf;
  const folder = path.slice(0, path.lastIndexOf("/") + 1);
  return [
    { name: path, bytes: infText(inf) },
    ...(isSigned ? [filePart(folder + catalogOf(inf), 12)] : []),
    ...machines.flatMap((machine) =>
      Object.entries(files).map(([name, size]) => filePart(`${folder}${folderFor(machine)}/${name}`, size)),
    ),
  ];
}

function infText(inf: DemoInf): string {
  const { maker, version, date, models, machines = ["amd64"], isV4 = false, isSigned = true } = inf;
  const names = [...Object.keys(inf.files), ...(inf.lacking ?? [])];
  const hardware = maker.replace(/\W/g, "");
  const lines = [
    "[Version]",
    'Signature="$Windows NT$"',
    "Class=Printer",
    "ClassGuid={4D36E979-E325-11CE-BFC1-08002BE10318}",
    ...(isV4 ? ["ClassVer=4.0"] : []),
    "Provider=%Maker%",
    `DriverVer=${date},${version}`,
    ...(isSigned ? [`CatalogFile=${catalogOf(inf)}`] : []),
    "[Manufacturer]",
    `%Maker%=Models,${machines.map((machine) => `NT${machine}`).join()}`,
    ...machines.flatMap((machine) => [
      `[Models.NT${machine}]`,
      ...models.map((model, i) => `"${model}"=Install,USBPRINT\\${hardware}${1000 + i}`),
    ]),
    "[Install]",
    "CopyFiles=Files",
    "[Files]",
    ...names,
    ...machines.flatMap((machine) => [`[SourceDisksNames.${machine}]`, `1=%Disk%,,,${folderFor(machine)}`]),
    "[SourceDisksFiles]",
    ...names.map((name) => `${name}=1`),
    "[Strings]",
    `Maker="${maker}"`,
    'Disk="Driver files"',
    "",
  ];
  return lines.join("\r\n");
}

function catalogOf({ path }: DemoInf): string {
  return `${path.slice(path.lastIndexOf("/") + 1, -".inf".length)}.cat`;
}

function folderFor(machine: string): string {
  return machine === "amd64" ? "x64" : machine;
}

const kilobyte = 1024;
/** Files from this size on are stored: deflating noise takes time and gains nothing. */
const largeKilobytes = 512;

function filePart(name: string, kilobytes: number): ZipPart {
  return {
    name,
    bytes: fileBytes(name, kilobytes * kilobyte),
    method: kilobytes >= largeKilobytes ? 0 : 8,
  };
}

/** Bytes that deflate like a program: half of them well, half not at all. */
function fileBytes(name: string, size: number): Buffer {
  const bytes = Buffer.alloc(size, `${name}\r\n`);
  let state = [...name].reduce((sum, letter) => (sum * 31 + letter.charCodeAt(0)) >>> 0, 7) || 1;
  for (let at = 0; at + 4 <= size / 2; at += 4) {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    bytes.writeInt32LE(state | 0, at);
  }
  return bytes;
}
