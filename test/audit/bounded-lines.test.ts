import assert from "node:assert/strict";
import { test } from "node:test";
import { LimitedLog } from "../../src/services/limited-log.ts";
import { startClosed } from "../support/access/people.ts";
import { startApp } from "../support/app.ts";
import { hangUpAfter, postText } from "../support/raw.ts";

test("a network that causes many lines does not suppress the lines of others, and omitted lines are counted", (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const written: string[] = [];
  const lines = new LimitedLog((line) => written.push(line));

  for (let i = 0; i < 5000; i++) lines.log(`from one: ${i}`, "10.0.0.1");
  lines.log("from another", "10.0.0.2");
  const inFirst = [...written];
  t.mock.timers.tick(60_000);
  lines.log("a minute later", "10.0.0.1");

  assert.equal(inFirst.length, 21);
  assert.equal(inFirst.at(-1), "from another");
  assert.deepEqual(written.slice(21), ["4980 more lines like these in the last minute", "a minute later"]);
});

test("any number of networks share a limited number of lines", () => {
  const written: string[] = [];
  const lines = new LimitedLog((line) => written.push(line));

  for (let i = 0; i < 5000; i++) lines.log("broken off", `2001:db8:0:${i.toString(16)}`);

  assert.equal(written.length, 120);
});

test("sign-ins and sign-outs are logged however many attempts are refused", async (t) => {
  const { app, lines } = await startClosed(t);
  const from = (address: string) => ({ address, browser: "" });
  for (let network = 1; network <= 6; network++)
    for (let i = 0; i < 25; i++)
      await assert.rejects(
        app.signIn.signIn({ name: `name ${network}`, password: "wrong" }, from(`10.0.${network}.1`)),
      );

  const credentials = { name: "admin", password: "orbit lantern copper" };
  const { account } = await app.signIn.signIn(credentials, from("192.0.2.7"));
  const [session] = app.store.sessions.ofAccount(1);
  assert.ok(session);
  await app.signIn.signOut(session, "admin", "192.0.2.7");

  assert.equal(account.name, "admin");
  const said = lines.filter((line) => line.startsWith("sign-in: "));
  assert.equal(said.filter((line) => line.startsWith("sign-in: refused")).length, 120);
  assert.deepEqual(said.slice(120), [
    "sign-in: let in: “admin” from 192.0.2.7",
    "sign-in: signed out: “admin” from 192.0.2.7",
  ]);
});

test("many aborted forms do not fill the log", async (t) => {
  const app = await startApp(t);
  const form = postText("/clients", "application/x-www-form-urlencoded", "name=A", { length: 1000 });

  for (let i = 0; i < 100; i++) await hangUpAfter(app.url, form);

  const broken = app.lines.filter((line) => line.startsWith("broken off"));
  assert.equal(broken.length, 20);
});
