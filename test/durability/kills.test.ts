import assert from "node:assert/strict";
import { test } from "node:test";
import { isDeep, rounds, seedOr } from "../support/depth.ts";
import { missingWrites, tallyLine } from "../support/durability/kill-tally.ts";
import { killUnderLoad } from "../support/durability/kills.ts";

const kills = rounds(1, 200);

test(`${kills} kills under load lose no acknowledged write and leave no half-done write`, {
  timeout: 900_000,
}, async (t) => {
  const seed = seedOr(2_078_000);

  const tally = await killUnderLoad(t, kills, seed);

  t.diagnostic(`seed ${seed}: ${tallyLine(tally)}`);
  assert.ok(tally.kills >= kills, `${tally.kills} kills`);
  assert.ok(tally.acknowledged.size > 0, "some writes were acknowledged");
  if (isDeep) assert.deepEqual(missingWrites(tally, kills), [], "each kind of write was acknowledged");
});
