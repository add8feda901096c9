import assert from "node:assert/strict";
import { test } from "node:test";
import { signInNetwork } from "../../src/domain/address.ts";
import { FailedAttempts, type FailureKey, TooManyAttempts } from "../../src/services/access/sign-in.ts";

const minute = 60_000;

/** A counter of failed attempts whose clock the test sets. */
function counting() {
  const clock = { now: Date.UTC(2026, 10, 21) };
  return { clock, failed: new FailedAttempts(() => clock.now) };
}

/** The waits in seconds after failed attempts, each made as soon as it is allowed. */
function waitsUnder(key: FailureKey, count: number): number[] {
  const { clock, failed } = counting();
  return Array.from({ length: count }, () => {
    failed.add([key]);
    const waitMs = failed.waitMs([key]);
    clock.now += waitMs;
    return waitMs / 1000;
  });
}

test("the fifth failure costs a second, and each further one doubles the wait", () => {
  const network = waitsUnder("network 192.0.2", 40);
  const name = waitsUnder("name jo", 40);

  assert.deepEqual(network.slice(0, 9), [0, 0, 0, 0, 1, 2, 4, 8, 16]);
  assert.deepEqual([network.at(-1), name.at(-1)], [900, 30]);
});

test("the longest wait of several keys counts, and other keys do not wait", () => {
  const { failed } = counting();
  for (let i = 0; i < 7; i++) failed.add([`name ${i}`, "network 192.0.2"]);

  const waits = [
    failed.waitMs(["name 0", "network 192.0.2"]),
    failed.waitMs(["name 0", "network 192.0.3"]),
    failed.waitMs(["browser known"]),
  ];

  assert.deepEqual(waits, [4000, 0, 0]);
});

test("a success clears the failures, and so do two hours without a failure", () => {
  const { clock, failed } = counting();
  const keys = ["name jo", "network 192.0.2"] as const;
  const waitAfterFive = () => {
    for (let i = 0; i < 5; i++) failed.add(keys);
    return failed.waitMs(keys);
  };

  const first = waitAfterFive();
  failed.clear(keys);
  const forgiven = failed.waitMs(keys);
  const second = waitAfterFive();
  clock.now += 120 * minute;
  const third = waitAfterFive();

  assert.deepEqual([first, forgiven, second, third], [1000, 0, 1000, 1000]);
});

test("guesses from one network delay the owner of a name by at most half a minute", () => {
  const { clock, failed } = counting();
  const strangers = ["name admin", "network 192.0.2"] as const;
  const waits: number[] = [];

  for (let i = 0; i < 24 * 60 * 60; i++) {
    if (failed.waitMs(strangers) === 0) failed.add(strangers);
    waits.push(failed.waitMs(["name admin", "network 198.51.100"]));
    clock.now += 1000;
  }

  assert.ok(Math.max(...waits) <= 30_000, `${Math.max(...waits)}`);
  assert.ok(waits.filter((ms) => ms > 0).length < 24 * 60 * 60 * 0.05);
});

test("an IPv4 /24 and an IPv6 /64 are one network each, in any spelling of an address", () => {
  const networks = [
    "192.0.2.7",
    "::ffff:192.0.2.9",
    "192.0.3.7",
    "2001:db8:1:2::1",
    "2001:DB8:1:2:ffff::7",
    "2001:db8:1:3::1",
  ].map(signInNetwork);

  assert.deepEqual(networks, [
    "192.0.2",
    "192.0.2",
    "192.0.3",
    "2001:db8:1:2",
    "2001:db8:1:2",
    "2001:db8:1:3",
  ]);
});

test("the message gives the wait in seconds, and a long wait in minutes", () => {
  const messages = [1, 2, 119, 120, 121, 900].map((seconds) => new TooManyAttempts(seconds * 1000).message);

  assert.deepEqual(
    messages.map((text) => text.replace(/.*again in /, "")),
    ["1 second.", "2 seconds.", "119 seconds.", "2 minutes.", "3 minutes.", "15 minutes."],
  );
});
