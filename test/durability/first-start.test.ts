import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { parseClient } from "../../src/domain/printers/client.ts";
import { openStore, type Store } from "../../src/store/store.ts";
import { temporaryFolder } from "../support/app.ts";
import { rounds, selectCases } from "../support/depth.ts";
import { type DiskCall, watchDisk } from "../support/durability/disk-calls.ts";

const codes = ["ENOSPC", "EIO", "EMFILE", "EROFS"];
const open = (folder: string) => openStore(folder, Date.now, () => {});
const expectedFiles =
  /^(?:platen\.sqlite(?:\.reserve)?|secret|drivers|icons|preferences|signatures|incoming|audit)$/;

/** Checks a start with a failed call, and the start after it. */
async function problemsAfter(
  folder: string,
  code: string,
  first: Store | Error,
  failed: DiskCall,
): Promise<string[]> {
  const wrong: string[] = [];
  if (first instanceof Error) {
    if (!first.message.includes(code) && !first.message.includes("injected")) wrong.push(first.message);
  } else await first.close();
  const second = await open(folder);
  await second.clients.add(parseClient({ name: "Works" }));
  if (!(first instanceof Error) && !Buffer.from(first.secret).equals(second.secret))
    wrong.push("another secret");
  await second.close();
  const strays = readdirSync(folder).filter((name) => !expectedFiles.test(name));
  // A file that the disk refused to delete may stay.
  wrong.push(...strays.filter(() => failed.name !== "rm").map((name) => `leaves ${name}`));
  const where = `${code} at ${failed.name} ${failed.path.slice(folder.length)}`;
  return wrong.map((what) => `${where}: ${what}`);
}

test("when a disk call fails at a first start, the error says so, and the next start works", async (t) => {
  const parent = await temporaryFolder(t);
  let at = 0;
  let code = "";
  const failed: DiskCall[] = [];
  await watchDisk(t, parent, (call) => {
    if (at === 0 || --at !== 0) return undefined;
    failed.push(call);
    throw Object.assign(new Error(`${code}: injected`), { code });
  });
  const wrong: string[] = [];

  for (code of selectCases(codes, 1)) {
    for (let next = 1; ; next += rounds(9, 1)) {
      const folder = join(parent, `${code}-${next}`);
      const before = failed.length;
      at = next;
      const first = await open(folder).catch((error: Error) => error);
      at = 0;
      const [last] = failed.slice(before);
      if (last === undefined) {
        if (!(first instanceof Error)) await first.close();
        break;
      }
      wrong.push(...(await problemsAfter(folder, code, first, last)));
    }
  }

  t.diagnostic(`${failed.length} calls failed`);
  assert.ok(failed.length > rounds(3, 100), `${failed.length}`);
  assert.deepEqual(wrong, []);
});
