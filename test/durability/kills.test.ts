import assert from "node:assert/strict";
import { test } from "node:test";
import { killedWrites, killTwo } from "../support/kills.ts";

const kills = 200;
/** Another one every day; what fails names its own. */
const seed = Number(process.env.SEED ?? Math.floor(Date.now() / 86_400_000) * 2);

test(`of ${kills} kills under load none loses what was acknowledged, and none leaves anything half-made`, {
  timeout: 900_000,
}, async (t) => {
  const acknowledged = await killTwo(t, kills, seed);

  const { all, lines, missing } = killedWrites(acknowledged);
  t.diagnostic(`seed ${seed}: ${all} writes were acknowledged: ${lines}`);
  assert.ok(all > kills, `only ${all} writes were acknowledged`);
  assert.deepEqual(missing, [], "each kind of write was acknowledged");
});
