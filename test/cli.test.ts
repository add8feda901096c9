import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { runCommand } from "../src/cli.ts";
import { readConfig, settingsHelp } from "../src/config.ts";
import { parseClient } from "../src/domain/printers/client.ts";
import { schemaVersion } from "../src/store/database/migrations.ts";
import { openStore } from "../src/store/store.ts";
import { bundle, temporaryFolder } from "./support/app.ts";
import { logFiles } from "./support/audit/audit.ts";
import { driverZip } from "./support/drivers/driver-zip.ts";

function run(folder: string, ...args: string[]) {
  return spawnSync(process.execPath, [bundle, ...args], {
    cwd: folder,
    encoding: "utf8",
    env: { PATH: process.env.PATH },
  });
}

/** Runs a command in this process. */
async function runInProcess(...args: string[]) {
  const printed = { stdout: "", stderr: "" };
  const out = (text: string) => {
    printed.stdout += text;
  };
  const err = (text: string) => {
    printed.stderr += text;
  };
  const command = await runCommand(args, "1", { out, err });
  assert.equal(command.kind, "done");
  return { ...printed, status: command.kind === "done" ? command.exitCode : undefined };
}

test("--version and --help print without starting the service", async (t) => {
  const folder = await temporaryFolder(t);

  const version = run(folder, "--version");
  const help = await runInProcess("--help");
  const wrong = run(folder, "serv");

  const commit = spawnSync("git", ["rev-parse", "--short=12", "HEAD"], { encoding: "utf8" }).stdout?.trim();
  assert.equal(
    version.stdout,
    `${JSON.parse(readFileSync("package.json", "utf8")).version} (commit ${commit || "unknown"}, schema ${schemaVersion})\n`,
  );
  for (const name of ["DATA_DIR", "PORT", "HOST", "PUBLIC_URL", "UPLOAD_LIMIT_MB", "inspect"])
    assert.ok(help.stdout.includes(name));
  assert.deepEqual([version.status, help.status, wrong.status], [0, 0, 2]);
  assert.deepEqual(readdirSync(folder), []);
});

test("--licenses prints the licence of everything that is bundled", async (t) => {
  const printed = run(await temporaryFolder(t), "--licenses").stdout;

  const bundled = ["sql.js", "busboy", "streamsearch", "fflate", "oauth4webapi", "saxes", "xmlchars"];
  const elsewhere: Record<string, string> = {
    saxes: "assets/saxes-LICENSE.txt",
    oauth4webapi: "node_modules/oauth4webapi/LICENSE.md",
  };
  for (const name of bundled) {
    const text = readFileSync(elsewhere[name] ?? `node_modules/${name}/LICENSE`, "utf8").trim();
    assert.ok(printed.includes(text), name);
  }
  assert.ok(printed.includes(readFileSync("LICENSE", "utf8").trim()));
  assert.match(printed, /htmx-2[\s\S]*Zero-Clause BSD/);
  const { inputs } = JSON.parse(readFileSync(".build/platen.json", "utf8"));
  const used = new Set(
    Object.keys(inputs).flatMap((path) => /^node_modules\/([\w.-]+)\//.exec(path)?.[1] ?? []),
  );
  assert.deepEqual([...used].sort(), [...bundled].sort());
});

test("inspect prints one JSON object and touches no data folder", async (t) => {
  const folder = await temporaryFolder(t);
  const zip = driverZip({ extra: [{ name: "readme.txt", bytes: "x" }] });
  writeFileSync(join(folder, "driver.zip"), zip);

  const json = run(folder, "inspect", "driver.zip");
  const text = await runInProcess("inspect", "--text", join(folder, "driver.zip"));

  const found = JSON.parse(json.stdout);
  assert.deepEqual([json.status, text.status, existsSync(join(folder, "data"))], [0, 0, false]);
  assert.match(found.sha256, /^[0-9a-f]{64}$/);
  assert.equal(found.printerInf, "papyrus.inf");
  assert.deepEqual(found.package, { fileCount: 4, unused: ["readme.txt"] });
  assert.deepEqual(found.infs["papyrus.inf"], {
    class: "Printer",
    classGuid: "{4D36E979-E325-11CE-BFC1-08002BE10318}",
    isPrinter: true,
    driverModel: "v3",
    provider: "Papyrus",
    driverVer: { date: "06/21/2025", version: "1.2.3.4" },
    catalogs: { default: "papyrus.cat" },
    architectures: ["amd64"],
    descriptions: ["Papyrus 100 PCL6"],
    modelLines: 1,
    manufacturers: ["Papyrus"],
    copyInf: [],
    unused: ["readme.txt"],
    missing: [],
    inCab: 0,
    foundCompressed: 0,
  });
  assert.match(text.stdout, /papyrus\.inf \(the printer’s\)[\s\S]*1\.2\.3\.4 of 06\/21\/2025/);
});

test("inspect reports a file that is not a driver ZIP in one line", async (t) => {
  const folder = await temporaryFolder(t);
  writeFileSync(join(folder, "no.zip"), "no ZIP");

  const answers = [
    run(folder, "inspect", "no.zip"),
    await runInProcess("inspect", join(folder, "missing.zip")),
    await runInProcess("inspect"),
  ];

  const codes = answers.map(({ status }) => status);
  assert.deepEqual(codes, [1, 1, 2]);
  for (const { stderr, stdout } of answers)
    assert.deepEqual([stderr.trim().split("\n").length, stdout], [1, ""]);
  assert.match(answers[0]?.stderr ?? "", /is not a ZIP file/);
});

test("settings have defaults, and every wrong one is named at once", () => {
  const defaults = readConfig({});

  assert.deepEqual(
    [defaults.port, defaults.host, defaults.publicUrl, defaults.uploadLimitBytes],
    [8080, undefined, undefined, 2 ** 30],
  );
  assert.equal(readConfig({ PUBLIC_URL: "https://platen.example/" }).publicUrl, "https://platen.example");
  assert.throws(
    () => readConfig({ PORT: "80a", UPLOAD_LIMIT_MB: "0", PUBLIC_URL: "ftp://x" }),
    ({ message }: Error) => ["PORT", "UPLOAD_LIMIT_MB", "PUBLIC_URL"].every((name) => message.includes(name)),
  );
});

/** The table rows of a page that begin with a setting, as [name, default]. */
function settingsIn(page: string) {
  const rows = readFileSync(page, "utf8").matchAll(/^\| `([A-Z_]+)` +\|([^|]+)\|/gm);
  return [...rows].map(([, name = "", fallback = ""]) => {
    const plain = fallback.replaceAll("`", "").replace(/ \(.*\)/, "");
    return [name, plain.trim()];
  });
}

test("--help, the README and docs/operating.md give the defaults that apply", () => {
  const named = settingsHelp.filter(([, fallback]) => /^[.\d]/.test(fallback));
  const asNamed = Object.fromEntries(named.map(([name, fallback]) => [name, fallback]));
  const help = settingsHelp.map(([name, fallback]) => [name, fallback]);

  const few = settingsIn("README.md");
  const all = settingsIn("docs/operating.md");

  assert.deepEqual(readConfig(asNamed), readConfig({}));
  assert.deepEqual(Object.keys(asNamed), [
    ...["DATA_DIR", "PORT", "BACKUPS", "AUDIT_DAYS"],
    ...["UPLOAD_LIMIT_MB", "OIDC_SESSION_HOURS", "LINK_DAYS"],
  ]);
  const shown = all.filter(([name]) => name !== "TZ");
  assert.deepEqual(shown, help);
  assert.deepEqual(
    few,
    few.map(([name]) => help.find(([other]) => other === name)),
  );
  assert.equal(few.length, 6);
});

test("platen audit verify reports an intact log or the first broken line, and sets the exit code", async (t) => {
  const folder = await temporaryFolder(t);
  const store = await openStore(
    join(folder, "data"),
    () => Date.UTC(2026, 10, 22),
    () => {},
  );
  await store.clients.add(parseClient({ name: "=1+1" }));
  store.audit.record("signed-in", { actor: { who: "admin", from: "10.0.0.1" } });
  await store.audit.flush();

  const beside = await runInProcess("audit", "verify", join(folder, "data"));
  await store.close();
  const [path = ""] = logFiles(join(folder, "data"));
  const csv = run(folder, "audit", "export", "--csv");
  writeFileSync(path, readFileSync(path, "utf8").replace("10.0.0.1", "10.0.0.2"));
  const broken = run(folder, "audit", "verify");
  const wrong = await runInProcess("audit", "vrfy");

  assert.match(beside.stdout, /^2 entries are intact\. The last one is number 2, [0-9a-f]{64}\.\n$/);
  assert.match(csv.stdout, /\n1,2026-11-22T00:00:00\.000Z,platen,,created,client,1,'=1\+1,name: =1\+1,/);
  assert.equal(
    broken.stderr,
    "platen: audit/2026-11.jsonl, line 2: changed: this line is not entry 2 as it was written.\n1 entries before it are intact, up to number 1.\n",
  );
  const codes = [beside, csv, broken, wrong].map(({ status }) => status);
  assert.deepEqual(codes, [0, 0, 1, 2]);
});
