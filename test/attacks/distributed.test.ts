import assert from "node:assert/strict";
import { test } from "node:test";
import { networksOf } from "../../src/domain/site.ts";
import { SignInThrottle } from "../../src/services/sign-in-throttle.ts";
import { deepTest } from "../support/depth.ts";

const minute = 60_000;
const group = (i: number) => i.toString(16);

/** A throttle that very many addresses attack, each of which asks as often as it is let. */
class Attack {
  now = Date.UTC(2026, 10, 21);
  guesses = 0;
  readonly throttle = new SignInThrottle(() => this.now);
  readonly #addresses: readonly string[];
  readonly #openAt = new Map<string, number>();

  constructor(addresses: readonly string[]) {
    this.#addresses = addresses;
  }

  /** Lets everybody guess for so long, each moment before anybody else can ask. */
  goOn(ms: number): void {
    for (const until = this.now + ms; this.now < until; this.now += 1000) this.#guessAll();
    this.#guessAll();
  }

  #guessAll(): void {
    for (const address of this.#addresses) {
      if ((this.#openAt.get(address) ?? 0) > this.now) continue;
      const { waitMs } = this.throttle.begin({ name: "admin", ...networksOf(address) });
      if (waitMs === 0) this.guesses++;
      this.#openAt.set(address, this.now + Math.max(1000, waitMs));
    }
  }

  /** How long a person waits in a new browser who comes back when they are told to, and a few seconds later. */
  personWaits(address: string, mostMs: number): number {
    const started = this.now;
    while (this.now - started < mostMs) {
      const attempt = this.throttle.begin({ name: "admin", ...networksOf(address) });
      if ("succeeded" in attempt) {
        attempt.succeeded();
        break;
      }
      this.goOn(attempt.waitMs + 4000);
    }
    return this.now - started;
  }
}

deepTest(
  "two thousand addresses that guess without end keep no new browser of the administrator's out",
  () => {
    const attack = new Attack(
      Array.from({ length: 2000 }, (_, i) => `198.${18 + (i % 2)}.${i % 20}.${i % 251}`),
    );
    attack.goOn(30 * minute);

    const waits = ["192.168.1.7", "203.0.113.5", "2001:db8::7"].map((address) => {
      attack.goOn(7 * minute);
      return attack.personWaits(address, 6 * 60 * minute) / 1000;
    });

    assert.ok(Math.max(...waits) <= 90, `${waits}`);
  },
);

deepTest("a provider's 65,536 networks, none of which failed before, keep nobody out either", () => {
  const attack = new Attack(Array.from({ length: 3000 }, (_, i) => `2001:db8:${group(i)}::1`));
  attack.goOn(20 * minute);

  const waited = attack.personWaits("192.168.1.7", 6 * 60 * minute) / 1000;

  assert.ok(waited <= 90, `${waited}`);
});

test("networks that come for the first time take one turn each, half a minute long", () => {
  const networks = 40;
  const attack = new Attack(
    Array.from({ length: networks * 20 }, (_, i) => `${20 + (i % networks)}.7.7.${Math.floor(i / networks)}`),
  );

  attack.goOn(5000);
  const waited = attack.personWaits("203.0.113.5", 6 * 60 * minute);

  assert.ok(waited > 0 && waited <= networks * minute, `${waited / minute} minutes`);
});

deepTest("all of them together guess no faster than anybody alone: one in half a minute", () => {
  const attack = new Attack(Array.from({ length: 800 }, (_, i) => `198.18.${i % 20}.${i % 251}`));
  attack.goOn(20 * minute);
  const before = attack.guesses;

  attack.goOn(60 * minute);

  assert.ok(attack.guesses - before <= 125, `${attack.guesses - before}`);
});

test("who asks and never comes back holds others up for half a minute, and no longer", () => {
  const attack = new Attack(Array.from({ length: 50 }, (_, i) => `198.18.0.${i}`));
  attack.goOn(20 * minute);
  const mistyped = networksOf("192.168.1.7");
  attack.throttle.begin({ name: "mistyped", ...mistyped });
  const ask = () => attack.throttle.begin({ name: "admin", ...mistyped }).waitMs;

  for (let i = 0; i < 50; i++) attack.throttle.begin({ name: "admin", ...networksOf(`${30 + i}.1.1.1`) });
  const first = ask();
  attack.now += first;
  const second = ask();
  attack.now += second;
  const third = ask();

  assert.ok(first > 0 && first <= minute / 2, `${first}`);
  assert.deepEqual([second, third], [minute / 2, 0]);
});

test("names and who waits for them take a bounded memory", () => {
  let now = 0;
  const throttle = new SignInThrottle(() => now);

  for (let name = 0; name < 1500; name++) {
    for (let i = 0; i < 14; i++)
      throttle.begin({ name: `name ${name}`, ...networksOf(`${name % 200}.${i}.1.1`) });
    now += 10;
  }

  assert.ok(throttle.size <= 20_000, `${throttle.size}`);
  assert.equal(throttle.waiting, 1000);
});
