import assert from "node:assert/strict";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { SavedFile } from "../../src/store/database/saved-file.ts";
import { temporaryFolder } from "../support/app.ts";
import { watchDisk } from "../support/durability/disk-calls.ts";

/** A file after a refused save, whose old content could not be restored either. @returns functions that fail each retry */
async function refuseSave(t: TestContext) {
  const folder = await temporaryFolder(t);
  let isBroken = false;
  await watchDisk(t, folder, ({ name, path }) => {
    if (isBroken && (path === folder ? name === "file.sync" : name === "rename"))
      throw Object.assign(new Error("EIO: i/o error"), { code: "EIO" });
    // From now on the new file is in place, but syncing the folder fails.
    return name === "rename" ? () => (isBroken = true) : undefined;
  });
  const attempts: ((error: Error) => void)[] = [];
  const resave = () => new Promise<void>((_, reject) => attempts.push(reject));
  const file = new SavedFile(join(folder, "database"), Buffer.from("saved"), resave);
  await assert.rejects(file.save(Buffer.from("refused"), "ordinary"), /EIO/);
  return { file, attempts };
}

test("restoring the file after a refused save is retried until the file is closed", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const { file, attempts } = await refuseSave(t);
  const failLast = async () => {
    attempts.at(-1)?.(new Error("EIO: i/o error"));
    await new Promise((resolve) => setImmediate(resolve));
  };

  t.mock.timers.tick(1000);
  await failLast();
  t.mock.timers.tick(1000);
  const whileOpen = attempts.length;
  file.close();
  await failLast();
  t.mock.timers.tick(10_000);

  assert.equal(whileOpen, 2);
  assert.equal(attempts.length, 2);
});
