import assert from "node:assert/strict";
import { test } from "node:test";
import type { Limits } from "../../src/http/requests/limits.ts";
import { LimitedLog } from "../../src/services/limited-log.ts";
import { adminPassword, startClosed } from "../support/access/people.ts";
import { startApp } from "../support/app.ts";
import { connectRaw, hangUpAfter, postText } from "../support/raw.ts";
import { until } from "../support/until.ts";

const refusalLines = (lines: readonly string[]) => lines.filter((line) => line.startsWith("refused with"));

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

test("refusals of one kind get 20 lines a minute, and one line with the number of the others", (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const lines: string[] = [];
  const bounded = new LimitedLog((line) => lines.push(line));

  for (let i = 0; i < 215; i++) bounded.logRefused(503, "Too many pages.", `GET /${i} from 10.0.0.1`);
  bounded.logRefused(429, "Too many attempts.", "POST /sign-in from 10.0.0.2");
  bounded.logRefused(404, "There is nothing.", "GET /x from 10.0.0.3");
  t.mock.timers.tick(60_000);
  bounded.logRefused(503, "Too many pages.", "GET /later from 10.0.0.1");

  for (const line of lines.slice(0, 20)) assert.match(line, /^refused with 503: Too many pages\. \(GET \//);
  assert.deepEqual(lines.slice(20), [
    "refused with 429: Too many attempts. (POST /sign-in from 10.0.0.2)",
    "195 more lines like these in the last minute",
    "refused with 503: Too many pages. (GET /later from 10.0.0.1)",
  ]);
});

test("sign-ins and sign-outs are logged however many attempts are refused", async (t) => {
  const { app, lines } = await startClosed(t);
  const from = (address: string) => ({ address, browser: "" });
  for (let i = 0; i < 150; i++) {
    const network = 1 + Math.floor(i / 25);
    const attempt = { name: `name ${network}`, password: "wrong" };
    await assert.rejects(app.signIn.signIn(attempt, from(`10.0.${network}.1`)));
  }

  await app.signIn.signIn({ name: "admin", password: adminPassword }, from("192.0.2.7"));
  const [session] = app.store.sessions.ofAccount(1);
  assert.ok(session);
  await app.signIn.signOut(session, "admin", "192.0.2.7");

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

  for (let i = 0; i < 30; i++) await hangUpAfter(app.url, form);

  assert.equal(app.lines.filter((line) => line.startsWith("broken off")).length, 20);
});

test("a download over the limit is logged with its path", async (t) => {
  const service = await startApp(t, { limits: { downloads: 0 } });
  const id = await service.addPrinter();

  const answer = await service.fetch(`/printers/${id}/packages/rmm`);

  assert.equal(answer.status, 503);
  assert.deepEqual(refusalLines(service.lines), [
    `refused with 503: ${(await answer.text()).trim()} (GET /printers/${id}/packages/rmm from 127.0.0.1)`,
  ]);
});

const refusedConnections: readonly [string, Partial<Limits>, string, string][] = [
  [
    "a connection over the limit",
    { connections: 0 },
    "",
    "refused with 503: Too many connections are open at the moment. Try again in a few seconds. (127.0.0.1)",
  ],
  [
    "a request whose head arrives too slowly",
    { headMs: 50, headCheckMs: 20 },
    "GET / HTTP/1.1\r\nHost: loc",
    "refused with 408: The request’s head came too slowly. (127.0.0.1)",
  ],
  [
    "a request whose body arrives too slowly",
    { slowMs: 50 },
    "POST /clients HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\nname",
    "refused with 408: The request came too slowly. (POST /clients from 127.0.0.1)",
  ],
];

for (const [what, limits, sent, line] of refusedConnections)
  test(`${what} is logged`, async (t) => {
    const service = await startApp(t, { limits });
    const raw = await connectRaw(service.url);

    if (sent !== "") raw.socket.write(sent);
    const answer = await raw.closed;

    await until(() => refusalLines(service.lines).length > 0);
    assert.deepEqual(refusalLines(service.lines), [line]);
    assert.ok(sent !== "" || answer.startsWith("HTTP/1.1 503 "), answer);
  });

test("too many sign-in attempts are logged without the passwords", async (t) => {
  const service = await startClosed(t);

  for (let i = 0; i < 30; i++) await service.post("/sign-in", { name: "admin", password: `wrong ${i}` });

  const line = "refused with 429: Too many attempts to sign in. (POST /sign-in from 127.0.0.1)";
  assert.ok(refusalLines(service.lines).includes(line), service.lines.join("\n"));
  assert.doesNotMatch(service.lines.join("\n"), /wrong \d/);
});
