import assert from "node:assert/strict";
import { test } from "node:test";
import { killedWrites, killTwo } from "../support/kills.ts";

const kills = Number(process.env.SOAK_KILLS ?? 2000);
const seed = Number(process.env.SEED ?? Date.now());

test(`of ${kills} kills under load none loses what was acknowledged, and none leaves anything half-made`, async (t) => {
  const started = performance.now();
  let survived = 0;
  const acknowledged = await killTwo(t, kills, seed, () => {
    if (++survived % 100 === 0)
      console.log(`${survived} kills in ${Math.round((performance.now() - started) / 1000)} s`);
  });

  const { all, lines, missing } = killedWrites(acknowledged);
  console.log(`seed ${seed}: ${survived} kills, ${all} writes were acknowledged: ${lines}`);
  assert.ok(all > kills, `only ${all} writes were acknowledged`);
  assert.deepEqual(missing, [], "each kind of write was acknowledged");
});
