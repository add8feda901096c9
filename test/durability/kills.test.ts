import assert from "node:assert/strict";
import { test } from "node:test";
import { killedWrites, killTwo } from "../support/kills.ts";

const kills = 200;
/** Another one every day; what fails names its own. */
const seed = Number(process.env.SEED ?? Math.floor(Date.now() / 86_400_000) * 2);

test(`of ${kills} kills under load none loses what was acknowledged, and none leaves anything half-made`, {
  timeout: 900_000,
}, async (t) => {
  const acknowledged = new Map<string, number>();
  const killOn = async (count: number, from: number) => {
    for (const [what, writes] of await killTwo(t, count, from))
      acknowledged.set(what, (acknowledged.get(what) ?? 0) + writes);
    return killedWrites(acknowledged).missing.length > 0;
  };

  // A slow machine acknowledges fewer writes between two kills.
  let isMissing = await killOn(kills, seed);
  for (let more = 1; isMissing && more <= 4; more++) isMissing = await killOn(20, seed + 1000 * more);

  const { all, lines, missing } = killedWrites(acknowledged);
  t.diagnostic(`seed ${seed}: ${all} writes were acknowledged: ${lines}`);
  assert.ok(all > kills, `only ${all} writes were acknowledged`);
  assert.deepEqual(missing, [], "each kind of write was acknowledged");
});
