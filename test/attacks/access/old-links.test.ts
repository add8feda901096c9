import assert from "node:assert/strict";
import { copyFileSync, cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { openStore } from "../../../src/store/store.ts";
import { downloadIn, type Guarded, startGuarded } from "../../support/access/guarded.ts";
import { temporaryFolder } from "../../support/app.ts";
import { platen } from "../../support/backup/backup.ts";
import { deepTest } from "../../support/depth.ts";

const minute = 60_000;

interface Past {
  readonly folder: string;
  readonly dataDir: string;
  /** A full backup of when there was one printer, whose links held. */
  readonly tar: string;
  /** The automatic state of then. */
  readonly state: string;
  /** To the first printer and its driver, ended since. */
  readonly ended: readonly string[];
  /** To a second printer, which the backup does not know. */
  readonly later: string;
  /** Starts the service on a folder. */
  readonly start: (dataDir?: string) => Promise<Guarded>;
}

const install = (id: number) => `/printers/${id}/scripts/install`;

/** The address in the page that shows a new link. */
async function linkTo({ operator }: Guarded, id: number): Promise<string> {
  const page = await (
    await operator.post(`/printers/${id}/links`, { address: install(id), days: "7" })
  ).text();
  return /\/printers\/\d+\/scripts\/install\?link=[\w.-]+/.exec(page)?.[0] ?? page;
}

/** A service that was backed up, that ended all links since, and that made a link to a record since. */
async function pastOf(t: TestContext): Promise<Past> {
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
  const files = downloadIn(await (await first.viewer.fetch(install(1))).text());
  await first.service.app.backups.makeNow();
  await first.service.stop();
  platen(dataDir, "backup", tar);
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

/** What becomes of the links when a printer is made, which may take the number of the one that came later. */
async function statusesOn(guarded: Guarded, { ended, later }: Past) {
  const id = await guarded.admin.addPrinter({ name: "Another", driver_id: "1" });
  const ask = async (path: string) => (await guarded.service.fetch(path)).status;
  return {
    ended: await Promise.all(ended.map(ask)),
    later: await ask(later),
    fresh: await ask(await linkTo(guarded, id)),
  };
}

const over = { ended: [403, 403], later: 403, fresh: 200 };

test("no link comes back with a restored backup, or leads to who got its number since", async (t) => {
  const past = await pastOf(t);

  const { stderr } = platen(past.dataDir, "restore", past.tar);
  const statuses = await statusesOn(await past.start(), past);

  assert.deepEqual(statuses, over);
  assert.match(stderr, /Links have ended, those in scripts too: fetch these anew/);
});

deepTest("no link comes back with --recover", async (t) => {
  const past = await pastOf(t);
  const path = join(past.dataDir, "platen.sqlite");
  const states = readdirSync(join(past.dataDir, "backups")).filter((name) => name.endsWith(".sqlite"));
  for (const name of states.sort().slice(1)) rmSync(join(past.dataDir, "backups", name));
  writeFileSync(path, readFileSync(path).fill(7, 4200, 9000));

  const lines: string[] = [];
  const store = await openStore(past.dataDir, Date.now, (line) => lines.push(line), { recover: true });
  await store.close();
  const statuses = await statusesOn(await past.start(), past);

  assert.deepEqual(statuses, over);
  assert.match(lines.join("\n"), /links have ended: scripts that were downloaded by themselves/);
});

deepTest("no link comes back with a daily state that somebody copied into its place", async (t) => {
  const past = await pastOf(t);
  copyFileSync(past.state, join(past.dataDir, "platen.sqlite"));

  const guarded = await past.start();
  const statuses = await statusesOn(guarded, past);
  await guarded.service.stop();
  const again = await past.start();

  assert.deepEqual(statuses, over);
  const said = (lines: readonly string[]) => lines.filter((line) => line.includes("links that were made"));
  assert.deepEqual([said(guarded.service.lines).length, said(again.service.lines).length], [1, 0]);
});

deepTest("no link leads into a new database beside an old secret", async (t) => {
  const past = await pastOf(t);
  rmSync(join(past.dataDir, "platen.sqlite"));

  const guarded = await past.start();
  await guarded.admin.addPrinter();

  assert.deepEqual(await statusesOn(guarded, past), over);
});

test("a folder copied back by hand lets no link reach who got its number since", async (t) => {
  const past = await pastOf(t);
  const copy = join(past.folder, "copy");
  mkdirSync(copy);
  platen(copy, "restore", past.tar);
  for (const name of ["platen.sqlite", "secret"]) rmSync(join(copy, name));
  cpSync(past.state, join(copy, "platen.sqlite"));
  cpSync(join(past.dataDir, "secret"), join(copy, "secret"));

  const statuses = await statusesOn(await past.start(copy), past);

  assert.equal(statuses.later, 403);
  assert.equal(statuses.fresh, 200);
});
