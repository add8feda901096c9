import assert from "node:assert/strict";
import { test } from "node:test";
import { isDeep, rounds, seedOr } from "../support/depth.ts";
import { lackingIn, tallyLine } from "../support/durability/kill-tally.ts";
import { killUnderLoad } from "../support/durability/kills.ts";

const kills = rounds(5, 200);

test(`of ${kills} kills under load none loses what was acknowledged, and none leaves anything half-made`, {
  timeout: 900_000,
}, async (t) => {
  const seed = seedOr(2_078_000);

  const tally = await killUnderLoad(t, kills, seed);

  t.diagnostic(`seed ${seed}: ${tallyLine(tally)}`);
  assert.ok(tally.kills >= kills, `${tally.kills} kills`);
  if (isDeep) assert.deepEqual(lackingIn(tally, kills), [], "each kind of write was acknowledged");
});
