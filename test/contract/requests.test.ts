import assert from "node:assert/strict";
import { test } from "node:test";
import { navigation, startApp } from "../support/app.ts";
import { driverZip } from "../support/drivers/driver-zip.ts";

test("the health check returns JSON with one field", async (t) => {
  const { fetch } = await startApp(t);

  const answer = await fetch("/health");

  assert.equal(answer.status, 200);
  assert.match(answer.headers.get("content-type") ?? "", /application\/json/);
  assert.deepEqual(await answer.json(), { status: "ok" });
});

test("static files come from the service, with their types", async (t) => {
  const { fetch } = await startApp(t);
  const page = await (await fetch("/")).text();
  const addresses = [...page.matchAll(/(?:src|href)="(\/static\/[^"]+)"/g)].map((match) => match[1] ?? "");

  const answers = await Promise.all(addresses.map((address) => fetch(address)));

  assert.ok(addresses.length >= 4);
  for (const answer of answers) {
    assert.equal(answer.status, 200);
    assert.match(answer.headers.get("content-type") ?? "", /text\/css|text\/javascript|image\/svg/);
    assert.match(answer.headers.get("cache-control") ?? "", /immutable/);
  }
  assert.equal((await fetch("/static/nothing.js")).status, 404);
  assert.equal((await fetch("/favicon.ico")).status, 200);
});

test("a wrong method is refused with 405 and Allow, an unknown path with 404", async (t) => {
  const { fetch } = await startApp(t);

  const wrong = await fetch("/printers", { method: "PUT" });
  const unknown = await fetch("/nothing");
  const browser = await fetch("/nothing", { headers: { accept: "text/html" } });

  assert.equal(wrong.status, 405);
  assert.equal(wrong.headers.get("allow"), "GET, HEAD, POST");
  assert.equal(unknown.status, 404);
  assert.match(unknown.headers.get("content-type") ?? "", /text\/plain/);
  assert.match(await browser.text(), /<h1>Not found<\/h1>/);
});

test("HEAD gives the same response as GET, without a body", async (t) => {
  const { fetch, addPrinter } = await startApp(t);
  const id = await addPrinter();

  for (const path of ["/", "/health", `/printers/${id}/scripts/detect`, `/printers/${id}/packages/mdm`]) {
    const head = await fetch(path, { method: "HEAD" });
    const full = await fetch(path);
    assert.equal(head.status, 200);
    assert.equal(head.headers.get("content-length"), full.headers.get("content-length"));
    assert.equal(await head.text(), "");
    await full.arrayBuffer();
  }
});

test("a browser without scripts is redirected from a form to a page", async (t) => {
  const { post, upload, fetch, addPrinter } = await startApp(t);
  await addPrinter();

  const answers = [
    await post("/clients", { name: "Alpha" }, navigation),
    await post("/printers", { name: "B", address: "10.0.0.1" }, navigation),
    await upload("/drivers/upload", driverZip({ version: "2.0.0.0" }), "b.zip", navigation),
    await post("/printers/1/delete", {}, navigation),
    await post("/clients/1/delete", {}, navigation),
  ];
  const refused = await post("/clients", { name: "" }, navigation);

  assert.deepEqual(
    answers.map((answer) => [answer.status, answer.headers.get("location")]),
    [
      [303, "/clients?saved=1"],
      [303, "/printers/2?done=saved"],
      [303, "/drivers/2?uploaded=new"],
      [303, "/printers?undo=1"],
      [303, "/clients?undo=2"],
    ],
  );
  assert.equal(refused.status, 422);
  assert.match(await refused.text(), /<h1>Clients<\/h1>[\s\S]*The client’s name is required/);
  assert.doesNotMatch(await (await fetch("/printers")).text(), /Office/, "what was deleted is gone");
});

test("a cross-site request cannot change anything", async (t) => {
  const { post, app, url } = await startApp(t);

  const answers = [
    await post("/clients", { name: "A" }, { origin: "https://evil.example" }),
    await post("/clients", { name: "A" }, { origin: "null" }),
    await post("/clients", { name: "A" }, { "sec-fetch-site": "cross-site" }),
  ];
  const own = await post("/clients", { name: "A" }, { origin: url });

  assert.deepEqual(
    answers.map((answer) => answer.status),
    [403, 403, 403],
  );
  assert.equal(own.status, 200);
  assert.equal(app.store.clients.count(), 1);
});
