import assert from "node:assert/strict";
import { copyFileSync, cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { backupCommand, restoreCommand } from "../../src/cli/backups.ts";
import { openStore } from "../../src/store/store.ts";
import { filesPathOf, type Guarded, startGuarded, statusesOf } from "../support/access/guarded.ts";
import { signInAdmin, startClosed } from "../support/access/people.ts";
import { temporaryFolder } from "../support/app.ts";
import { entriesIn } from "../support/audit/audit.ts";
import { editDatabase } from "../support/database.ts";
import { deepTest } from "../support/depth.ts";

const install = "/printers/1/scripts/install";

/** Runs `platen backup` or `platen restore` on a data folder. */
async function run(command: typeof restoreCommand, dataDir: string, file: string) {
  let stderr = "";
  const err = (text: string) => {
    stderr += text;
  };
  const status = await command([file], { dataDir, version: "1.0.0", now: Date.now(), err });
  return { status, stderr };
}

test("a restore lists the accounts and tokens that have access, without control characters from their names", async (t) => {
  const folder = await temporaryFolder(t);
  const [dataDir, file] = [join(folder, "data"), join(folder, "all.tar")];
  const app = await startClosed(t, { dataDir, clock: Date.now });
  const cookie = await signInAdmin(app);
  await app.app.store.accounts.add("jo", "operator");
  await app.app.store.accounts.setDisabled(await app.app.store.accounts.add("left", "viewer"), true);
  for (const name of ["Datto", "Old"])
    await app.post("/tokens", { name, scope: "read", days: "30" }, { cookie });
  await app.stop();
  await editDatabase(join(dataDir, "platen.sqlite"), (db) => {
    db.exec("UPDATE tokens SET expires_at = 1 WHERE name = 'Old'");
    db.run("UPDATE accounts SET name = ? WHERE name = 'jo'", ["jo\u001b[2J\nadmin"]);
  });
  await run(backupCommand, dataDir, file);
  await editDatabase(join(dataDir, "platen.sqlite"), (db) =>
    db.exec("UPDATE accounts SET disabled = 1; UPDATE tokens SET expires_at = 1"),
  );
  await run(backupCommand, dataDir, join(folder, "none.tar"));

  const { status, stderr } = await run(restoreCommand, join(folder, "other"), file);
  const none = await run(restoreCommand, join(folder, "third"), join(folder, "none.tar"));

  assert.deepEqual([status, none.status], [0, 0], stderr + none.stderr);
  const lines = stderr.split("\n").filter((line) => line.startsWith("  "));
  const until = new Date(Date.now() + 30 * 24 * 60 * 60_000).toISOString().slice(0, 10);
  assert.deepEqual(lines, [
    "  account “admin”, admin",
    "  account “jo[2Jadmin”, operator",
    `  token “Datto”, read access to everything, until ${until}`,
  ]);
  assert.match(none.stderr, /These have access:\n {2}no account and no token\n/);
});

type Past = Awaited<ReturnType<typeof makePast>>;

/**
 * Makes a full backup and an automatic one of one printer with links. Then ends these links, and makes a link to a second
 * printer. `start` starts the service on a data folder.
 */
async function makePast(t: TestContext) {
  const folder = await temporaryFolder(t);
  const [dataDir, tar] = [join(folder, "data"), join(folder, "all.tar")];
  let now = Date.UTC(2026, 10, 20, 9);
  const start = (where = dataDir) => {
    now += 60_000;
    return startGuarded(t, { dataDir: where, clock: () => ++now });
  };
  const first = await start();
  await first.admin.addPrinter();
  const ended = [await first.linkTo(install), await filesPathOf(first.viewer, install)];
  await first.service.app.backups.makeNow();
  await first.service.stop();
  await run(backupCommand, dataDir, tar);
  const second = await start();
  for (const record of ["printers", "drivers"]) await second.operator.post(`/${record}/1/links/end`, {});
  await second.admin.addPrinter({ name: "Later", driver_id: "1" });
  const later = await second.linkTo("/printers/2/scripts/install");
  assert.equal((await second.service.fetch(later)).status, 200);
  await second.service.stop();
  return { dataDir, tar, state: statesIn(dataDir)[0] ?? "", ended, later, start };
}

/** The paths of the automatic backups, oldest first. */
function statesIn(dataDir: string): string[] {
  const names = readdirSync(join(dataDir, "backups")).filter((name) => name.endsWith(".sqlite"));
  return names.sort().map((name) => join(dataDir, "backups", name));
}

/** The statuses of the links after a new printer was made, which may have the second printer's id. */
async function statusesOn({ service, admin, linkTo }: Guarded, { ended, later }: Past) {
  const id = await admin.addPrinter({ name: "Another", driver_id: "1" });
  return statusesOf(service, [...ended, later, await linkTo(`/printers/${id}/scripts/install`)]);
}

const allEnded = [403, 403, 403, 200];

test("a restored backup revives no link, and no link opens a later record with the same id", async (t) => {
  const past = await makePast(t);

  const { stderr } = await run(restoreCommand, past.dataDir, past.tar);
  const statuses = await statusesOn(await past.start(), past);

  assert.deepEqual(statuses, allEnded);
  const times = /the state of 2026-11-20T09:\S+Z, from a backup made 20\d\d-\S+Z, by platen restore$/;
  const restores = entriesIn(past.dataDir).filter(({ event }) => event === "backup-restored");
  assert.equal(restores.length, 1);
  assert.match(restores[0]?.what ?? "", times);
  assert.match(stderr, /All links have ended, also those in scripts: download the scripts again/);
});

deepTest("no link comes back with --recover, a copied daily state, or a new database", async (t) => {
  const past = await makePast(t);
  const path = join(past.dataDir, "platen.sqlite");
  const warningsOf = ({ service }: Guarded) =>
    service.lines.filter((line) => line.includes("all links made until now")).length;

  copyFileSync(past.state, path);
  const copied = await past.start();
  const statuses = [await statusesOn(copied, past)];
  await copied.service.stop();
  const restarted = await past.start();
  await restarted.service.stop();
  for (const state of statesIn(past.dataDir).slice(1)) rmSync(state);
  writeFileSync(path, readFileSync(path).fill(7, 4200, 9000));
  const lines: string[] = [];
  const store = await openStore(past.dataDir, Date.now, (line) => lines.push(line), { recover: true });
  await store.close();
  const recovered = await past.start();
  statuses.push(await statusesOn(recovered, past));
  await recovered.service.stop();
  rmSync(path);
  const anew = await past.start();
  await anew.admin.addPrinter();
  statuses.push(await statusesOn(anew, past));

  assert.deepEqual(statuses, [allEnded, allEnded, allEnded]);
  assert.deepEqual([copied, restarted].map(warningsOf), [1, 0]);
  const recoveries = entriesIn(past.dataDir).filter(({ event }) => event === "recovered");
  assert.match(recoveries.map(({ what }) => what).join(), /^platen-\S+\.sqlite, the state of \S+Z$/);
  assert.match(lines.join("\n"), /links have ended: scripts that were downloaded without a package/);
});

test("after a folder is copied back by hand, no link opens a later record with the same id", async (t) => {
  const past = await makePast(t);
  const copy = join(past.dataDir, "copy");
  mkdirSync(copy);
  await run(restoreCommand, copy, past.tar);
  for (const name of ["platen.sqlite", "secret"]) rmSync(join(copy, name));
  cpSync(past.state, join(copy, "platen.sqlite"));
  cpSync(join(past.dataDir, "secret"), join(copy, "secret"));

  const [, , later, fresh] = await statusesOn(await past.start(copy), past);

  assert.deepEqual([later, fresh], [403, 200]);
});
