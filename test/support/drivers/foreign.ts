import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { unzipSync, Zip, ZipDeflate, zipSync } from "fflate";
import { pathWithSystem } from "../powershell/ipp-printer.ts";

/** Whether a program is installed; its exit code does not matter. */
function isInstalled(program: string, ...args: string[]): boolean {
  const env = { ...process.env, PATH: pathWithSystem };
  const { error } = spawnSync(program, args, { stdio: "ignore", env });
  return (error as NodeJS.ErrnoException | undefined)?.code !== "ENOENT";
}

const ippTools = ["ippeveprinter", "ipptool", "dbus-daemon"];

const systemPython = "/usr/bin/python3";
const hasCryptography =
  spawnSync(systemPython, ["-c", "import cryptography"], { stdio: "ignore" }).status === 0;

/** Why a tool is not available; false if it is. */
export const without = {
  unzip: isInstalled("unzip", "-v") ? false : "no unzip here",
  sevenZip: isInstalled("7z", "i") ? false : "no 7z here",
  python: isInstalled("python3", "--version") ? false : "no python3 here",
  verifier: hasCryptography ? false : "no python3-cryptography here",
  dotnet: isInstalled("dotnet", "--version") ? false : "no dotnet here",
  osslsigncode: isInstalled("osslsigncode", "--version") ? false : "no osslsigncode here",
  ippPrinter: ippTools.every((program) => isInstalled(program, "--version"))
    ? false
    : `no ${ippTools.join(", ")} here`,
} as const;

/** Files by path, with `/`. */
export type Tree = Record<string, Buffer>;

function treeOf(folder: string): Tree {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  const paths = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const nameOf = (path: string) => path.slice(folder.length + 1).replaceAll("\\", "/");
  return Object.fromEntries(paths.map((path) => [nameOf(path), readFileSync(path)]));
}

/** Runs `work` in a temporary folder and deletes the folder. */
function inTemporaryFolder<T>(work: (folder: string) => T): T {
  const folder = mkdtempSync(join(tmpdir(), "platen-foreign-"));
  try {
    return work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function unpack(zip: Buffer, program: string, args: (file: string, out: string) => string[]): Tree {
  return inTemporaryFolder((folder) => {
    const file = join(folder, "package.zip");
    const out = join(folder, "out");
    mkdirSync(out);
    writeFileSync(file, zip);
    execFileSync(program, args(file, out), { stdio: "pipe", env: { ...process.env, LC_ALL: "C.UTF-8" } });
    return treeOf(out);
  });
}

const pythonUnzip =
  "import sys, zipfile\nz = zipfile.ZipFile(sys.argv[1])\nassert z.testzip() is None\nz.extractall(sys.argv[2])";

/** Unpackers of other projects. Each returns the files that it finds. */
export const unpackers = {
  unzip: (zip: Buffer) => unzipInOrder(zip),
  sevenZip: (zip: Buffer) => {
    unpack(zip, "7z", (file) => ["t", "-bd", file]);
    return unpack(zip, "7z", (file, out) => ["x", "-bd", "-y", `-o${out}`, file]);
  },
  python: (zip: Buffer) => unpack(zip, "python3", (file, out) => ["-c", pythonUnzip, file, out]),
  fflate: (zip: Buffer): Tree =>
    Object.fromEntries(Object.entries(unzipSync(zip)).map(([name, bytes]) => [name, Buffer.from(bytes)])),
  dotnet: (zip: Buffer) => unpack(zip, "dotnet", (file, out) => [dotnetProgram(), file, out]),
} as const;

function pack(tree: Tree, program: string, args: (file: string) => string[]): Buffer {
  return inTemporaryFolder((folder) => {
    const file = join(folder, "packed.zip");
    const files = join(folder, "in");
    for (const [name, bytes] of Object.entries(tree)) {
      mkdirSync(dirname(join(files, name)), { recursive: true });
      writeFileSync(join(files, name), bytes);
    }
    const env = { ...process.env, LC_ALL: "C.UTF-8" };
    execFileSync(program, args(file), { cwd: files, env, stdio: "pipe" });
    return readFileSync(file);
  });
}

/** Packs the folder. `streamed` prevents seeking back to fill in headers; `large` forces ZIP64. */
const pythonZip = `
import os, sys, zipfile
class Stream:
    def __init__(self, f): self.f = f
    def write(self, b): return self.f.write(b)
    def flush(self): self.f.flush()
out = open(sys.argv[1], 'wb')
with zipfile.ZipFile(Stream(out) if 'streamed' in sys.argv else out, 'w', zipfile.ZIP_DEFLATED) as z:
    for folder, _, names in os.walk('.'):
        for name in names:
            path = os.path.join(folder, name)
            with z.open(zipfile.ZipInfo(path[2:]), 'w', force_zip64='large' in sys.argv) as o:
                o.write(open(path, 'rb').read())
`;

interface Packer {
  readonly skip: string | false;
  readonly pack: (tree: Tree) => Buffer;
}

const by7z = (...options: string[]): Packer => ({
  skip: without.sevenZip,
  pack: (tree) => pack(tree, "7z", (file) => ["a", "-bd", ...options, file, "."]),
});

const byPython = (...options: string[]): Packer => ({
  skip: without.python,
  pack: (tree) => pack(tree, "python3", (file) => ["-c", pythonZip, file, ...options]),
});

/** Packers of other projects, each with its own kind of archive. */
export const packers: Record<string, Packer> = {
  "7z": by7z(),
  "7z in UTF-8": by7z("-mcu=on"),
  "7z in a code page": by7z("-mcl=on"),
  python: byPython(),
  "python, streamed": byPython("streamed"),
  "python with ZIP64, streamed": byPython("streamed", "large"),
  fflate: { skip: false, pack: (tree) => Buffer.from(zipSync(tree)) },
  "fflate, streamed": { skip: false, pack: streamedByFflate },
};

function streamedByFflate(tree: Tree): Buffer {
  const chunks: Uint8Array[] = [];
  const zip = new Zip((_, chunk) => chunks.push(chunk));
  for (const [name, bytes] of Object.entries(tree)) {
    const file = new ZipDeflate(name);
    zip.add(file);
    file.push(bytes, true);
  }
  zip.end();
  return Buffer.concat(chunks);
}

/**
 * Debian's unzip decodes names of archives made on Windows as CP850 and spoils other names. So it only tests the archive
 * and concatenates the contents; names and sizes come from fflate.
 */
function unzipInOrder(zip: Buffer): Tree {
  return inTemporaryFolder((folder) => {
    const file = join(folder, "package.zip");
    writeFileSync(file, zip);
    execFileSync("unzip", ["-tqq", file], { stdio: "pipe" });
    const all = execFileSync("unzip", ["-p", file], { maxBuffer: 1 << 30 });
    let at = 0;
    const pairs = Object.entries(unzipSync(zip)).map(([name, { length }]) => {
      at += length;
      return [name, all.subarray(at - length, at)] as const;
    });
    if (at !== all.length) throw new Error(`unzip found ${all.length} bytes, not ${at}`);
    return Object.fromEntries(pairs);
  });
}

let program: string | undefined;

/** Builds a small program around .NET's System.IO.Compression, once. Returns its path. */
function dotnetProgram(): string {
  if (program !== undefined) return program;
  const folder = resolve(".build/dotnet");
  mkdirSync(folder, { recursive: true });
  for (const name of ["Unzip.cs", "Unzip.csproj"])
    writeFileSync(join(folder, name), readFileSync(join("test/dotnet", name)));
  const env = { ...process.env, DOTNET_CLI_TELEMETRY_OPTOUT: "1", DOTNET_NOLOGO: "1" };
  execFileSync("dotnet", ["build", "-v", "q", "-o", join(folder, "out"), folder], { stdio: "pipe", env });
  program = join(folder, "out", "Unzip.dll");
  return program;
}

/** Checks a package with an independent verifier and returns its inner files. @throws when the verifier refuses it */
export function verifyIntunewin(bytes: Buffer): Tree {
  return inTemporaryFolder((folder) => {
    const file = join(folder, "package.intunewin");
    const out = join(folder, "out");
    writeFileSync(file, bytes);
    const tool = resolve("test/foreign/verify_intunewin.py");
    execFileSync(systemPython, [tool, file, "--strict", "--quiet", "--extract", out], { stdio: "pipe" });
    return treeOf(out);
  });
}
