import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { passwordProblem } from "../../src/domain/access/password.ts";
import { Passwords } from "../../src/services/access/passwords.ts";
import { TooManyAttempts } from "../../src/services/access/sign-in.ts";
import { passwordCost } from "../support/app.ts";

const quick = () => new Passwords(randomBytes, passwordCost);

test("a hash contains its parameters and salt, and matches only its password", async () => {
  const usual = await new Passwords(randomBytes).hash("café au lait");
  const passwords = quick();

  const [hash, other] = [await passwords.hash("café au lait"), await passwords.hash("café au lait")];

  assert.match(usual, /^\$scrypt\$ln=15,r=8,p=3\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/);
  assert.equal(await new Passwords(randomBytes).verify("café au lait", usual), true);
  assert.match(hash, /^\$scrypt\$ln=10,r=8,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/);
  assert.notEqual(hash, other);
  assert.equal(await passwords.verify("café au lait", hash), true);
  assert.equal(await passwords.verify("cafe\u0301 au lait", hash), true);
  assert.equal(await passwords.verify("cafe au lait", hash), false);
});

test("a hash of another form or cost matches no password, after the usual work", async () => {
  const passwords = quick();
  const salt = "A".repeat(22);
  const key = "A".repeat(43);
  const strange = [
    "",
    "orbit lantern copper",
    `$scrypt$ln=20,r=8,p=1$${salt}$${key}`,
    `$scrypt$ln=10,r=8,p=99$${salt}$${key}`,
    `$scrypt$ln=10,r=8,p=1$${salt}$${key}=`,
    `$scrypt$ln=10,r=8,p=1$${salt}`,
    `$argon2id$ln=10,r=8,p=1$${salt}$${key}`,
  ];

  for (const hash of strange) assert.equal(await passwords.verify("", hash), false, hash);
  assert.equal(await passwords.verify("", undefined), false);

  assert.equal(passwords.hashCount, strange.length + 1);
});

test("two passwords are hashed at a time, and an unknown browser is refused when many wait", async () => {
  const passwords = quick();
  let working = 0;
  const most = { working: 0 };
  const attempt = async (stranger?: string) => {
    const check = () => {
      most.working = Math.max(most.working, ++working);
    };
    return passwords.verify("x", undefined, check, stranger).finally(() => working--);
  };

  const strangers = Promise.allSettled(Array.from({ length: 100 }, (_, i) => attempt(`192.0.${i}.1`)));
  await attempt();
  const before = passwords.hashCount;
  const outcomes = await strangers;
  const refused = outcomes.filter(({ status }) => status === "rejected");
  const ofOne = await Promise.allSettled(
    Array.from({ length: 40 }, () => passwords.verify("x", undefined, () => {}, "192.0.2.7")),
  );

  assert.equal(ofOne.filter(({ status }) => status === "fulfilled").length, 32);
  assert.ok(before < 32, "whoever is no stranger goes first");
  assert.deepEqual([most.working, passwords.hashCount, refused.length], [2, 64 + 1 + 32, 36]);
  assert.match(String((refused[0] as PromiseRejectedResult).reason), /Too many sign-ins/);
});

test("a password is refused only if it is short, very long or obvious", () => {
  const refused = [
    "elevenchars",
    "password1234",
    "P@ssw0rd".toLowerCase(),
    "Administrator1!",
    "Changeme2026!",
    "aaaaaaaaaaaaaaaa",
    "ababababababab",
    "123456789012",
    "jo.meyer-1234",
    "jomeyer.jomeyer",
    "jomeyerjomeyerjomeyer1",
    "x".repeat(257),
  ];
  const taken = [
    "orbit lantern",
    "            z q k w",
    "пароль для печати",
    "🔑🔒🗝️🖨️🖥️🖱️⌨️💾📀🧮📞☎️",
    "aB3$".repeat(60),
  ];

  const wrong = [
    ...refused.filter((password) => passwordProblem(password, "jo.meyer") === undefined),
    ...taken.filter((password) => passwordProblem(password, "jo.meyer") !== undefined),
  ];

  assert.deepEqual(wrong, []);
});

test("no message about a password repeats it", () => {
  for (const password of ["brief", "password1234", "q".repeat(3000)])
    assert.ok(!passwordProblem(password, "jo")?.includes(password));
});

test("the message gives the wait in seconds, and a long wait in minutes", () => {
  const messages = [1, 2, 119, 120, 121, 900].map((seconds) => new TooManyAttempts(seconds * 1000).message);

  assert.deepEqual(
    messages.map((text) => text.replace(/.*again in /, "")),
    ["1 second.", "2 seconds.", "119 seconds.", "2 minutes.", "3 minutes.", "15 minutes."],
  );
});
