import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { cpSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import initSqlJs from "sql.js";
import wasm from "sql.js/dist/sql-wasm.wasm";
import { bundle, temporaryFolder } from "./support/app.ts";
import { deepTest } from "./support/depth.ts";

const digestOf = (path: string) => createHash("sha256").update(readFileSync(path)).digest("hex");
const printed = (argument: string) =>
  spawnSync(process.execPath, [bundle, argument], { encoding: "utf8", env: { PATH: process.env.PATH } })
    .stdout;

/** The files that the image's build stage copies from the project; its build has no others. */
function copiedByImage(): string[] {
  const [stage = ""] = readFileSync("Dockerfile", "utf8")
    .split(/^FROM /m)
    .slice(1);
  const lines = [...stage.matchAll(/^COPY (.+) \S+$/gm)];
  return lines.flatMap(([, names = ""]) => names.split(" "));
}

/** The commit in the bundle: the copies have no repository. */
const commit = /commit (\w+)/.exec(printed("--version"))?.[1] ?? "";

/** The packages that the build loads, with their dependencies. */
const installed = [
  "busboy",
  "streamsearch",
  "fflate",
  "oauth4webapi",
  "saxes",
  "xmlchars",
  "sql.js",
  "marked",
  "esbuild",
  "@esbuild",
];

/** Builds a copy of the project in a folder, with another locale and time zone. @returns the build's output */
function buildIn(folder: string, environment: Record<string, string>): string {
  for (const name of copiedByImage()) cpSync(name, join(folder, name), { recursive: true });
  for (const name of installed) {
    const from = join("node_modules", name);
    const filter = (path: string) => !/sqljs-|-debug|asm-memory|worker\.|inline|-browser/.test(path);
    cpSync(from, join(folder, from), { recursive: true, filter });
  }
  const env = { PATH: process.env.PATH ?? "", PLATEN_COMMIT: commit, ...environment };
  const run = spawnSync(process.execPath, ["build.mjs"], { cwd: folder, encoding: "utf8", env });
  assert.equal(run.status, 0, run.stderr);
  return run.stdout;
}

deepTest("builds in two folders give the same bytes and print the same digest", async (t) => {
  const outer = await temporaryFolder(t);
  const folders = [join(outer, "a"), join(outer, "a folder with a much longer name", "b")] as const;
  for (const folder of folders) mkdirSync(folder, { recursive: true });

  const said = [
    buildIn(folders[0], { TZ: "America/New_York", LC_ALL: "C", HOME: "/nowhere" }),
    buildIn(folders[1], {
      TZ: "Asia/Tokyo",
      LC_ALL: "tr_TR.UTF-8",
      USER: "somebody",
      SOURCE_DATE_EPOCH: "1",
    }),
  ];

  for (const name of ["platen.cjs", "platen.cdx.json"]) {
    const digests = [...folders, "."].map((folder) => digestOf(join(folder, "dist", name)));
    assert.equal(new Set(digests).size, 1, name);
  }
  const line = `sha256 ${digestOf(bundle)} dist/platen.cjs\n`;
  assert.deepEqual(said, [line, line]);
  const program = readFileSync(bundle, "latin1");
  for (const place of [outer, process.cwd()]) assert.ok(!program.includes(place), place);
});

interface Component {
  readonly type: string;
  readonly name: string;
  readonly version?: string;
  readonly scope: string;
  readonly purl?: string;
  readonly "bom-ref"?: string;
  readonly hashes?: readonly { readonly alg: string; readonly content: string }[];
  readonly licenses?: readonly { readonly license?: { readonly id: string }; readonly expression?: string }[];
  readonly components?: readonly Component[];
}

interface Bill {
  readonly bomFormat: string;
  readonly specVersion: string;
  readonly version: number;
  readonly serialNumber: string;
  readonly metadata: { readonly component: Component; readonly timestamp?: string };
  readonly components: readonly Component[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[];
}

const hashLengths: Record<string, number> = { "SHA-256": 64, "SHA-512": 128 };

interface LockedPackage {
  readonly version: string;
  readonly integrity?: string;
}

function checkComponent(component: Component, lock: Record<string, LockedPackage>): void {
  const { type, name, version, scope, purl, hashes = [], licenses = [] } = component;
  assert.equal(type, "library");
  assert.match(version ?? "", /^\d+\.\d+\.\d+(?:-alpha\.\d+)?$/, name);
  assert.equal(purl, `pkg:npm/${name.replace("@", "%40")}@${version}`);
  assert.equal(licenses.length, 1, name);
  assert.ok(licenses[0]?.license?.id ?? licenses[0]?.expression, name);
  for (const { alg, content } of hashes) assert.equal(content.length, hashLengths[alg], name);
  if (scope === "required") assert.equal(hashes.length, 1, name);
  const [, locked] =
    Object.entries(lock).find(
      ([folder, entry]) => folder.endsWith(`node_modules/${name}`) && entry.version === version,
    ) ?? [];
  const integrity = locked?.integrity;
  if (integrity !== undefined) {
    assert.equal(`sha512-${Buffer.from(hashes[0]?.content ?? "", "hex").toString("base64")}`, integrity);
  }
}

test("--sbom prints a CycloneDX bill that tells bundled packages from build tools", async () => {
  const lock = JSON.parse(readFileSync("package-lock.json", "utf8")).packages;

  const text = printed("--sbom");
  const bill: Bill = JSON.parse(text);

  assert.equal(text, readFileSync("dist/platen.cdx.json", "utf8"));
  assert.deepEqual([bill.bomFormat, bill.specVersion, bill.version], ["CycloneDX", "1.6", 1]);
  assert.match(
    bill.serialNumber,
    /^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-a[0-9a-f]{3}-[0-9a-f]{12}$/,
  );
  assert.equal(bill.metadata.timestamp, undefined);
  assert.equal(bill.components.length, Object.keys(lock).length, "every package of the lockfile, and htmx");
  for (const component of bill.components) checkComponent(component, lock);
  const refs = [bill.metadata.component, ...bill.components].map((component) => component["bom-ref"]);
  assert.deepEqual(bill.dependencies.map(({ ref }) => ref).sort(), [...refs].sort());
  assert.equal(new Set(refs).size, refs.length);
  for (const { dependsOn } of bill.dependencies)
    for (const needed of dependsOn) assert.ok(refs.includes(needed));
});

test("the bill's bundled packages are those in the bundle, down to SQLite inside sql.js", async () => {
  const bill: Bill = JSON.parse(printed("--sbom"));
  const { inputs } = JSON.parse(readFileSync(".build/platen.json", "utf8"));
  const Sql = await initSqlJs({ wasmBinary: wasm.buffer as ArrayBuffer });
  const sqlite = new Sql.Database().exec("SELECT sqlite_version()")[0]?.values[0]?.[0];

  const paths = Object.keys(inputs);
  const used = paths.flatMap((path) => /^node_modules\/((?:@[\w.-]+\/)?[\w.-]+)\//.exec(path)?.[1] ?? []);
  const required = bill.components.filter(({ scope }) => scope === "required");
  const htmx = required.find(({ name }) => name === "htmx.org");

  assert.deepEqual(required.map(({ name }) => name).sort(), [...new Set([...used, "htmx.org"])].sort());
  const vendored = paths.find((path) => path.startsWith("assets/htmx-")) ?? "";
  assert.equal(vendored, `assets/htmx-${htmx?.version}.min.js`);
  assert.equal(htmx?.hashes?.[0]?.content, digestOf(vendored));
  const parts = required.find(({ name }) => name === "sql.js")?.components ?? [];
  assert.equal(parts.find(({ name }) => name === "sqlite")?.version, sqlite);
  const notices = printed("--licenses");
  for (const { name, version } of required) {
    const title = name === "htmx.org" ? `htmx-${version}` : `${name} ${version}`;
    assert.ok(notices.includes(title), title);
  }
  for (const { name } of parts) assert.match(notices, new RegExp(name.replace("sqlite-", ""), "i"), name);
});

test("the image is built on one base image with a pinned digest, and copies all that the build reads", () => {
  const dockerfile = readFileSync("Dockerfile", "utf8");

  const bases = [...dockerfile.matchAll(/^FROM (\S+)/gm)].map(([, image]) => image);
  const [, pinned = ""] = /^ARG NODE_IMAGE=(\S+)$/m.exec(dockerfile) ?? [];

  assert.deepEqual([...new Set(bases)], [`\${${"NODE_IMAGE"}}`]);
  assert.match(pinned, /^node:\d+-[a-z]+-slim@sha256:[0-9a-f]{64}$/);
  const ignored = readFileSync(".dockerignore", "utf8").split("\n");
  const present = readdirSync(".");
  for (const name of copiedByImage()) assert.ok(present.includes(name) && !ignored.includes(name), name);
});

test("the bundle opens no connections but to the provider of OIDC_ISSUER and to the lock's socket", () => {
  const paths = readdirSync("src", { recursive: true, encoding: "utf8" }).filter((name) =>
    name.endsWith(".ts"),
  );
  const used = paths.flatMap((path) => {
    const source = readFileSync(join("src", path), "utf8");
    const imports = source.matchAll(
      /^import (?:type )?\{([^}]*)\} from "node:(https?2?|net|tls|dgram|dns|dns\/promises)"/gm,
    );
    const names = [...imports].flatMap(([, list = "", module]) =>
      list.split(",").map((name) => `${module} ${name.trim()}`),
    );
    const calls = /(?<!\w)(?:fetch\(|WebSocket)/.test(source) ? [`fetch in ${path}`] : [];
    return [...names, ...calls].filter((name) => !/ (?:type )?[A-Z]| isIP| createServer$|^\w+ $/.test(name));
  });

  const provider = join("services", "access", "oidc.ts");
  assert.deepEqual([...new Set(used)].sort(), [`fetch in ${provider}`, "net connect"]);
  const including = (pattern: RegExp) =>
    paths.filter((path) => pattern.test(readFileSync(join("src", path), "utf8")));
  assert.deepEqual(including(/\bconnect\(/), [join("store", "database", "lock.ts")]);
  assert.deepEqual(including(/from "oauth4webapi"/), [provider]);
});
