// Preloaded into the bundled service and its threads. While the file FAILING_DISK contains an error code, disk calls below
// FAILING_FOLDER fail with it: all calls for `EIO`, from the fifth on for `EIO 5`, only synchronous ones for `EIO sync`.
const fs = require("node:fs");
const { isMainThread } = require("node:worker_threads");

const { readFileSync, appendFileSync, readlinkSync } = fs;
const control = process.env.FAILING_DISK ?? "";
const folder = process.env.FAILING_FOLDER ?? "";
let count = 0;
let before = "";

/** Calls that only read. They work on a full or read-only disk. */
const reading = /^(?:access|readdir|readFile|stat|lstat|fstat|statfs|read|readv|close|realpath)(?:Sync)?$/;

/** @param {string} name @param {string} path */
function failIfConfigured(name, path) {
  if (path !== folder && !path.startsWith(`${folder}/`)) return;
  const setting = readFileSync(control, "utf8");
  if (setting !== before) [before, count] = [setting, 0];
  const [code = "", which = "1"] = setting.split(" ");
  const isReading = reading.test(name) && (code === "ENOSPC" || code === "EROFS");
  const isSelected = which === "sync" ? name.endsWith("Sync") : ++count >= Number(which);
  if (code === "" || isReading || !isSelected) return;
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
      failIfConfigured(name, path);
      return original.apply(this, args);
    }
    return Promise.resolve().then(() => {
      failIfConfigured(name, path);
      return original.apply(this, args);
    });
  }
  owner[name] = replaced;
}

for (const name of ["openSync", "readdirSync", "lstatSync", "rmSync", "readvSync", "readSync", "fstatSync"])
  replace(fs, name, (_, first) => pathOf(first));
for (const name of "access mkdir open readdir readFile rename rm stat statfs writeFile".split(" "))
  replace(fs.promises, name, (_, path) => String(path));
void fs.promises.open(__filename, "r").then(async (handle) => {
  const methods = Object.getPrototypeOf(handle);
  await handle.close();
  for (const name of "datasync read readFile readv stat sync truncate write writev writeFile".split(" "))
    replace(methods, name, (self) => pathOf(self.fd));
});
