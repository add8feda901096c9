import assert from "node:assert/strict";
import { test } from "node:test";
import { lackingIn, tallyLine } from "../support/kill-tally.ts";
import { killUnderLoad } from "../support/kills.ts";

const kills = 200;
/** Another one every day; what fails names its own. */
const seed = Number(process.env.SEED ?? Math.floor(Date.now() / 86_400_000) * 100);

test(`of ${kills} kills under load none loses what was acknowledged, and none leaves anything half-made`, {
  timeout: 900_000,
}, async (t) => {
  const tally = await killUnderLoad(t, kills, seed);

  t.diagnostic(`seed ${seed}: ${tallyLine(tally)}`);
  assert.ok(tally.kills >= kills, `${tally.kills} kills`);
  assert.deepEqual(lackingIn(tally, kills), [], "each kind of write was acknowledged");
});
