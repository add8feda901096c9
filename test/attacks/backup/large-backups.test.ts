import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { checkBackupFile, manifestName } from "../../../src/domain/backup/full-backup.ts";
import { tarHeader } from "../../../src/domain/backup/tar.ts";
import { databaseLimitBytes } from "../../../src/store/record-limits.ts";
import { bundle } from "../../support/app.ts";
import { makeTarget } from "../../support/backup/hostile-backups.ts";
import { withoutProc } from "../../support/children.ts";

const gibi = 1024 ** 3;
const archive = `drivers/${"a".repeat(64)}.zip`;

/** A file with a claimed size, and zeros without end. */
async function* endless(name: string, size: number, taken: { bytes: number }): AsyncGenerator<Buffer> {
  yield tarHeader({ name, size }, 0);
  for (;;) {
    taken.bytes += 1 << 20;
    yield Buffer.alloc(1 << 20);
  }
}

test("files with too large sizes are refused before any of their bytes is read", async (t) => {
  const { attack } = await makeTarget(t);
  const cases: readonly (readonly [string, number])[] = [
    ["platen.sqlite", 2 * gibi],
    ["platen.sqlite", 512 * 1024 * 1024 + 1],
    ["platen.sqlite", 0o77777777777],
    ["secret", 33],
    [archive, 4 * gibi + 1],
    [archive, 0o77777777777],
    [`icons/${"a".repeat(64)}.png`, 1024 * 1024 + 1],
    [manifestName, 24 * 1024 * 1024 + 1],
    ["audit/2026-11.jsonl", 4 * gibi + 1],
  ];

  for (const [name, size] of cases) {
    const taken = { bytes: 0 };
    const message = await attack(endless(name, size, taken));
    assert.match(message, /is larger than such a file ever is: \d+ bytes/, `${name} of ${size}`);
    assert.equal(taken.bytes, 0, `${name} of ${size}`);
  }
});

test("files that the service itself can have are never refused for their size", () => {
  checkBackupFile({ name: "platen.sqlite", size: 2 * databaseLimitBytes }, "");
  checkBackupFile({ name: archive, size: 4095 * 1024 * 1024 }, "");
});

test("a tar with a large truncated file is refused with little memory, and leaves no files", {
  skip: withoutProc,
}, async (t) => {
  const { dataDir } = await makeTarget(t);
  const child = spawn(process.execPath, [bundle, "restore", "-"], {
    env: { PATH: process.env.PATH, DATA_DIR: dataDir },
  });
  let [peak, said] = [0, ""];
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    said += text;
  });
  const ended = new Promise((resolve) => child.on("close", resolve));
  const chunk = Buffer.alloc(1 << 20, 7);

  child.stdin.write(tarHeader({ name: archive, size: 3 * gibi }, 0));
  for (let i = 0; i < 300; i++) {
    if (!child.stdin.write(chunk)) await new Promise((resolve) => child.stdin.once("drain", resolve));
    const status = readFileSync(`/proc/${child.pid}/status`, "utf8");
    peak = Math.max(peak, Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024);
  }
  child.stdin.end();
  const code = await ended;

  assert.equal(code, 1);
  assert.match(said, /nothing was restored; .*it ends too early: a copy of it broke off/);
  assert.ok(peak > 10 && peak < 160, `${peak} MB`);
  assert.equal(existsSync(join(dataDir, "restore.new")), false);
});
