import assert from "node:assert/strict";
import { test } from "node:test";
import { navigation, startApp } from "../support/app.ts";
import { fetchAll, statusesOf, textOf, textsOf } from "../support/deploy/answers.ts";
import { driverZip } from "../support/drivers/driver-zip.ts";

test("every page is HTML without external addresses, inline code and unescaped names, in an empty and in a filled service", async (t) => {
  const service = await startApp(t);
  const { post, addPrinter, addDriver } = service;
  const name = `O'Brien & <Sons> ’quoted’ "x" <script>alert(1)</script>`;
  const driver = driverZip({ models: [`Model <img src=x onerror=alert(1)> "1"`], provider: "<b>P</b>" });
  const ofModel = ["/drivers/1", "/printers/1", "/drivers/1/models?q=img"];
  const assertPages = async (paths: readonly string[], texts: RegExp) => {
    for (const answer of await fetchAll(service, paths)) {
      const text = await answer.text();
      assert.equal(answer.status, 200, answer.url);
      assert.match(answer.headers.get("content-type") ?? "", /text\/html/);
      assert.match(text, texts, answer.url);
      assert.doesNotMatch(text, /(?:src|href|action)="https?:/, "no external address");
      assert.doesNotMatch(text, /<script>|<style| style="| on\w+="/, "nothing inline");
      assert.doesNotMatch(text, /<Sons>|<b>P|<img src=x/, answer.url);
      assert.doesNotMatch(text, /<a [^>]*\sdownload\b/, "an error would be saved as a file");
    }
  };

  await assertPages(["/", "/printers", "/clients", "/drivers", "/packages"], /<h1>/);
  await post("/clients", { name });
  const driver_id = String(await addDriver(driver));
  await addPrinter({ name, client_id: "1", comment: name, driver_id });
  await post("/printers", { name: "Bare", address: "10.0.0.1" });

  await assertPages(["/drivers", "/drivers/1", "/printers?copy=1", "/import"], /<h1>/);
  const named = ["/", "/printers", "/printers/1", "/printers/1/edit", "/clients", "/clients/1", "/packages"];
  await assertPages(named, /<h1>[\s\S]*O&#39;Brien &amp; &lt;Sons&gt;/);
  await assertPages(ofModel, /Model &lt;img src=x onerror=alert\(1\)&gt; &quot;1&quot;/);
  const [packages = ""] = await textsOf(service, ["/packages"]);
  assert.match(packages, /\/printers\/1\/packages\/mdm/);
  assert.doesNotMatch(packages, /Bare/, "a printer without a driver has no package");
});

test("static files have their types, the health check is JSON, a wrong method gets 405, and an unknown path 404", async (t) => {
  const service = await startApp(t);
  const page = await textOf(service.fetch("/"));
  const addresses = [...page.matchAll(/(?:src|href)="(\/static\/[^"]+)"/g)].map((match) => match[1] ?? "");

  const answers = await fetchAll(service, addresses);
  const others = await fetchAll(service, ["/health", "/favicon.ico", "/static/nothing.js", "/nothing"]);
  const wrong = await service.fetch("/printers", { method: "PUT" });
  const browser = await textOf(service.fetch("/nothing", { headers: { accept: "text/html" } }));

  assert.ok(addresses.length >= 4);
  for (const { status, headers } of answers) {
    assert.equal(status, 200);
    assert.match(headers.get("content-type") ?? "", /text\/css|text\/javascript|image\/svg/);
    assert.match(headers.get("cache-control") ?? "", /immutable/);
  }
  assert.deepEqual(statusesOf([...others, wrong]), [200, 200, 404, 404, 405]);
  assert.match(others[0]?.headers.get("content-type") ?? "", /application\/json/);
  assert.deepEqual(await others[0]?.json(), { status: "ok" });
  assert.equal(wrong.headers.get("allow"), "GET, HEAD, POST");
  assert.match(others[3]?.headers.get("content-type") ?? "", /text\/plain/);
  assert.match(browser, /<h1>Not found<\/h1>/);
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

  const places = ["/clients?saved=1", "/printers/2?done=saved", "/drivers/2?uploaded=new"];
  assert.deepEqual(statusesOf([...answers, refused]), [303, 303, 303, 303, 303, 422]);
  assert.deepEqual(
    answers.map(({ headers }) => headers.get("location")),
    [...places, "/printers?undo=1", "/clients?undo=2"],
  );
  assert.match(await refused.text(), /<h1>Clients<\/h1>[\s\S]*The client’s name is required/);
  assert.doesNotMatch(await textOf(fetch("/printers")), /Office/, "what was deleted is gone");
});

test("a request from another site, or from a subdomain of the same one, cannot change anything", async (t) => {
  const { post, app, url } = await startApp(t);
  const send = (headers: Record<string, string>) => post("/clients", { name: "A" }, headers);

  const answers = [
    await send({ origin: "https://evil.example" }),
    await send({ origin: "null" }),
    await send({ "sec-fetch-site": "cross-site" }),
    await send({ "sec-fetch-site": "same-site" }),
    await send({ origin: url }),
  ];

  assert.deepEqual(statusesOf(answers), [403, 403, 403, 403, 200]);
  assert.equal(app.store.clients.count(), 1);
});
