import assert from "node:assert/strict";
import { test } from "node:test";
import { defaultLimits } from "../../src/http/requests/limits.ts";
import { startApp } from "../support/app.ts";
import { connectRaw, exchange, statusOf } from "../support/raw.ts";

/** The number of answers in a connection's text. */
const answersIn = (text: string) => text.split("HTTP/1.1 ").length - 1;

const post = "POST /clients HTTP/1.1\r\nHost: localhost\r\n";
const head = (...lines: string[]) =>
  `${post}${["Content-Type: application/x-www-form-urlencoded", ...lines].join("\r\n")}\r\n\r\n`;
const hidden = `${post}Content-Length: 6\r\n\r\nname=H`;

/** Ambiguous requests, which a proxy and Platen could read in different ways. */
const ambiguous: [string, string][] = [
  ["a length and chunks", `${head("Content-Length: 6", "Transfer-Encoding: chunked")}0\r\n\r\n`],
  ["chunks and a length", `${head("Transfer-Encoding: chunked", "Content-Length: 6")}0\r\n\r\n`],
  ["an encoding that nobody knows", `${head("Transfer-Encoding: xchunked")}0\r\n\r\n`],
  ["chunks that are not last", `${head("Transfer-Encoding: chunked, identity")}0\r\n\r\n`],
  ["a blank before the colon", `${head("Transfer-Encoding : chunked")}0\r\n\r\n`],
  ["two lengths", `${head("Content-Length: 6", "Content-Length: 60")}name=A`],
  ["two lengths in one", `${head("Content-Length: 6, 6")}name=A`],
  ["a length with a sign", `${head("Content-Length: +6")}name=A`],
  ["a length below nothing", `${head("Content-Length: -6")}name=A`],
  ["a length in hexadecimal", `${head("Content-Length: 0x6")}name=A`],
  ["a length of more digits than any", `${head(`Content-Length: ${"9".repeat(30)}`)}name=A`],
  ["a line's end without its first half", head("Content-Length: 0").replaceAll("\r\n", "\n")],
  ["half a line's end in a value", head("X: a\rTransfer-Encoding: chunked", "Content-Length: 0")],
  ["a zero byte in a value", head("X: a\0b", "Content-Length: 0")],
  ["a header without a name", head(": x", "Content-Length: 0")],
  ["no host", head("Content-Length: 0").replace("Host: localhost\r\n", "")],
  ["a chunk's length with a sign", `${head("Transfer-Encoding: chunked")}+6\r\nname=A\r\n0\r\n\r\n`],
  ["a chunk's length that is none", `${head("Transfer-Encoding: chunked")}0x6\r\nname=A\r\n0\r\n\r\n`],
  ["a chunk's length beyond any", `${head("Transfer-Encoding: chunked")}${"f".repeat(17)}\r\nname=A`],
  ["a chunk that is longer than it says", `${head("Transfer-Encoding: chunked")}5\r\nname=A\r\n0\r\n\r\n`],
];

test("an ambiguous request is answered 400, the connection ends, and a hidden request is not answered", async (t) => {
  const { app, url } = await startApp(t);
  for (const [what, request] of ambiguous) {
    const answer = await exchange(url, Buffer.from(request + hidden, "latin1"));

    assert.equal(statusOf(answer), 400, `${what}: ${answer.slice(0, 200)}`);
    assert.equal(answersIn(answer), 1, `${what}: ${answer}`);
    assert.match(answer, /\r\nConnection: close\r\n/i, what);
    assert.equal(app.store.clients.count(), 0, what);
  }
});

test("a head that arrives byte by byte, and a silent connection, end with 408", async (t) => {
  const { url, fetch } = await startApp(t, { limits: { headMs: 200 } });
  const silent = await connectRaw(url);
  const dripping = await connectRaw(url);

  const drip = setInterval(() => dripping.socket.write("x"), 20);
  dripping.socket.write("GET / HTTP/1.1\r\nHost: localhost\r\nX: ");
  const answers = await Promise.all([silent.closed, dripping.closed]);
  clearInterval(drip);

  for (const answer of answers) assert.match(answer, /^HTTP\/1\.1 408 /);
  assert.equal((await fetch("/health")).status, 200);
});

test("a head of at most 16 KB is read, and no header is ignored silently", async (t) => {
  const { url } = await startApp(t);
  const start = "GET /health HTTP/1.1\r\nConnection: close\r\n";
  const long = (length: number) => `${start}X: ${"x".repeat(length)}\r\nHost: a\r\n\r\n`;
  const { headBytes: bytes } = defaultLimits;

  for (const [request, status] of [
    // Node would ignore Host, the last of more than 2,000 headers.
    [`${start}${"a:\r\n".repeat(2500)}Host: a\r\n\r\n`, 200],
    [long(bytes - 200), 200],
    [long(bytes), 431],
    [`GET /${"x".repeat(bytes)} HTTP/1.1\r\nHost: a\r\n\r\n`, 431],
  ] as const)
    assert.equal(statusOf(await exchange(url, request)), status, request.slice(0, 60));
});

test("a body announced with Expect is requested, and the connection of a body that never arrives ends", async (t) => {
  const { app, url } = await startApp(t, { limits: { slowMs: 300 } });
  const announced = head("Content-Length: 6", "Expect: 100-continue", "Connection: close");
  const honest = await connectRaw(url);
  const silent = await connectRaw(url);
  const other = await connectRaw(url);

  honest.socket.write(announced);
  await honest.until(/100 Continue/);
  honest.socket.write("name=A");
  silent.socket.write(announced.replace("Content-Length: 6", "Content-Length: 600"));
  other.socket.write(announced.replace("100-continue", "other").replace("Connection: close\r\n", ""));
  const answers = await Promise.all([honest.closed, silent.closed, other.closed]);

  assert.match(answers[0] ?? "", /100 Continue[\s\S]*HTTP\/1\.1 200/);
  assert.equal(answers[1], "HTTP/1.1 100 Continue\r\n\r\n");
  assert.match(answers[2] ?? "", /^HTTP\/1\.1 417 /);
  assert.equal(app.store.clients.count(), 1);
});

test("an unused body is read for a limited time, then the answer is sent and the connection ends", async (t) => {
  const { url, app } = await startApp(t, { limits: { drainMs: 300 } });
  const endless = "Transfer-Encoding: chunked";
  const requests = [
    head(endless),
    head(endless).replace("application/x-www-form-urlencoded", "multipart/form-data; boundary=b"),
    head(endless).replace("/clients", "/nothing"),
    head(endless).replace("POST", "GET"),
    head(endless).replace("POST", "PUT"),
    head(endless).replace("Content-Type", "Sec-Fetch-Site: cross-site\r\nContent-Type"),
  ];
  const chunk = `8000\r\n${"x".repeat(0x8000)}\r\n`;

  const ask = async (request: string) => {
    const { socket, closed } = await connectRaw(url);
    socket.write(request);
    const flood = setInterval(() => socket.write(chunk), 1);
    void closed.then(() => clearInterval(flood));
    return statusOf(await closed);
  };
  const statuses = await Promise.all(requests.map(ask));

  assert.deepEqual(statuses, [413, 413, 404, 200, 405, 403]);
  assert.equal(app.store.clients.count(), 0);
  assert.equal(defaultLimits.drainMs, 60_000);
});

test("a connection without further requests is closed, and so is one without traffic", async (t) => {
  const { url } = await startApp(t, { limits: { keepAliveMs: 100, idleMs: 300 } });
  const [used, silent] = [await connectRaw(url), await connectRaw(url)];

  used.socket.write("GET /health HTTP/1.1\r\nHost: a\r\n\r\n");
  const answers = await Promise.all([used.closed, silent.closed]);

  assert.equal(answersIn(answers[0] ?? ""), 1);
  assert.equal(answers[1], "");
  assert.deepEqual([defaultLimits.keepAliveMs, defaultLimits.idleMs], [10_000, 600_000]);
});
