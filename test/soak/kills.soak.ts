import assert from "node:assert/strict";
import { test } from "node:test";
import { killTwo } from "../support/kills.ts";

const kills = 2000;
const seed = Number(process.env.SEED ?? Date.now());

test(`of ${kills} kills under load none loses what was acknowledged, and none leaves anything half-made`, async (t) => {
  const acknowledged = await killTwo(t, kills, seed);

  t.diagnostic(`seed ${seed}: ${acknowledged} writes were acknowledged`);
  assert.ok(acknowledged > kills, `only ${acknowledged} writes were acknowledged`);
});
