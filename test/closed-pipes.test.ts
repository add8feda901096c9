import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { parseClient } from "../src/domain/printers/client.ts";
import { openStore } from "../src/store/store.ts";
import { bundle, temporaryFolder } from "./support/app.ts";
import { deepTest, selectCases } from "./support/depth.ts";
import { driverZip } from "./support/drivers/driver-zip.ts";

/** Creates a folder with some data and a driver ZIP. */
async function makeFolder(t: TestContext): Promise<string> {
  const folder = await temporaryFolder(t);
  const store = await openStore(
    join(folder, "data"),
    () => Date.UTC(2026, 10, 22),
    () => {},
  );
  await store.clients.add(parseClient({ name: "Contoso" }));
  await store.close();
  writeFileSync(join(folder, "driver.zip"), driverZip());
  return folder;
}

/** Runs a command whose reader closes the pipe at once. @param which redirections */
function runUnread(folder: string, command: string, which = ""): { codes: string; stderr: string } {
  const script = `"${process.execPath}" "${bundle}" ${command} ${which} | true; echo "\${PIPESTATUS[0]}"`;
  const { stdout, stderr } = spawnSync("bash", ["--norc", "-c", script], {
    cwd: folder,
    encoding: "utf8",
    env: { PATH: process.env.PATH },
  });
  return { codes: stdout.trim(), stderr };
}

deepTest("a command whose reader closes the pipe ends like other programs, without a message", async (t) => {
  const folder = await makeFolder(t);
  const commands = selectCases(
    [
      ...["--help", "--version", "--licenses", "--sbom"],
      ...["inspect driver.zip --text", "inspect driver.zip", "audit verify", "audit export --csv"],
    ],
    3,
  );

  const ends = commands.map((command) => runUnread(folder, command));

  for (const [i, end] of ends.entries())
    assert.deepEqual(end, { codes: "141", stderr: "" }, String(commands[i]));
});

test("a backup whose reader closes the pipe reports that no backup was made", async (t) => {
  const folder = await makeFolder(t);

  const { codes, stderr } = runUnread(folder, "backup -");

  assert.equal(codes, "1");
  assert.match(stderr, /^platen: no backup was made: .*EPIPE.*\n$/);
});

deepTest("a command finishes its work although standard error is closed", async (t) => {
  const folder = await makeFolder(t);

  const { codes } = runUnread(folder, "backup all.tar", "2>&1");
  const restored = runUnread(folder, "restore all.tar", "2>&1");

  assert.deepEqual([codes, restored.codes], ["0", "0"]);
});
