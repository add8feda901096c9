import assert from "node:assert/strict";
import { test } from "node:test";
import { tooEarly } from "../src/services/sign-in.ts";
import { SignInThrottle } from "../src/services/sign-in-throttle.ts";
import { deepTest } from "./support/depth.ts";

const minute = 60_000;

/** A throttle with a clock that is turned by hand. */
function throttled() {
  const clock = { now: Date.UTC(2026, 10, 21) };
  return { clock, throttle: new SignInThrottle(() => clock.now) };
}

/** Attempts that fail, as many as go without waiting. */
function failuresUntilSlow(
  throttle: SignInThrottle,
  source: (i: number) => Parameters<SignInThrottle["begin"]>[0],
) {
  for (let i = 0; i < 1000; i++) if (throttle.begin(source(i)).waitMs > 0) return i;
  return 1000;
}

test("five failures from one address go without a delay, then each doubles it up to a quarter of an hour", () => {
  const { clock, throttle } = throttled();
  const delays: number[] = [];

  for (let i = 0; i < 80; i++) {
    const { waitMs } = throttle.begin({ name: `n${i}`, site: "192.0.2.1" });
    delays.push(waitMs / 1000);
    clock.now += waitMs;
  }

  assert.deepEqual(delays.slice(0, 12), [0, 0, 0, 0, 0, 1, 0, 2, 0, 4, 0, 8]);
  assert.ok(Math.max(...delays) >= 512 && Math.max(...delays) <= 15 * 60, `${Math.max(...delays)}`);
});

test("who asks too early is not slowed any further, and after hours all is forgotten", () => {
  const { clock, throttle } = throttled();
  const source = { name: "jo", site: "192.0.2.1" };
  failuresUntilSlow(throttle, () => source);

  for (let i = 0; i < 50; i++) throttle.begin(source);
  const { waitMs } = throttle.begin(source);
  clock.now += 24 * 60 * minute;

  assert.equal(waitMs, 1000);
  assert.equal(
    failuresUntilSlow(throttle, () => source),
    5,
  );
});

test("who signs in is not slowed by it, and does not wipe out what failed before", () => {
  const { throttle } = throttled();
  const source = { name: "jo", site: "192.0.2.1" };
  for (let i = 0; i < 4; i++) throttle.begin(source);

  for (let i = 0; i < 50; i++) {
    const attempt = throttle.begin({ name: "mine", site: "192.0.2.2" });
    assert.ok("succeeded" in attempt);
    attempt.succeeded();
  }
  const fifth = throttle.begin(source);
  const sixth = throttle.begin(source);

  assert.deepEqual([fifth.waitMs, sixth.waitMs], [0, 1000]);
});

test("who signs in after failures can sign in again at once", () => {
  const { clock, throttle } = throttled();
  const source = { name: "jo", site: "192.0.2.1" };
  for (let i = 0; i < 5; i++) throttle.begin(source);
  clock.now += throttle.begin(source).waitMs;

  const attempt = throttle.begin(source);
  assert.ok("succeeded" in attempt);
  attempt.succeeded();

  assert.equal(throttle.begin(source).waitMs, 0);
});

test("a name that is attacked from everywhere takes one attempt in half a minute", () => {
  const { clock, throttle } = throttled();
  let taken = 0;
  const until = clock.now + 60 * minute;

  for (let i = 0; clock.now < until; i++) {
    const { waitMs } = throttle.begin({ name: "admin", site: `site ${i}` });
    if (waitMs === 0) taken++;
    clock.now += 100;
  }

  assert.ok(taken > 100 && taken < 140, `${taken}`);
});

test("a browser that was signed in before is held up by nobody's failures but its own", () => {
  const { throttle } = throttled();
  failuresUntilSlow(throttle, (i) => ({ name: "admin", site: `site ${i % 3}` }));

  const known = throttle.begin({ name: "admin", site: "site 1", device: "mine" });
  const own = failuresUntilSlow(throttle, () => ({ name: "admin", site: "site 1", device: "stolen" }));

  assert.equal(known.waitMs, 0);
  assert.equal(own, 10);
});

deepTest(
  "any number of names and addresses take a bounded memory, and push out no name that is attacked",
  () => {
    const { throttle } = throttled();
    const attacked = (i: number) => ({ name: "admin", site: `first ${i}` });
    failuresUntilSlow(throttle, attacked);

    for (let i = 0; i < 60_000; i++) throttle.begin({ name: `made up ${i}`, site: `site ${i}` });

    assert.ok(throttle.size <= 20_000, `${throttle.size}`);
    assert.ok(throttle.begin(attacked(5000)).waitMs > 0);
  },
);

test("how long somebody has to wait is said in seconds, and in minutes where it is long", () => {
  const said = [1, 2, 119, 120, 121, 900].map((seconds) => tooEarly(seconds));

  assert.deepEqual(
    said.map((text) => text.replace(/.*again in /, "")),
    ["1 second.", "2 seconds.", "119 seconds.", "2 minutes.", "3 minutes.", "15 minutes."],
  );
});
