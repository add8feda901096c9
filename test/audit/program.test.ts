import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { adminPassword, cookiesOf } from "../support/access/people.ts";
import { client, temporaryFolder } from "../support/app.ts";
import { entriesIn, entryText } from "../support/audit/audit.ts";
import { runPlaten } from "../support/backup/backup.ts";
import { deepTest } from "../support/depth.ts";
import { type Service, serve } from "../support/service.ts";

const closed = { ADMIN_PASSWORD: adminPassword };

async function stop({ url, process: running, exited }: Service): Promise<void> {
  // A signal before the service is up would end it at once.
  await fetch(`${url}/health`);
  running.kill("SIGTERM");
  assert.equal(await exited, 0);
}

/** A folder whose log has changes, whole and partial downloads, and refusals. */
async function usedFolder(t: TestContext) {
  const folder = await temporaryFolder(t);
  const dataDir = join(folder, "data");
  const service = await serve(t, folder, closed);
  const stranger = client(service.url);
  const cookie = cookiesOf(await stranger.post("/sign-in", { name: "admin", password: adminPassword }));
  const admin = client(service.url, { cookie });
  await admin.addPrinter();
  await (await admin.fetch("/printers/1/scripts/install")).text();
  for (const range of ["bytes=0-9", "bytes=20-29", "bytes=40-49"])
    await (await admin.fetch("/printers/1/packages/rmm", { headers: { range } })).arrayBuffer();
  for (let i = 0; i < 5; i++)
    await stranger.fetch(`/printers/${i}`, { headers: { authorization: "Bearer platen_x" } });
  await admin.post("/backups", {});
  return { folder, dataDir, service, admin };
}

const entryTexts = (dataDir: string) => entriesIn(dataDir).map(entryText);

deepTest(
  "the log is verified while the program runs, and after a kill, a restore and a recovery, which are logged",
  async (t) => {
    const { folder, dataDir, service, admin } = await usedFolder(t);
    const tar = join(folder, "all.tar");

    const running = runPlaten(dataDir, "audit", "verify");
    const backup = runPlaten(dataDir, "backup", tar);
    await admin.post("/clients", { name: "Later" });
    service.process.kill("SIGKILL");
    await service.exited;
    const killed = runPlaten(dataDir, "audit", "verify");
    const restore = runPlaten(dataDir, "restore", tar);
    const restored = runPlaten(dataDir, "audit", "verify");
    for (let i = 0; i < 2; i++) await stop(await serve(t, folder, closed));
    const started = runPlaten(dataDir, "audit", "verify");
    const path = join(dataDir, "platen.sqlite");
    writeFileSync(path, readFileSync(path).fill(7, 4200, 9000));
    await stop(await serve(t, folder, closed, undefined, ["--recover"]));
    const recovered = runPlaten(dataDir, "audit", "verify");

    for (const { status, stderr } of [running, backup, killed, restore, restored, started, recovered])
      assert.equal(status, 0, stderr);
    const lines = entryTexts(dataDir);
    assert.equal(lines.filter((line) => line.startsWith("refused GET /printers/")).length >= 1, true);
    assert.deepEqual(
      lines
        .filter((line) => /^(?:backup-restored|recovered)/.test(line))
        .map((line) => line.replace(/\d{4}-\d\d-\d\dT[\d:.]+Z(?:-\d+(?=-asked))?/g, "TIME")),
      [
        "backup-restored the state of TIME, from a backup made TIME, by platen restore",
        "recovered platen-TIME-asked.sqlite, the state of TIME",
      ],
    );
  },
);
