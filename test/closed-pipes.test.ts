import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { openStore } from "../src/store/store.ts";
import { bundle, temporaryFolder } from "./support/app.ts";
import { some } from "./support/depth.ts";
import { driverZip } from "./support/drivers/driver-zip.ts";

/** A folder with some data, and a driver beside it. */
async function makeFolder(t: TestContext): Promise<string> {
  const folder = await temporaryFolder(t);
  const store = await openStore(
    join(folder, "data"),
    () => Date.UTC(2026, 10, 22),
    () => {},
  );
  await store.clients.add({ name: "Contoso", notes: "", subnets: [] });
  await store.close();
  writeFileSync(join(folder, "driver.zip"), driverZip());
  return folder;
}

/** Runs a command whose reader has gone before it says anything. */
function unread(folder: string, command: string, which = ""): { codes: string; stderr: string } {
  const script = `"${process.execPath}" "${bundle}" ${command} ${which} | true; echo "\${PIPESTATUS[0]}"`;
  const { stdout, stderr } = spawnSync("bash", ["--norc", "-c", script], {
    cwd: folder,
    encoding: "utf8",
    env: { PATH: process.env.PATH },
  });
  return { codes: stdout.trim(), stderr };
}

test("a command whose output nobody reads on ends as others do in a pipe, and says nothing", async (t) => {
  const folder = await makeFolder(t);
  const commands = some(
    [
      ...["--help", "--version", "--licenses", "--sbom"],
      ...["inspect driver.zip --text", "inspect driver.zip", "audit verify", "audit export --csv"],
    ],
    3,
  );

  const ends = commands.map((command) => unread(folder, command));

  for (const [i, end] of ends.entries())
    assert.deepEqual(end, { codes: "141", stderr: "" }, String(commands[i]));
});

test("a backup that nobody reads to its end says that none was made", async (t) => {
  const folder = await makeFolder(t);

  const { codes, stderr } = unread(folder, "backup -");

  assert.equal(codes, "1");
  assert.match(stderr, /^platen: no backup was made: .*EPIPE.*\n$/);
});

test("what a command does is done also where nobody reads what it says of it", async (t) => {
  const folder = await makeFolder(t);

  const { codes } = unread(folder, "backup all.tar", "2>&1");
  const restored = unread(folder, "restore all.tar", "2>&1");

  assert.deepEqual([codes, restored.codes], ["0", "0"]);
});
