import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { get } from "node:http";
import { test } from "node:test";
import { makeLog } from "../../src/domain/log.ts";
import { startGuarded } from "../support/access/guarded.ts";
import { startApp } from "../support/app.ts";
import { driverZip } from "../support/drivers/driver-zip.ts";
import { until } from "../support/until.ts";

const entry = {
  id: "0badcafe",
  method: "GET",
  route: "/printers/:id",
  status: 200,
  bytes: 5120,
  ms: 7,
  who: "Ada",
};

function linesOf(format: "text" | "json"): string[] {
  const lines: string[] = [];
  const { log, logRequest } = makeLog(
    format,
    (text) => lines.push(text),
    () => Date.UTC(2026, 10, 26),
  );
  log("warning: the disk is slow\nand old");
  log("error 0badcafe: GET /printers: boom");
  log("sign-in: let in");
  logRequest(entry);
  return lines;
}

test("the log as text has one line a request", () => {
  const lines = linesOf("text");

  assert.equal(lines[3], "2026-11-26T00:00:00.000Z 0badcafe GET /printers/:id 200 5120 bytes 7 ms “Ada”\n");
});

test("the log as JSON has one object a line, with a level", () => {
  const lines = linesOf("json");

  const objects = lines.map((line) => JSON.parse(line));
  assert.ok(lines.every((line) => line.indexOf("\n") === line.length - 1));
  assert.deepEqual(
    objects.map(({ level }) => level),
    ["warning", "error", "info", undefined],
  );
  assert.deepEqual(objects[3], { time: "2026-11-26T00:00:00.000Z", ...entry });
});

test("a request is logged with its route and sender, and without anything secret", async (t) => {
  const { service, viewer, operator, addToken, bearer } = await startGuarded(t);
  const token = await addToken("read");
  service.requests.length = 0;

  await (await viewer.fetch("/printers?q=secret")).text();
  await (await bearer(token).fetch("/printers/7")).text();
  await (await operator.post("/clients", { name: "Contoso" })).text();
  await (await viewer.fetch("/drivers", { method: "HEAD" })).text();
  await (await service.post("/sign-in", { name: "admin", password: "secret" })).text();
  await (await service.fetch("/secret?link=secret")).text();
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
  assert.ok(
    service.requests.every(({ id, bytes, ms }) => /^[0-9a-f]{8}$/.test(id) && bytes > 100 && ms >= 0),
  );
  const text = JSON.stringify(service.requests);
  for (const secret of ["secret", token]) assert.ok(!text.includes(secret), secret);
});

test("an error has the id of its request", async (t) => {
  const service = await startApp(t);
  const { app, fetch, requests, lines } = service;
  t.mock.method(app.overview, "read", () => Promise.reject(new Error("boom")));

  const failed = await (await fetch("/printers")).text();
  await until(() => requests.length === 1);

  const [{ id = "", status = 0 } = {}] = requests;
  assert.equal(status, 500);
  assert.ok(failed.includes(id), failed);
  assert.ok(lines.some((line) => line.startsWith(`error ${id}: GET /printers: Error: boom`)));
});

test("a client that leaves during a download is logged with 499 and the bytes that were sent", async (t) => {
  const { url, requests, addPrinter, addDriver } = await startApp(t);
  const driver = driverZip({ extra: [{ name: "big.bin", bytes: randomBytes(20_000_000), method: 0 }] });
  await addPrinter({ driver_id: String(await addDriver(driver)) });

  await new Promise<void>((resolve, reject) => {
    const outgoing = get(`${url}/printers/1/packages/rmm`, (answer) => {
      answer.once("data", () => {
        outgoing.destroy();
        resolve();
      });
    });
    outgoing.on("error", reject);
  });
  await until(() => requests.some(({ route }) => route === "/printers/:id/packages/:format"));

  const { status, bytes } = requests.at(-1) ?? {};
  assert.equal(status, 499);
  assert.ok((bytes ?? 0) > 1000 && (bytes ?? 0) < 20_000_000, String(bytes));
});
