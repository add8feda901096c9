import assert from "node:assert/strict";
import { test } from "node:test";
import { startApp } from "../support/app.ts";
import { driverZip } from "../support/drivers/driver-zip.ts";

test("every page is HTML, in an empty and in a filled service", async (t) => {
  const { fetch, addPrinter, post } = await startApp(t);
  const pages = ["/", "/printers", "/clients", "/drivers", "/packages"];

  const empty = await Promise.all(pages.map((path) => fetch(path)));
  await post("/clients", { name: "Alpha" });
  await addPrinter({ client_id: "1" });
  const more = ["/printers/1", "/printers/1/edit", "/printers?copy=1", "/clients/1", "/drivers/1"];
  const filled = await Promise.all([...pages, ...more].map((path) => fetch(path)));

  for (const answer of [...empty, ...filled]) {
    const text = await answer.text();
    assert.equal(answer.status, 200, answer.url);
    assert.match(answer.headers.get("content-type") ?? "", /text\/html/);
    assert.match(text, /<h1>/, answer.url);
    assert.doesNotMatch(text, /(?:src|href|action)="https?:/, "no external address");
    assert.doesNotMatch(text, /<script>|<style| style="| on\w+="/, "nothing inline");
  }
});

test("the dashboard shows the five newest printers, and the five newest that have a driver", async (t) => {
  const { fetch, addPrinter, post } = await startApp(t);
  for (let i = 1; i <= 6; i++) await addPrinter({ name: `With ${i}` });
  for (let i = 1; i <= 6; i++) await post("/printers", { name: `Bare ${i}`, address: "10.0.0.1" });

  const text = await (await fetch("/")).text();

  assert.deepEqual(
    [...text.matchAll(/<a href="\/printers\/\d+"><bdi>(\w+ \d)</g)].map((match) => match[1]),
    [
      ...["Bare 6", "Bare 5", "Bare 4", "Bare 3", "Bare 2"],
      ...["With 6", "With 5", "With 4", "With 3", "With 2"],
    ],
  );
});

test("an empty dashboard says what to do first", async (t) => {
  const { fetch } = await startApp(t);

  const text = await (await fetch("/")).text();

  assert.match(text, /three steps/);
  assert.match(text, /href="\/clients"/);
  assert.match(text, /href="\/drivers"/);
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

  for (const path of [
    "/",
    "/printers",
    "/printers/1",
    "/printers/1/edit",
    "/clients",
    "/clients/1",
    "/packages",
  ]) {
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
