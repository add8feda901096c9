import assert from "node:assert/strict";
import { test } from "node:test";
import { navigation, startApp } from "../support/app.ts";
import { driverZip } from "../support/drivers/driver-zip.ts";

for (const isFilled of [false, true])
  test(`every page is HTML in ${isFilled ? "a filled" : "an empty"} service`, async (t) => {
    const { fetch, addPrinter, post } = await startApp(t);
    const pages = ["/", "/printers", "/clients", "/drivers", "/packages"];
    if (isFilled) {
      await post("/clients", { name: "Alpha" });
      await addPrinter({ client_id: "1" });
      pages.push("/printers/1", "/printers/1/edit", "/printers?copy=1", "/clients/1", "/drivers/1");
    }

    for (const path of pages) {
      const answer = await fetch(path);
      const text = await answer.text();
      assert.equal(answer.status, 200, answer.url);
      assert.match(answer.headers.get("content-type") ?? "", /text\/html/);
      assert.match(text, /<h1>/, answer.url);
      assert.doesNotMatch(text, /(?:src|href|action)="https?:/, "no external address");
      assert.doesNotMatch(text, /<script>|<style| style="| on\w+="/, "nothing inline");
    }
  });

test("the packages page lists only printers that have a driver", async (t) => {
  const { fetch, addPrinter, post } = await startApp(t);
  await addPrinter({ name: "Complete" });
  await post("/printers", { name: "Bare", address: "10.0.0.1" });

  const text = await (await fetch("/packages")).text();

  assert.match(text, /Complete/);
  assert.match(text, /\/printers\/1\/packages\/mdm/);
  assert.doesNotMatch(text, /Bare/);
});

test("a name with markup and quotes breaks no page", async (t) => {
  const { post, fetch, addPrinter, addDriver } = await startApp(t);
  const name = `O'Brien & <Sons> ’quoted’ "x" <script>alert(1)</script>`;
  await post("/clients", { name });
  const driver = driverZip({ models: [`Model <img src=x onerror=alert(1)> "1"`], provider: "<b>P</b>" });
  const driver_id = String(await addDriver(driver));
  await addPrinter({ name, client_id: "1", comment: name, driver_id });

  const printers = ["/printers", "/printers/1", "/printers/1/edit"];
  for (const path of ["/", ...printers, "/clients", "/clients/1", "/packages"]) {
    const text = await (await fetch(path)).text();
    assert.doesNotMatch(text, /<Sons>|<script>alert|<b>P|<img src=x/);
    assert.match(text, /O&#39;Brien &amp; &lt;Sons&gt;/);
  }
  assert.doesNotMatch(await (await fetch("/drivers")).text(), /<b>P|<img src=x/);
  for (const path of [`/drivers/${driver_id}`, `/drivers/${driver_id}/models?q=img`, "/printers/1"]) {
    const text = await (await fetch(path)).text();
    assert.doesNotMatch(text, /<b>P|<img src=x/, path);
    assert.match(text, /Model &lt;img src=x onerror=alert\(1\)&gt; &quot;1&quot;/, path);
  }
});

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

  const statuses: number[] = [];
  for (const headers of [
    { origin: "https://evil.example" },
    { origin: "null" },
    { "sec-fetch-site": "cross-site" },
    { origin: url },
  ])
    statuses.push((await post("/clients", { name: "A" }, headers as Record<string, string>)).status);

  assert.deepEqual(statuses, [403, 403, 403, 200]);
  assert.equal(app.store.clients.count(), 1);
});
