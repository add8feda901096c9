import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import crypto, { randomBytes } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { inspect } from "node:util";
import { readConfig } from "../../src/config.ts";
import { passwordProblem } from "../../src/domain/access/password.ts";
import { Passwords } from "../../src/services/access/passwords.ts";
import { TooManyAttempts } from "../../src/services/access/sign-in.ts";
import { adminPassword, signInAdmin } from "../support/access/people.ts";
import { bundle, passwordCost, startApp, temporaryFolder } from "../support/app.ts";

const quick = () => new Passwords(randomBytes, passwordCost);

test("a hash contains its parameters and salt, and matches only its password", async () => {
  const usual = await new Passwords(randomBytes).hash("café au lait");
  const passwords = quick();

  const [hash, other] = [await passwords.hash("café au lait"), await passwords.hash("café au lait")];

  assert.match(usual, /^\$scrypt\$ln=15,r=8,p=3\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/);
  assert.equal(await new Passwords(randomBytes).verify("café au lait", usual), true);
  assert.match(hash, /^\$scrypt\$ln=10,r=8,p=1\$/);
  assert.notEqual(hash, other);
  assert.equal(await passwords.verify("cafe\u0301 au lait", hash), true);
  assert.equal(await passwords.verify("cafe au lait", hash), false);
});

test("a hash of another form or cost matches no password, after the usual work", async (t) => {
  const hashes = t.mock.method(crypto, "scrypt");
  const passwords = quick();
  const [salt, key] = ["A".repeat(22), "A".repeat(43)];
  const strange = [
    "",
    "orbit lantern copper",
    `$scrypt$ln=20,r=8,p=1$${salt}$${key}`,
    `$scrypt$ln=10,r=8,p=99$${salt}$${key}`,
    `$scrypt$ln=10,r=8,p=1$${salt}$${key}=`,
    `$scrypt$ln=10,r=8,p=1$${salt}`,
    `$argon2id$ln=10,r=8,p=1$${salt}$${key}`,
    undefined,
  ];

  for (const hash of strange) assert.equal(await passwords.verify("", hash), false, hash);

  assert.equal(hashes.mock.callCount(), strange.length);
});

test("two passwords are hashed at a time, and an unknown browser is refused when many wait", async (t) => {
  const hashes = t.mock.method(crypto, "scrypt");
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
  const before = hashes.mock.callCount();
  const outcomes = await strangers;
  const refused = outcomes.filter(({ status }) => status === "rejected");
  const ofOne = await Promise.allSettled(Array.from({ length: 40 }, () => attempt("192.0.2.7")));

  assert.equal(ofOne.filter(({ status }) => status === "fulfilled").length, 32);
  assert.ok(before < 32, "whoever is no stranger goes first");
  assert.deepEqual([most.working, hashes.mock.callCount(), refused.length], [2, 64 + 1 + 32, 36]);
  assert.match(String((refused[0] as PromiseRejectedResult).reason), /Too many sign-ins/);
});

test("a password is refused only if it is short, very long or obvious, and no message repeats it", () => {
  const refused = [
    ...["elevenchars", "password1234", "p@ssw0rd", "Administrator1!", "Changeme2026!", "aaaaaaaaaaaaaaaa"],
    ...["ababababababab", "123456789012", "jo.meyer-1234", "jomeyer.jomeyer", "jomeyerjomeyerjomeyer1"],
    "x".repeat(257),
  ];
  const taken = [
    ...["orbit lantern", "            z q k w", "пароль для печати", "🔑🔒🗝️🖨️🖥️🖱️⌨️💾📀🧮📞☎️"],
    "aB3$".repeat(60),
  ];

  const problems = [...refused, ...taken].map((password) => passwordProblem(password, "jo.meyer"));

  const right = problems.filter((problem, i) => (problem === undefined) === i >= refused.length);
  assert.equal(right.length, problems.length, problems.join());
  for (const [i, problem] of problems.entries()) assert.ok(!problem?.includes(refused[i] ?? ""), problem);
});

test("the message gives the wait in seconds, and a long wait in minutes", () => {
  const messages = [1, 2, 119, 120, 121, 900].map((seconds) => new TooManyAttempts(seconds * 1000).message);

  const waits = messages.map((text) => text.replace(/.*again in (.*)\./, "$1")).join();
  assert.equal(waits, "1 second,2 seconds,119 seconds,2 minutes,3 minutes,15 minutes");
});

const secret = adminPassword;

test("a printed configuration does not contain the administrator's password", () => {
  const config = readConfig({ ADMIN_PASSWORD: secret });

  const shown = [inspect(config, { depth: 9, showHidden: true }), JSON.stringify(config)];

  assert.equal(config.adminPassword?.reveal(), secret);
  assert.ok(Object.isFrozen(config));
  for (const text of [...shown, `${config.adminPassword}`]) assert.doesNotMatch(text, /orbit/);
});

test("an empty, short, obvious or doubly set password stops the start, and no message repeats it", () => {
  const wrong: [Record<string, string>, RegExp][] = [
    [{ ADMIN_PASSWORD: "" }, /ADMIN_PASSWORD is empty\. Set it, or leave it out/],
    [{ ADMIN_PASSWORD: "zyxwv" }, /too short\. Use at least 12/],
    [{ ADMIN_PASSWORD: "zyxwv".repeat(99) }, /too long/],
    [{ ADMIN_PASSWORD: "Administrator1" }, /easy to guess/],
    [{ ADMIN_PASSWORD_FILE: "" }, /ADMIN_PASSWORD_FILE is empty/],
    [{ ADMIN_PASSWORD: secret, ADMIN_PASSWORD_FILE: "/run/x" }, /both set/],
  ];

  for (const [environment, message] of wrong) {
    assert.throws(
      () => readConfig(environment),
      (error: Error) => message.test(error.message) && !/orbit|zyxwv|Administrator1/.test(error.message),
    );
  }
});

test("a password file has one line, with any line ending and a byte order mark", async (t) => {
  const adminPasswordFile = join(await temporaryFolder(t), "password");
  writeFileSync(adminPasswordFile, `\ufeff${secret}\r\n`);

  const app = await startApp(t, { adminPasswordFile });

  await signInAdmin(app);
});

test("an invalid password file stops the start with a message that names the file and not its content", async (t) => {
  const folder = await temporaryFolder(t);
  const wrong: [string, string | Buffer | undefined, RegExp][] = [
    ["gone", undefined, /gone, which cannot be read \(ENOENT\)/],
    ["empty", "\n", /empty, which is empty/],
    ["two-lines", `${secret}\nnext`, /one line/],
    ["wide", Buffer.from(secret, "utf16le"), /one line/],
    ["long", "zyxwv".repeat(9999), /one line/],
    ["short", "zyxwv", /too short/],
    ["folder", undefined, /it is no file|EISDIR/],
  ];
  mkdirSync(join(folder, "folder"));

  for (const [name, content, message] of wrong) {
    const adminPasswordFile = join(folder, name);
    if (content !== undefined) writeFileSync(adminPasswordFile, content);
    await assert.rejects(
      startApp(t, { adminPasswordFile }),
      (error: Error) => message.test(error.message) && !/orbit|zyxwv/.test(error.message),
    );
  }
});

test("the program reports an unreadable password file with other wrong settings, and never prints the password", async (t) => {
  const folder = await temporaryFolder(t);
  const run = (environment: Record<string, string>, ...args: string[]) =>
    spawnSync(process.execPath, [bundle, ...args], {
      encoding: "utf8",
      env: { PATH: process.env.PATH, DATA_DIR: join(folder, "data"), PORT: "nonsense", ...environment },
    });

  const unreadable = run({ ADMIN_PASSWORD_FILE: join(folder, "none") });
  const [help, refused] = [run({ ADMIN_PASSWORD: secret }, "--help"), run({ ADMIN_PASSWORD: secret })];

  assert.equal(unreadable.status, 1);
  const both = /PORT is “nonsense”[\s\S]*ADMIN_PASSWORD_FILE is .*none, which cannot be read/;
  assert.match(unreadable.stderr, both);
  assert.deepEqual(readdirSync(folder), []);
  assert.match(help.stdout, /ADMIN_PASSWORD_FILE/);
  assert.match(refused.stderr, /PORT is/);
  assert.doesNotMatch(help.stdout + help.stderr + refused.stdout + refused.stderr, /orbit/);
  assert.match(readFileSync("src/config.ts", "utf8"), /of secretSettings\) delete process\.env\[name\]/);
});
