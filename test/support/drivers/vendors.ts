import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { type TestContext, test } from "node:test";
import { cabinet } from "./programs.ts";
import { makeZip } from "./zip.ts";

/** A vendor's driver package of which the INFs are here. */
export interface VendorPackage {
  readonly name: string;
  /** The INFs by path. */
  readonly infs: ReadonlyMap<string, Buffer>;
  /** What an independent reader found, if the folder has it. */
  // biome-ignore lint/suspicious/noExplicitAny: JSON of a form that ../shared/inf/README.md describes
  readonly expected: any;
  /** A driver ZIP of it: the INFs, and other bytes for all other files. @param share of their sizes; default: a few bytes each */
  zip(share?: number): Buffer;
}

/** The folder of the packages. Their INFs are their vendors' and not part of the project. */
const folder = process.env.PLATEN_INF_CORPUS ?? resolve("../shared/inf");

const listed = new Map<string, { readonly path: string; readonly sha256: string }[]>();
for (const line of readFileSync("test/foreign/vendor-infs.tsv", "utf8").trim().split("\n")) {
  const [name = "", path = "", , , , sha256 = ""] = line.split("\t");
  if (!line.startsWith("#")) listed.set(name, [...(listed.get(name) ?? []), { path, sha256 }]);
}

/** The packages whose INFs are all here. @throws AssertionError if an INF is not the listed one */
export function vendorPackages(): VendorPackage[] {
  const whole = [...listed].filter(([name, infs]) =>
    infs.every(({ path }) => existsSync(join(folder, name, path))),
  );
  return whole.map(([name, infs]) => readPackage(name, infs));
}

function readPackage(name: string, infs: NonNullable<ReturnType<typeof listed.get>>): VendorPackage {
  const pathOf = (path: string) => join(folder, name, path);
  const bytes = new Map(infs.map(({ path }) => [path, readFileSync(pathOf(path))]));
  for (const { path, sha256 } of infs) {
    const hash = createHash("sha256").update(bytes.get(path) ?? "");
    if (hash.digest("hex") !== sha256)
      throw new Error(`${name}/${path} is not the INF in test/foreign/vendor-infs.tsv`);
  }
  const read = (path: string) => (existsSync(pathOf(path)) ? String(readFileSync(pathOf(path))) : undefined);
  const lines = read("files.txt")?.split("\n").filter(Boolean) ?? [...bytes.keys()];
  const files = lines
    .map((line) => line.split("\t"))
    .map(([path = "", size]) => [path, Number(size) || 6e6] as const);
  const cabinets: Record<string, string[]> = JSON.parse(read("cabs.json") ?? "{}");
  const contentOf = (path: string, size: number) =>
    bytes.get(path) ?? (cabinets[path] ? cabinet(cabinets[path]) : Buffer.alloc(Math.ceil(size), path));
  return {
    name,
    infs: bytes,
    expected: JSON.parse(read("expected.json") ?? "null") ?? undefined,
    zip: (share = 0) =>
      makeZip(files.map(([path, size]) => ({ name: path, bytes: contentOf(path, size * share + 8) }))),
  };
}

/** Declares a test of the packages that are here. It says how many; without any, it reads none. */
export function vendorTest(
  name: string,
  run: (packages: ReadonlyMap<string, VendorPackage>, t: TestContext) => void | Promise<void>,
): void {
  test(name, async (t) => {
    const packages = vendorPackages();
    const missing = packages.length === listed.size ? "" : "; PLATEN_INF_CORPUS names a folder of them";
    console.log(`${packages.length} of ${listed.size} vendors' packages were read${missing}: ${name}`);
    if (packages.length > 0) await run(new Map(packages.map((each) => [each.name, each])), t);
  });
}
