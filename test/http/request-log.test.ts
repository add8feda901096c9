import assert from "node:assert/strict";
import { test } from "node:test";
import { makeLog } from "../../src/domain/log.ts";
import { startGuarded } from "../support/access/guarded.ts";
import { startApp } from "../support/app.ts";
import { beginDownload } from "../support/audit/downloads.ts";
import { textOf } from "../support/deploy/answers.ts";
import { addLargeDriver } from "../support/deploy/large-driver.ts";
import { exchange, statusOf } from "../support/raw.ts";
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

test("a text from outside cannot imitate another field or line of the text log", async (t) => {
  const line = "2026-11-26T00:00:00.000Z sign-in: let in: “admin”";
  const lines: string[] = [];
  const { log, logRequest } = makeLog("text", (text) => lines.push(text), Date.now);
  const { url } = await startApp(t);

  logRequest({ ...entry, who: `Ada” 7\u2028${line}\u202e` });
  log(`error 1: x\n${line}\r${line}\u2029${line}`);
  // Node's parser accepts only visible ASCII in an address.
  const statuses = ["a\x85", "a\xa0", "a\x1b", "a\t"].map(async (path) =>
    statusOf(await exchange(url, Buffer.from(`GET /${path} HTTP/1.1\r\nHost: a\r\n\r\n`, "latin1"))),
  );

  const [asked = "", failed = ""] = lines;
  assert.ok(
    asked.endsWith(
      `“Ada\\u{201d} 7\\u{2028}${line.replace("“", "\\u{201c}").replace("”", "\\u{201d}")}\\u{202e}”\n`,
    ),
    asked,
  );
  assert.equal(failed.slice(25), `error 1: x\n  ${line}\n  ${line}\n  ${line}\n`);
  assert.deepEqual(await Promise.all(statuses), [400, 400, 400, 400]);
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
