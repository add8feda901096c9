// Preloaded into the bundled service and its threads: while the file FAILING_DISK holds an error's code, what it does to its
// disk below FAILING_FOLDER fails with it. `EIO` all of it, `EIO 5` from the fifth call on, `EIO sync` what is synchronous.
const fs = require("node:fs");
const { isMainThread } = require("node:worker_threads");

const { readFileSync, appendFileSync, readlinkSync } = fs;
const control = process.env.FAILING_DISK ?? "";
const folder = process.env.FAILING_FOLDER ?? "";
let count = 0;
let before = "";

/** What only reads works on a disk that takes nothing. */
const reading = /^(?:access|readdir|readFile|stat|lstat|fstat|statfs|read|readv|close|realpath)(?:Sync)?$/;

/** @param {string} name @param {string} path */
function failWhereAsked(name, path) {
  if (path !== folder && !path.startsWith(`${folder}/`)) return;
  const asked = readFileSync(control, "utf8");
  if (asked !== before) [before, count] = [asked, 0];
  const [code = "", which = "1"] = asked.split(" ");
  const isReading = reading.test(name) && (code === "ENOSPC" || code === "EROFS");
  const isAsked = which === "sync" ? name.endsWith("Sync") : ++count >= Number(which);
  if (code === "" || isReading || !isAsked) return;
  appendFileSync(
    `${control}.hits`,
    `${isMainThread ? "main" : "thread"} ${name} ${path.slice(folder.length)}\n`,
  );
  throw Object.assign(new Error(`${code}: injected, ${name}`), { code });
}

/** @param {any} descriptor */
function pathOf(descriptor) {
  try {
    return typeof descriptor === "number" ? readlinkSync(`/proc/self/fd/${descriptor}`) : String(descriptor);
  } catch {
    return "";
  }
}

/** @param {any} owner @param {string} name @param {(self: any, first: any) => string} where */
function replace(owner, name, where) {
  const original = owner[name];
  /** @this {any} @param {any[]} args */
  function replaced(...args) {
    const path = where(this, args[0]);
    if (name.endsWith("Sync")) {
      failWhereAsked(name, path);
      return original.apply(this, args);
    }
    return Promise.resolve().then(() => {
      failWhereAsked(name, path);
      return original.apply(this, args);
    });
  }
  owner[name] = replaced;
}

for (const name of ["openSync", "readdirSync", "lstatSync", "rmSync", "readvSync", "readSync", "fstatSync"])
  replace(fs, name, (_, first) => pathOf(first));
for (const name of [
  "access",
  "mkdir",
  "open",
  "readdir",
  "readFile",
  "rename",
  "rm",
  "stat",
  "statfs",
  "writeFile",
])
  replace(fs.promises, name, (_, path) => String(path));
void fs.promises.open(__filename, "r").then(async (handle) => {
  const methods = Object.getPrototypeOf(handle);
  await handle.close();
  for (const name of [
    "datasync",
    "read",
    "readFile",
    "readv",
    "stat",
    "sync",
    "truncate",
    "write",
    "writev",
    "writeFile",
  ])
    replace(methods, name, (self) => pathOf(self.fd));
});
