// What the bundle is made of: licences to print and a CycloneDX bill of materials, both from what is installed alone.
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import initSqlJs from "sql.js";

/** @type {(path: string) => any} */
const json = (path) => JSON.parse(readFileSync(path, "utf8"));
const text = (/** @type {string} */ path) => readFileSync(path, "utf8");

const database = new (await initSqlJs()).Database();
const sqliteVersion = String(database.exec("SELECT sqlite_version()")[0]?.values[0]?.[0]);
database.close();

const [htmx = ""] = readdirSync("assets").filter((name) => /^htmx-.*\.js$/.test(name));

/** The licences of Platen itself and of everything that the bundle holds, each under its name and version. */
export function licences() {
  const { version, dependencies } = json("package.json");
  const texts = [`Platen ${version}\n\n${text("LICENSE")}`];
  const waiting = Object.keys(dependencies);
  for (const name of waiting) {
    const folder = `node_modules/${name}`;
    const { version, dependencies = {} } = json(`${folder}/package.json`);
    waiting.push(...Object.keys(dependencies).filter((needed) => !waiting.includes(needed)));
    texts.push(`${name} ${version}\n\n${licenceOf(name, folder)}`);
  }
  texts.push(text("assets/sqlite-NOTICE.txt"));
  texts.push(`${htmx}\n\n${text("assets/htmx-LICENSE.txt")}`);
  return texts.map((part) => part.trim()).join(`\n\n${"-".repeat(80)}\n\n`);
}

/** Of packages that bring no licence's file a copy lies in assets. @type {(name: string, folder: string) => string} */
function licenceOf(name, folder) {
  const own = [`${folder}/LICENSE`, `${folder}/LICENSE.md`].find((path) => existsSync(path));
  return text(own ?? `assets/${name}-LICENSE.txt`);
}

/**
 * A CycloneDX 1.6 bill of materials: scope "required" is in the bundle, "excluded" only built or tested it. Nothing in it
 * depends on when, where or by whom it is made; its serial number is its contents' digest.
 */
export function billOfMaterials() {
  const { name, version, description } = json("package.json");
  const { packages } = json("package-lock.json");
  const folders = Object.keys(packages).filter((folder) => folder !== "");
  const root = purl("generic", name, version);
  const bill = {
    $schema: "http://cyclonedx.org/schema/bom-1.6.schema.json",
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    version: 1,
    metadata: {
      lifecycles: [{ phase: "build" }],
      component: {
        type: "application",
        "bom-ref": root,
        name,
        version,
        description,
        licenses: licenseOf("MIT"),
        purl: root,
      },
    },
    components: [...folders.map((folder) => component(folder, packages[folder])), htmxComponent()],
    dependencies: [
      {
        ref: root,
        dependsOn: [...neededBy("", packages[""]), htmxComponent().purl].sort(),
      },
      ...folders.map((folder) => ({
        ref: purl("npm", nameOf(folder), packages[folder].version),
        dependsOn: neededBy(folder, packages[folder]),
      })),
      { ref: htmxComponent().purl, dependsOn: [] },
    ],
  };
  const digest = createHash("sha256").update(JSON.stringify(bill)).digest("hex");
  // A UUID of version 8: its makers define what it is made of (RFC 9562, 5.8).
  const uuid = [
    digest.slice(0, 8),
    digest.slice(8, 12),
    `8${digest.slice(13, 16)}`,
    `a${digest.slice(17, 20)}`,
  ];
  return { ...bill, serialNumber: `urn:uuid:${[...uuid, digest.slice(20, 32)].join("-")}` };

  /**
   * @param {string} folder
   * @param {{ dependencies?: Record<string, string>, optionalDependencies?: Record<string, string> }} entry
   */
  function neededBy(folder, { dependencies = {}, optionalDependencies = {} }) {
    const names = Object.keys({ ...dependencies, ...optionalDependencies });
    return names
      .flatMap((needed) => {
        // A package's own copy comes first, as Node resolves it.
        const own = packages[`${folder}/node_modules/${needed}`] ?? packages[`node_modules/${needed}`];
        return own === undefined ? [] : [purl("npm", needed, own.version)];
      })
      .sort();
  }
}

/**
 * What one package of the lockfile is.
 * @param {string} folder
 * @param {{ version: string, dev?: boolean, license?: string, integrity?: string }} entry
 */
function component(folder, { version, dev, license, integrity }) {
  const name = nameOf(folder);
  const hex = Buffer.from(integrity?.replace("sha512-", "") ?? "", "base64").toString("hex");
  return {
    type: "library",
    "bom-ref": purl("npm", name, version),
    name,
    version,
    scope: dev ? "excluded" : "required",
    ...(integrity === undefined ? {} : { hashes: [{ alg: "SHA-512", content: hex }] }),
    licenses: licenseOf(license ?? json(`${folder}/package.json`).licenses[0].type),
    purl: purl("npm", name, version),
    ...(name === "sql.js" ? { components: compiledParts() } : {}),
  };
}

/** What sql.js was compiled from. */
function compiledParts() {
  const sqlite = {
    type: "library",
    name: "sqlite",
    version: sqliteVersion,
    scope: "required",
    licenses: licenseOf("blessing"),
    cpe: `cpe:2.3:a:sqlite:sqlite:${sqliteVersion}:*:*:*:*:*:*:*`,
    purl: purl("generic", "sqlite", sqliteVersion),
  };
  const others = [
    ["sqlite-extension-functions", undefined],
    ["emscripten", "MIT"],
    ["musl", "MIT"],
    ["compiler-rt", "Apache-2.0 WITH LLVM-exception"],
  ].map(([name, license]) => ({
    type: "library",
    name,
    scope: "required",
    ...(license === undefined ? {} : { licenses: licenseOf(license) }),
  }));
  return [sqlite, ...others];
}

/** The one part that is no package: it lies beside our own assets. */
function htmxComponent() {
  const version = /^htmx-([\d.]+)\.min\.js$/.exec(htmx)?.[1] ?? "";
  const content = createHash("sha256")
    .update(readFileSync(`assets/${htmx}`))
    .digest("hex");
  return {
    type: "library",
    "bom-ref": purl("npm", "htmx.org", version),
    name: "htmx.org",
    version,
    description: `vendored as assets/${htmx}, whose hash this is`,
    scope: "required",
    hashes: [{ alg: "SHA-256", content }],
    licenses: licenseOf("0BSD"),
    purl: purl("npm", "htmx.org", version),
  };
}

/** @param {string} folder */
function nameOf(folder) {
  return folder.slice(folder.lastIndexOf("node_modules/") + "node_modules/".length);
}

/** @param {string} type @param {string} name @param {string} version */
function purl(type, name, version) {
  return `pkg:${type}/${name.replace("@", "%40")}@${version}`;
}

/** A licence's SPDX identifier, or an expression of several. @param {string} license */
function licenseOf(license) {
  return license.includes(" ") ? [{ expression: license }] : [{ license: { id: license } }];
}
