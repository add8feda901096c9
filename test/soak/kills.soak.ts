import assert from "node:assert/strict";
import { test } from "node:test";
import { missingWrites, tallyLine } from "../support/durability/kill-tally.ts";
import { killUnderLoad } from "../support/durability/kills.ts";

const kills = Number(process.env.SOAK_KILLS ?? 2000);
const seed = Number(process.env.SEED ?? Date.now());

test(`of ${kills} kills under load none loses an acknowledged write or leaves one incomplete`, async (t) => {
  const started = performance.now();
  const tally = await killUnderLoad(t, kills, seed, (so) => {
    if (so.kills % 100 === 0)
      console.log(`${so.kills} kills in ${Math.round((performance.now() - started) / 1000)} s`);
  });

  console.log(`seed ${seed}: ${tallyLine(tally)}`);
  assert.ok(tally.kills >= kills, `${tally.kills} kills`);
  assert.deepEqual(missingWrites(tally, kills), [], "each kind of write was acknowledged");
});
