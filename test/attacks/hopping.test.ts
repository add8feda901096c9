import assert from "node:assert/strict";
import { test } from "node:test";
import { networksOf } from "../../src/domain/site.ts";
import { SignInThrottle } from "../../src/services/sign-in-throttle.ts";
import { deepTest } from "../support/depth.ts";

/** How many guesses of a day get through, tried every second from another address, each under another name. */
function guessesADay(addressOf: (i: number) => string): number {
  let now = Date.UTC(2026, 10, 21);
  const throttle = new SignInThrottle(() => now);
  let through = 0;
  for (let i = 0; i < 24 * 60 * 60; i++) {
    if (throttle.begin({ name: `name ${i}`, ...networksOf(addressOf(i)) }).waitMs === 0) through++;
    now += 1000;
  }
  return through;
}

const group = (i: number) => i.toString(16);

test("a host that takes another of its 2^64 addresses for each guess is one host", () => {
  const hopping = guessesADay((i) => `2001:db8:1:2:${group(i % 65536)}::${group(i % 6007)}`);

  assert.ok(hopping < 250, `${hopping}`);
});

deepTest("a customer with 65,536 networks of them is one customer", () => {
  const hopping = guessesADay((i) => `2001:db8:1:${group(i % 65536)}::1`);

  assert.ok(hopping < 600, `${hopping}`);
});

test("an IPv4 address is one host however it is written", () => {
  const forms = ["192.0.2.7", "::ffff:192.0.2.7"];

  const hopping = guessesADay((i) => forms[i % 2] ?? "");

  assert.ok(hopping < 250, `${hopping}`);
  assert.deepEqual(networksOf("::ffff:192.0.2.7"), {
    ...{ site: "192.0.2.7", network: undefined },
    ...{ near: "192.0.2", area: "192.0" },
  });
  assert.deepEqual(networksOf("2001:db8:1:2::1"), {
    ...{ site: "2001:db8:1:2", network: "2001:db8:1" },
    ...{ near: "2001:db8:1", area: "2001:db8" },
  });
});
