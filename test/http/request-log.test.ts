import assert from "node:assert/strict";
import { test } from "node:test";
import { makeLog } from "../../src/domain/log.ts";
import { startGuarded } from "../support/access/guarded.ts";
import { startApp } from "../support/app.ts";
import { beginDownload } from "../support/audit/downloads.ts";
import { textOf } from "../support/deploy/answers.ts";
import { addLargeDriver } from "../support/deploy/large-driver.ts";
import { until } from "../support/until.ts";

const asked = { id: "0badcafe", method: "GET", route: "/printers/:id" };
const entry = { ...asked, status: 200, bytes: 5120, ms: 7, who: "Ada" };

function linesOf(format: "text" | "json"): string[] {
  const lines: string[] = [];
  const write = (text: string) => lines.push(text);
  const { log, logRequest } = makeLog(format, write, () => Date.UTC(2026, 10, 26));
  log("warning: the disk is slow\nand old");
  log("error 0badcafe: GET /printers: boom");
  log("sign-in: let in");
  logRequest(entry);
  return lines;
}

test("the log has one line a request, as text or as JSON with a level", () => {
  const [text, json] = [linesOf("text"), linesOf("json")];

  const objects = json.map((line) => JSON.parse(line));
  const levels = objects.map(({ level }) => level);
  assert.equal(text[3], "2026-11-26T00:00:00.000Z 0badcafe GET /printers/:id 200 5120 bytes 7 ms “Ada”\n");
  assert.ok(json.every((line) => line.indexOf("\n") === line.length - 1));
  assert.deepEqual(levels, ["warning", "error", "info", undefined]);
  assert.deepEqual(objects[3], { time: "2026-11-26T00:00:00.000Z", ...entry });
});

test("a request is logged with its route and sender, and without anything secret", async (t) => {
  const { service, viewer, operator, addToken, bearer } = await startGuarded(t);
  const token = await addToken("read");
  service.requests.length = 0;

  await textOf(viewer.fetch("/printers?q=secret"));
  await textOf(bearer(token).fetch("/printers/7"));
  await textOf(operator.post("/clients", { name: "Contoso" }));
  await textOf(viewer.fetch("/drivers", { method: "HEAD" }));
  await textOf(service.post("/sign-in", { name: "admin", password: "secret" }));
  await textOf(service.fetch("/secret?link=secret"));
  await until(() => service.requests.length === 6);

  assert.deepEqual(
    service.requests.map(({ method, route, status, who }) => [method, route, status, who]),
    [
      ["GET", "/printers", 200, "seller"],
      ["GET", "/printers/:id", 404, "token for read"],
      ["POST", "/clients", 200, "tech"],
      ["HEAD", "/drivers", 200, "seller"],
      ["POST", "/sign-in", 404, "nobody"],
      ["GET", "-", 401, "nobody"],
    ],
  );
  for (const { id, bytes, ms } of service.requests)
    assert.ok(/^[0-9a-f]{8}$/.test(id) && bytes > 100 && ms >= 0, id);
  const text = JSON.stringify(service.requests);
  for (const secret of ["secret", token]) assert.ok(!text.includes(secret), secret);
});

test("an error has the id of its request", async (t) => {
  const service = await startApp(t);
  const { app, fetch, requests, lines } = service;
  t.mock.method(app.overview, "read", () => Promise.reject(new Error("boom")));

  const failed = await textOf(fetch("/printers"));
  await until(() => requests.length === 1);

  const [{ id = "", status = 0 } = {}] = requests;
  assert.equal(status, 500);
  assert.ok(failed.includes(`Platen had an error (${id}). Nothing was changed.`), failed);
  assert.ok(lines.some((line) => line.startsWith(`error ${id}: GET /printers: Error: boom`)));
});

test("a client that leaves during a download is logged with 499 and the bytes that were sent", async (t) => {
  const { url, requests, addPrinter, addDriver } = await startApp(t);
  await addLargeDriver({ addDriver, addPrinter });

  const download = await beginDownload(`${url}/printers/1/packages/rmm`);
  await new Promise((resolve) => download.once("data", resolve).resume());
  download.destroy();
  await until(() => requests.some(({ route }) => route === "/printers/:id/packages/:format"));

  const { status, bytes } = requests.at(-1) ?? {};
  assert.equal(status, 499);
  assert.ok((bytes ?? 0) > 1000 && (bytes ?? 0) < 12_000_000, String(bytes));
});
