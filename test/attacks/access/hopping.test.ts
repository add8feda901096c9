import assert from "node:assert/strict";
import { test } from "node:test";
import { signInNetwork } from "../../../src/domain/address.ts";
import { FailedAttempts } from "../../../src/services/access/sign-in.ts";

/** How many guesses are tried in a day, one a second, each from another address and under another name. */
function guessesADay(addressOf: (i: number) => string): number {
  let now = Date.UTC(2026, 10, 21);
  const failed = new FailedAttempts(() => now);
  let through = 0;
  for (let i = 0; i < 24 * 60 * 60; i++) {
    const keys = [`name name ${i}`, `network ${signInNetwork(addressOf(i))}`] as const;
    if (failed.waitMs(keys) === 0) {
      failed.add(keys);
      through++;
    }
    now += 1000;
  }
  return through;
}

const group = (i: number) => i.toString(16);

test("a host that uses another of its 2^64 addresses for each guess counts as one network", () => {
  const hopping = guessesADay((i) => `2001:db8:1:2:${group(i % 65536)}::${group(i % 6007)}`);

  assert.ok(hopping < 250, `${hopping}`);
});

test("the addresses of an IPv4 network count as one network, in any spelling", () => {
  const forms = ["192.0.2.", "::ffff:192.0.2."];

  const hopping = guessesADay((i) => `${forms[i % 2]}${i % 256}`);

  assert.ok(hopping < 250, `${hopping}`);
});
