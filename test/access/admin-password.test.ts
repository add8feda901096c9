import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { inspect } from "node:util";
import { readConfig } from "../../src/config.ts";
import { adminPassword, signInAdmin } from "../support/access/people.ts";
import { bundle, startApp, temporaryFolder } from "../support/app.ts";

const secret = "orbit lantern copper";

test("a printed configuration does not contain the password", () => {
  const config = readConfig({ ADMIN_PASSWORD: secret });

  const shown = [
    inspect(config, { depth: 9, showHidden: true }),
    JSON.stringify(config),
    `${config.adminPassword}`,
  ];

  assert.equal(config.adminPassword?.reveal(), secret);
  assert.ok(Object.isFrozen(config));
  for (const text of shown) assert.doesNotMatch(text, /orbit/);
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

test("a password file has one line, with any line ending", async (t) => {
  const folder = await temporaryFolder(t);
  const path = join(folder, "password");

  for (const text of [adminPassword, `${adminPassword}\n`, `\ufeff${adminPassword}\r\n`]) {
    writeFileSync(path, text);
    const app = await startApp(t, { adminPasswordFile: path });
    await signInAdmin(app);
    await app.stop();
  }
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
  ];
  mkdirSync(join(folder, "folder"));

  const messages: string[] = [];
  for (const [name, content, message] of [...wrong, ["folder", undefined, /it is no file|EISDIR/] as const]) {
    const path = join(folder, name);
    if (content !== undefined) writeFileSync(path, content);
    await assert.rejects(startApp(t, { adminPasswordFile: path }), (error: Error) => {
      messages.push(error.message);
      return message.test(error.message);
    });
  }

  assert.doesNotMatch(messages.join(), /orbit|zyxwv/);
});

test("an unreadable password file is reported together with other wrong settings", async (t) => {
  const folder = await temporaryFolder(t);
  const settings = { PORT: "nonsense", ADMIN_PASSWORD_FILE: join(folder, "none") };

  const { stderr, status } = spawnSync(process.execPath, [bundle], {
    encoding: "utf8",
    env: { PATH: process.env.PATH, DATA_DIR: join(folder, "data"), ...settings },
  });

  assert.equal(status, 1);
  assert.match(stderr, /PORT is “nonsense”[\s\S]*ADMIN_PASSWORD_FILE is .*none, which cannot be read/);
  assert.deepEqual(readdirSync(folder), []);
});

test("the password appears in neither the help nor the output, and is not passed to child processes", async (t) => {
  const folder = await temporaryFolder(t);
  const environment = { PATH: process.env.PATH, DATA_DIR: join(folder, "data"), PORT: "nonsense" };
  const run = (...args: string[]) =>
    spawnSync(process.execPath, [bundle, ...args], {
      encoding: "utf8",
      env: { ...environment, ADMIN_PASSWORD: secret },
    });

  const [help, refused] = [run("--help"), run()];

  assert.match(help.stdout, /ADMIN_PASSWORD_FILE/);
  assert.match(refused.stderr, /PORT is/);
  assert.doesNotMatch(help.stdout + help.stderr + refused.stdout + refused.stderr, /orbit/);
  assert.match(readFileSync("src/config.ts", "utf8"), /of secretSettings\) delete process\.env\[name\]/);
});
