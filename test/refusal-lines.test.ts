import assert from "node:assert/strict";
import { test } from "node:test";
import { RefusalLines } from "../src/http/answers/refusal-lines.ts";
import { defaultLimits } from "../src/http/requests/limits.ts";
import { startApp } from "./support/app.ts";
import { startClosed } from "./support/people.ts";
import { connectRaw } from "./support/raw.ts";
import { until } from "./support/until.ts";

test("a refusal is one line with its reason and address; more of its kind are counted, a line a second", (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const lines: string[] = [];
  const refusals = new RefusalLines((line) => lines.push(line));

  for (let i = 0; i < 215; i++) refusals.note(503, "Too many pages.", `GET /${i} from 10.0.0.1`);
  refusals.note(429, "Too many attempts.", "POST /sign-in from 10.0.0.2");
  refusals.note(404, "There is nothing.", "GET /x from 10.0.0.3");
  t.mock.timers.tick(1000);
  refusals.note(503, "Too many pages.", "GET /again from 10.0.0.1");
  t.mock.timers.tick(1000);
  t.mock.timers.tick(1000);
  refusals.note(503, "Too many pages.", "GET /later from 10.0.0.1");

  assert.deepEqual(lines, [
    "refused with 503: Too many pages. (GET /0 from 10.0.0.1)",
    "refused with 429: Too many attempts. (POST /sign-in from 10.0.0.2)",
    "refused with 503: Too many pages. (214 more)",
    "refused with 503: Too many pages. (1 more)",
    "refused with 503: Too many pages. (GET /later from 10.0.0.1)",
  ]);
});

test("a download for which there is no room is logged with what was asked for", async (t) => {
  const service = await startApp(t, { limits: { ...defaultLimits, downloads: 0 } });
  const id = await service.addPrinter();

  const answer = await service.fetch(`/printers/${id}/packages/rmm`);

  assert.equal(answer.status, 503);
  assert.deepEqual(refusedIn(service.lines), [
    `refused with 503: ${(await answer.text()).trim()} (GET /printers/${id}/packages/rmm from 127.0.0.1)`,
  ]);
});

test("a connection beyond the most is logged with its address", async (t) => {
  const service = await startApp(t, { limits: { ...defaultLimits, connections: 0 } });

  const raw = await connectRaw(service.url);

  assert.match(await raw.closed, /^HTTP\/1\.1 503 /);
  assert.deepEqual(refusedIn(service.lines), [
    "refused with 503: Too many connections are open at the moment. Try again in a few seconds. (127.0.0.1)",
  ]);
});

test("a request that comes too slowly is logged, its head and its body", async (t) => {
  const limits = { ...defaultLimits, headMs: 50, headLookMs: 20, slowMs: 50 };
  const service = await startApp(t, { limits });
  const [head, body] = [await connectRaw(service.url), await connectRaw(service.url)];

  head.socket.write("GET / HTTP/1.1\r\nHost: loc");
  body.socket.write("POST /clients HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\nname");
  await Promise.all([head.closed, body.closed]);

  await until(() => refusedIn(service.lines).length === 2);
  assert.deepEqual(refusedIn(service.lines).toSorted(), [
    "refused with 408: The request came too slowly. (POST /clients from 127.0.0.1)",
    "refused with 408: The request’s head came too slowly. (127.0.0.1)",
  ]);
});

test("too many attempts to sign in are logged without what was typed", async (t) => {
  const service = await startClosed(t);

  for (let i = 0; i < 30; i++) await service.post("/sign-in", { name: "admin", password: `wrong ${i}` });

  assert.ok(
    refusedIn(service.lines).includes(
      "refused with 429: Too many attempts to sign in. (POST /sign-in from 127.0.0.1)",
    ),
    service.lines.join("\n"),
  );
  assert.doesNotMatch(service.lines.join("\n"), /wrong \d/);
});

function refusedIn(lines: readonly string[]): string[] {
  return lines.filter((line) => line.startsWith("refused with"));
}
