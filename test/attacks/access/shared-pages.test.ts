import assert from "node:assert/strict";
import { test } from "node:test";
import { proxiesOf } from "../../support/access/proxies.ts";
import { startApp } from "../../support/app.ts";
import { connectRaw } from "../../support/raw.ts";

test("requests by a trusted proxy and direct ones get different pages, each with its own address of the service", async (t) => {
  const service = await startApp(t, { proxies: proxiesOf({ TRUSTED_PROXIES: "127.0.0.2" }) });
  const id = await service.addPrinter();
  const head = "Host: localhost\r\nX-Forwarded-Proto: https\r\nConnection: close\r\n";
  const raws = [await connectRaw(service.url, "127.0.0.2"), await connectRaw(service.url)];

  for (const { socket } of raws) socket.write(`GET /printers/${id} HTTP/1.1\r\n${head}\r\n`);
  const [proxied = "", direct = ""] = await Promise.all(raws.map(({ closed }) => closed));

  assert.match(proxied, /https:\/\/localhost\/printers\/1\/scripts/);
  assert.doesNotMatch(direct, /https:\/\/localhost/);
  assert.match(direct, /http:\/\/localhost\/printers\/1\/scripts/);
});
