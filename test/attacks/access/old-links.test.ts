import assert from "node:assert/strict";
import { copyFileSync, cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { openStore } from "../../../src/store/store.ts";
import { downloadPathIn, type Guarded, startGuarded } from "../../support/access/guarded.ts";
import { temporaryFolder } from "../../support/app.ts";
import { runPlaten } from "../../support/backup/backup.ts";
import { deepTest } from "../../support/depth.ts";

const minute = 60_000;

interface Past {
  readonly folder: string;
  readonly dataDir: string;
  /** A full backup from the time of one printer with valid links. */
  readonly tar: string;
  /** The automatic backup of that time. */
  readonly state: string;
  /** Links to the first printer and its driver, which were ended after the backup. */
  readonly ended: readonly string[];
  /** A link to a second printer, which is not in the backup. */
  readonly later: string;
  /** Starts the service on a data folder. */
  readonly start: (dataDir?: string) => Promise<Guarded>;
}

const install = (id: number) => `/printers/${id}/scripts/install`;

/** Makes a link to a printer's script. */
async function linkTo({ operator }: Guarded, id: number): Promise<string> {
  const page = await (
    await operator.post(`/printers/${id}/links`, { address: install(id), days: "7" })
  ).text();
  return /\/printers\/\d+\/scripts\/install\?link=[\w.-]+/.exec(page)?.[0] ?? page;
}

/** Makes a backup, then ends all links, and makes a link to a new printer. */
async function makePast(t: TestContext): Promise<Past> {
  const folder = await temporaryFolder(t);
  const [dataDir, tar] = [join(folder, "data"), join(folder, "all.tar")];
  let now = Date.UTC(2026, 10, 20, 9);
  const start = (where = dataDir) => {
    now += minute;
    return startGuarded(t, { dataDir: where, clock: () => ++now });
  };
  const first = await start();
  await first.admin.addPrinter();
  const script = await linkTo(first, 1);
  const files = downloadPathIn(await (await first.viewer.fetch(install(1))).text());
  await first.service.app.backups.makeNow();
  await first.service.stop();
  runPlaten(dataDir, "backup", tar);
  const second = await start();
  for (const record of ["printers", "drivers"]) await second.operator.post(`/${record}/1/links/end`, {});
  await second.admin.addPrinter({ name: "Later", driver_id: "1" });
  const later = await linkTo(second, 2);
  assert.equal((await second.service.fetch(later)).status, 200);
  await second.service.stop();
  const [state = ""] = readdirSync(join(dataDir, "backups"))
    .filter((name) => name.endsWith(".sqlite"))
    .sort();
  return {
    ...{ folder, dataDir, tar, later, start, ended: [script, files] },
    state: join(dataDir, "backups", state),
  };
}

/** The statuses of the links after a new printer was made, which may have the second printer's id. */
async function statusesOn(guarded: Guarded, { ended, later }: Past) {
  const id = await guarded.admin.addPrinter({ name: "Another", driver_id: "1" });
  const ask = async (path: string) => (await guarded.service.fetch(path)).status;
  return {
    ended: await Promise.all(ended.map(ask)),
    later: await ask(later),
    fresh: await ask(await linkTo(guarded, id)),
  };
}

const allEnded = { ended: [403, 403], later: 403, fresh: 200 };

test("a restored backup revives no link, and no link opens a later record with the same id", async (t) => {
  const past = await makePast(t);

  const { stderr } = runPlaten(past.dataDir, "restore", past.tar);
  const statuses = await statusesOn(await past.start(), past);

  assert.deepEqual(statuses, allEnded);
  assert.match(stderr, /All links have ended, also those in scripts: download the scripts again/);
});

deepTest("no link comes back with --recover", async (t) => {
  const past = await makePast(t);
  const path = join(past.dataDir, "platen.sqlite");
  const states = readdirSync(join(past.dataDir, "backups")).filter((name) => name.endsWith(".sqlite"));
  for (const name of states.sort().slice(1)) rmSync(join(past.dataDir, "backups", name));
  writeFileSync(path, readFileSync(path).fill(7, 4200, 9000));

  const lines: string[] = [];
  const store = await openStore(past.dataDir, Date.now, (line) => lines.push(line), { recover: true });
  await store.close();
  const statuses = await statusesOn(await past.start(), past);

  assert.deepEqual(statuses, allEnded);
  assert.match(lines.join("\n"), /links have ended: scripts that were downloaded without a package/);
});

deepTest("no link comes back with a daily state that somebody copied into its place", async (t) => {
  const past = await makePast(t);
  copyFileSync(past.state, join(past.dataDir, "platen.sqlite"));

  const guarded = await past.start();
  const statuses = await statusesOn(guarded, past);
  await guarded.service.stop();
  const restarted = await past.start();

  assert.deepEqual(statuses, allEnded);
  const linkLinesOf = (lines: readonly string[]) =>
    lines.filter((line) => line.includes("all links made until now"));
  assert.deepEqual(
    [linkLinesOf(guarded.service.lines).length, linkLinesOf(restarted.service.lines).length],
    [1, 0],
  );
});

deepTest("no link leads into a new database beside an old secret", async (t) => {
  const past = await makePast(t);
  rmSync(join(past.dataDir, "platen.sqlite"));

  const guarded = await past.start();
  await guarded.admin.addPrinter();

  assert.deepEqual(await statusesOn(guarded, past), allEnded);
});

test("after a folder is copied back by hand, no link opens a later record with the same id", async (t) => {
  const past = await makePast(t);
  const copy = join(past.folder, "copy");
  mkdirSync(copy);
  runPlaten(copy, "restore", past.tar);
  for (const name of ["platen.sqlite", "secret"]) rmSync(join(copy, name));
  cpSync(past.state, join(copy, "platen.sqlite"));
  cpSync(join(past.dataDir, "secret"), join(copy, "secret"));

  const statuses = await statusesOn(await past.start(copy), past);

  assert.equal(statuses.later, 403);
  assert.equal(statuses.fresh, 200);
});
