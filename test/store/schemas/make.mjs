// Makes the data folder of an old version with that version's own code: node test/store/schemas/make.mjs COMMIT…
// Each becomes SCHEMA.json.gz beside this file: the files of its data folder, in base64 by path, and its revision of the
// first printer. A new migration needs the folder of the version before it.
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import initSqlJs from "sql.js";

const here = import.meta.dirname ?? new URL(".", import.meta.url).pathname;
/** @param {string} commit */
async function makeFolder(commit) {
  const work = mkdtempSync(join(tmpdir(), "platen-schema-"));
  const source = join(work, "source");
  const data = join(work, "data");
  try {
    run("git", ["worktree", "add", "--detach", source, commit]);
    run("npm", ["ci"], source);
    run(process.execPath, ["build.mjs"], source);
    const revision = await fill(source, data);
    const { Database } = await initSqlJs();
    const database = new Database(readFileSync(join(data, "platen.sqlite")));
    const schema = Number(database.exec("PRAGMA user_version")[0]?.values[0]?.[0]);
    const kept = readdirSync(data, { recursive: true, encoding: "utf8" })
      .filter((name) => statSync(join(data, name)).isFile() && !/^(?:lock-|backups\/)|\.reserve$/.test(name))
      .sort();
    const files = Object.fromEntries(
      kept.map((name) => [name, readFileSync(join(data, name)).toString("base64")]),
    );
    const name = join(here, `${String(schema).padStart(2, "0")}.json.gz`);
    writeFileSync(name, gzipSync(JSON.stringify({ revision, files }), { level: 9 }));
    console.log(
      `${commit.slice(0, 12)}: schema ${schema}, revision ${revision}, ${kept.length} files, ${statSync(name).size} bytes`,
    );
  } finally {
    run("git", ["worktree", "remove", "--force", source]);
    rmSync(work, { recursive: true, force: true });
  }
}

/**
 * Runs the old service, and makes one record of each kind that it knows.
 * @param {string} source
 * @param {string} data
 * @returns the revision of the first printer
 */
async function fill(source, data) {
  const env = { PATH: process.env.PATH, PORT: "0", HOST: "127.0.0.1", DATA_DIR: data };
  const service = spawn(process.execPath, [join(source, "dist/platen.cjs")], {
    env,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const url = await new Promise((resolve) => {
    service.stdout.setEncoding("utf8").on("data", (text) => {
      const port = /localhost:(\d+)/.exec(text)?.[1];
      if (port !== undefined) resolve(`http://127.0.0.1:${port}`);
    });
  });
  const send = async (/** @type {string} */ path, /** @type {Record<string, string | Blob>} */ fields) => {
    const hasFile = Object.values(fields).some((value) => value instanceof Blob);
    const body = hasFile ? new FormData() : new URLSearchParams();
    for (const [name, value] of Object.entries(fields))
      body instanceof FormData && value instanceof Blob
        ? body.set(name, value, "papyrus.zip")
        : body.set(name, String(value));
    const answer = await fetch(url + path, { method: "POST", body, redirect: "manual" });
    if (answer.status >= 400) console.log(`  ${path} answered ${answer.status}`);
  };
  await send("/clients", { name: "Contoso Büro", notes: "an old client" });
  await send("/drivers/upload", { file: earlier("drivers") });
  const printer = { client_id: "1", driver_id: "1", driver_desc: "Papyrus 100 PS", location: "Hall" };
  await send("/printers", { ...printer, name: "Front Desk", address: "10.0.0.9" });
  await send("/printers", { ...printer, name: "Back Office", address: "10.0.0.10", client_id: "" });
  await send("/printers/1/icon", { file: earlier("icons") });
  await (await fetch(`${url}/printers/1/packages/rmm`)).arrayBuffer();
  await send("/printers", { ...printer, name: "Deleted", address: "10.0.0.11" });
  await send("/printers/3/delete", {});
  const script = await (await fetch(`${url}/printers/1/scripts/detect`)).text();
  await new Promise((resolve) => service.once("exit", resolve).kill("SIGTERM"));
  return /revision\W+'?([0-9a-f]{12})\b/i.exec(script)?.[1];
}

/**
 * The driver ZIP or icon of the folders so far: the first file in a folder of theirs.
 * @param {string} folder
 */
function earlier(folder) {
  const { files } = JSON.parse(gunzipSync(readFileSync(join(here, "17.json.gz"))).toString());
  const name = Object.keys(files).find((path) => path.startsWith(`${folder}/`));
  return new Blob([Buffer.from(files[String(name)], "base64")]);
}

/** @param {string} program @param {string[]} args @param {string} [cwd] */
function run(program, args, cwd) {
  const { status, stderr } = spawnSync(program, args, { cwd, encoding: "utf8" });
  if (status !== 0) throw new Error(`${program} ${args.join(" ")}: ${stderr}`);
}

for (const commit of process.argv.slice(2)) await makeFolder(commit);
