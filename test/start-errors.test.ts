import assert from "node:assert/strict";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { temporaryFolder } from "./support/app.ts";
import { runPlaten } from "./support/backup/backup.ts";
import { deepTest } from "./support/depth.ts";
import { fill, smallDisk, withoutDisk } from "./support/durability/small-disk.ts";
import { serve } from "./support/service.ts";

/** The output of a service that does not start. */
async function startError(t: TestContext, settings: Record<string, string>): Promise<string> {
  const folder = await temporaryFolder(t);
  writeFileSync(join(folder, "file"), "");
  const service = await serve(t, folder, settings);
  assert.equal(service.url, "", `${JSON.stringify(settings)} let it start`);
  assert.equal(await service.exited, 1);
  return service.output();
}

deepTest("the error for an unusable address or port names its setting", async (t) => {
  const other = createServer();
  await new Promise<void>((listening) => other.listen(0, "127.0.0.1", listening));
  t.after(() => other.close());
  const { port } = other.address() as { port: number };

  const busy = await startError(t, { PORT: String(port) });
  const noName = await startError(t, { HOST: "::zz" });
  const elsewhere = await startError(t, { HOST: "203.0.113.7" });

  assert.match(
    busy,
    new RegExp(`^platen: PORT is ${port}, and something else listens .* another Platen: .*\n$`),
  );
  assert.match(noName, /^platen: HOST is ::zz, which cannot be listened on \(ENOTFOUND\): .*\n$/);
  assert.match(elsewhere, /^platen: HOST is 203\.0\.113\.7, which cannot be listened on \(EADDRNOTAVAIL\)/);
});

for (const [what, settings, message] of [
  [
    "a DATA_DIR that is a file",
    { DATA_DIR: "file" },
    /^DATA_DIR is \/.*\/file, and that is a file: choose a folder\.$/,
  ],
  [
    "a DATA_DIR below a file",
    { DATA_DIR: "file/data" },
    /^DATA_DIR is \/.*\/file\/data, and one of the folders around that is a file: /,
  ],
  [
    "a DATA_DIR that the system says does not exist",
    { DATA_DIR: "/proc/platen/data" },
    /^DATA_DIR is \/proc\/platen\/data, which cannot be made or written: ENOENT/,
  ],
  [
    "a PUBLIC_URL with a path of Platen's own",
    { PUBLIC_URL: "https://platen.example/printers" },
    /^PUBLIC_URL ends in \/printers, which is a path of Platen’s own\. Choose another path\.$/,
  ],
  [
    "several invalid settings at once",
    { PORT: "65536", ADMIN_PASSWORD: "", TRUSTED_PROXIES: "0.0.0.0/0, 10.0.0.5" },
    /^PORT is “65536”; it is a whole number from 0 to 65535\.\nTRUSTED_PROXIES has “0\.0\.0\.0\/0”, which is too wide: .*\nADMIN_PASSWORD is empty\. Set it, or leave it out\.$/,
  ],
] as readonly [string, Record<string, string>, RegExp][])
  test(`a start with ${what} is refused, with the reason`, {
    skip: settings.DATA_DIR?.startsWith("/proc") && process.platform !== "linux" && "only Linux has /proc",
  }, async (t) => {
    const said = await startError(t, settings);

    assert.match(said.replace(/^platen: ([\s\S]*)\n$/, "$1"), message);
  });

test("the error for a full disk at the first start names the folder", async (t) => {
  const disk = smallDisk(t, 64 << 10);
  if (disk === undefined) return t.skip(withoutDisk);
  fill(disk);

  const said = await startError(t, { DATA_DIR: disk });

  assert.match(
    said,
    new RegExp(`^platen: ${disk} is on a disk that is full: make room there, .*ENOSPC.*\n$`),
  );
});

test("a backup into a missing folder names the folder and creates nothing", async (t) => {
  const folder = await temporaryFolder(t);
  const dataDir = join(folder, "data");
  mkdirSync(dataDir);
  writeFileSync(join(dataDir, "platen.sqlite"), "");

  const { status, stderr } = runPlaten(dataDir, "backup", join(folder, "nope", "b.tar"));

  assert.equal(status, 1);
  assert.equal(
    stderr,
    `platen: no backup was made: the folder ${join(folder, "nope")} is not there (ENOENT): make it first\n`,
  );
  assert.equal(existsSync(join(folder, "nope")), false);
});
