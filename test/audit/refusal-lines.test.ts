import assert from "node:assert/strict";
import { test } from "node:test";
import { defaultLimits, type Limits } from "../../src/http/requests/limits.ts";
import { LimitedLog } from "../../src/services/limited-log.ts";
import { startClosed } from "../support/access/people.ts";
import { startApp } from "../support/app.ts";
import { connectRaw } from "../support/raw.ts";
import { until } from "../support/until.ts";

test("refusals of one kind get 20 lines a minute, and one line with the number of the others", (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const lines: string[] = [];
  const bounded = new LimitedLog((line) => lines.push(line));

  for (let i = 0; i < 215; i++) bounded.logRefused(503, "Too many pages.", `GET /${i} from 10.0.0.1`);
  bounded.logRefused(429, "Too many attempts.", "POST /sign-in from 10.0.0.2");
  bounded.logRefused(404, "There is nothing.", "GET /x from 10.0.0.3");
  t.mock.timers.tick(60_000);
  bounded.logRefused(503, "Too many pages.", "GET /later from 10.0.0.1");

  assert.equal(
    lines.filter((line) => line.startsWith("refused with 503: Too many pages. (GET /")).length,
    21,
  );
  assert.deepEqual(lines.slice(20), [
    "refused with 429: Too many attempts. (POST /sign-in from 10.0.0.2)",
    "195 more lines like these in the last minute",
    "refused with 503: Too many pages. (GET /later from 10.0.0.1)",
  ]);
});

test("a download over the limit is logged with its path", async (t) => {
  const service = await startApp(t, { limits: { ...defaultLimits, downloads: 0 } });
  const id = await service.addPrinter();

  const answer = await service.fetch(`/printers/${id}/packages/rmm`);

  assert.equal(answer.status, 503);
  assert.deepEqual(refusalLines(service.lines), [
    `refused with 503: ${(await answer.text()).trim()} (GET /printers/${id}/packages/rmm from 127.0.0.1)`,
  ]);
});

test("a connection over the limit is logged with its address", async (t) => {
  const service = await startApp(t, { limits: { ...defaultLimits, connections: 0 } });

  const raw = await connectRaw(service.url);

  assert.match(await raw.closed, /^HTTP\/1\.1 503 /);
  assert.deepEqual(refusalLines(service.lines), [
    "refused with 503: Too many connections are open at the moment. Try again in a few seconds. (127.0.0.1)",
  ]);
});

const slowRequests: Record<string, { limits: Partial<Limits>; sent: string; line: string }> = {
  head: {
    limits: { headMs: 50, headCheckMs: 20 },
    sent: "GET / HTTP/1.1\r\nHost: loc",
    line: "refused with 408: The request’s head came too slowly. (127.0.0.1)",
  },
  body: {
    limits: { slowMs: 50 },
    sent: "POST /clients HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\nname",
    line: "refused with 408: The request came too slowly. (POST /clients from 127.0.0.1)",
  },
};

for (const [part, { limits, sent, line }] of Object.entries(slowRequests)) {
  test(`a request whose ${part} arrives too slowly is logged`, async (t) => {
    const service = await startApp(t, { limits });
    const raw = await connectRaw(service.url);

    raw.socket.write(sent);
    await raw.closed;

    await until(() => refusalLines(service.lines).length > 0);
    assert.deepEqual(refusalLines(service.lines), [line]);
  });
}

test("too many sign-in attempts are logged without the passwords", async (t) => {
  const service = await startClosed(t);

  for (let i = 0; i < 30; i++) await service.post("/sign-in", { name: "admin", password: `wrong ${i}` });

  assert.ok(
    refusalLines(service.lines).includes(
      "refused with 429: Too many attempts to sign in. (POST /sign-in from 127.0.0.1)",
    ),
    service.lines.join("\n"),
  );
  assert.doesNotMatch(service.lines.join("\n"), /wrong \d/);
});

function refusalLines(lines: readonly string[]): string[] {
  return lines.filter((line) => line.startsWith("refused with"));
}
