import assert from "node:assert/strict";
import { test } from "node:test";
import { navigation, startApp } from "../support/app.ts";
import { fetchAll, statusesOf, textOf } from "../support/deploy/answers.ts";
import { driverZip } from "../support/drivers/driver-zip.ts";

const chooser = "/printers/1/edit#f-driver_id";
const page = { accept: "text/html,*/*;q=0.8" };
const script = { "hx-request": "true" };

test("an error page links to the record and its list, and never to itself", async (t) => {
  const { fetch, post } = await startApp(t);
  await post("/printers", { name: "Bare", address: "10.0.0.1" });
  const linksOf = async (path: string) => {
    const text = await textOf(fetch(path, { headers: page }));
    const [main = ""] = text.slice(text.indexOf("<main")).split("</main>");
    return [...main.matchAll(/<a [^>]*href="([^"]*)"/g)].map(([, address]) => address);
  };
  const refused = "/printers/1/packages/mdm";

  const status = (await fetch(refused, { headers: page })).status;
  const links = await linksOf(refused);
  const missing = await linksOf("/printers/9");

  assert.equal(status, 422);
  assert.deepEqual(links, [chooser, "/printers/1", "/printers", "/"]);
  assert.deepEqual(missing, ["/printers", "/"]);
});

test("a refused deletion names the printers in the way, and leads to each and to the page that changes them", async (t) => {
  const { fetch, post, addPrinter } = await startApp(t);
  await post("/clients", { name: "Alpha" });
  await addPrinter({ name: "Hall <1>", client_id: "1" });
  const inUse =
    /<div id="message" ?>\s*<div class="notice bad"[\s\S]*printers that use it first[^<]*<a href="\/printers\/1"><bdi>Hall &lt;1&gt;<\/bdi><\/a>\.<\/p><ul class="actions">/;

  for (const [path, next] of [
    ["/clients/1", '<li><a href="/printers?client_id=1">Show it in the list</a></li><li data-close'],
    ["/drivers/1", '<li><a href="/drivers/1/move">Move 1 printer to another driver…</a></li><li data-close'],
  ] as const) {
    const browser = await post(`${path}/delete`, {}, navigation);
    const fragment = await fetch(path, { method: "DELETE", headers: script });
    const curl = await textOf(fetch(path, { method: "DELETE" }));

    const [text, shown] = [await browser.text(), await fragment.text()];
    const actions = shown.slice(shown.indexOf("</p>"));
    assert.equal(browser.status, 409);
    assert.match(text, inUse);
    assert.match(text, /Delete (?:client|driver)<\/button>/, "the page is there again");
    assert.equal(fragment.headers.get("hx-retarget"), "#message");
    assert.match(shown, /<a href="\/printers\/1">/);
    assert.ok(actions.includes(next) && !actions.includes("Hall"), actions);
    assert.match(curl, /^[^\n]*was not deleted\. [^\n]*: “Hall <1>”\.\n$/);
  }
});

test("the message links to the first of many printers in the way, and counts the others", async (t) => {
  const { post, app } = await startApp(t);
  await post("/clients", { name: "Alpha" });
  const rows = Array.from({ length: 23 }, (_, i) => `P${i},10.0.0.1,Alpha\n`);
  await post("/import", { text: `name,address,client\n${rows.join("")}` });

  const text = await textOf(post("/clients/1/delete", {}, navigation));

  const [message = ""] = text.slice(text.indexOf('id="message"')).split("<h1>");
  assert.equal(app.store.clients.count(), 1);
  assert.match(message, /and 3 more\./);
  assert.equal(message.match(/href="\/printers\/\d+"/g)?.length, 20);
});

test("a refused download leads to its remedy: the printer, the ZIP, the excluded printers or the included ones", async (t) => {
  const { fetch, post, addDriver, addPrinter, app } = await startApp(t);
  for (const name of ["Alpha", "Beta"]) await post("/clients", { name });
  await addPrinter({ client_id: "1" });
  const empty = await addDriver(driverZip({ models: [], version: "2.0.0.0" }));
  await addPrinter({ name: "Incomplete", driver_id: String(empty), client_id: "2" });
  await post("/printers", { name: "Bare", address: "10.0.0.1", client_id: "2" });
  const linksOf = async (path: string) => {
    const text = await textOf(fetch(path, { headers: script }));
    return [...text.matchAll(/<li><a href="([^"]*)">(.*?)<\/a>/g)].map(([, href, label]) => [href, label]);
  };

  const ofOne = await linksOf("/packages/rmm?ids=3");
  const ofIncomplete = await linksOf("/printers/2/packages/mdm");
  const ofClient = await linksOf("/clients/2/scripts/install");
  await addPrinter({ name: "Ready", client_id: "2" });
  const ofChoice = await linksOf("/packages/rmm?ids=4,2,3&all=1");
  await app.store.blobs.remove("drivers", app.store.drivers.get(1).sha256);
  const ofArchive = await linksOf("/printers/1/packages/mdm");

  const toChooser = ["/printers/3/edit#f-driver_id", "Choose a driver"];
  const named = [
    [toChooser[0], `<span><bdi>Bare</bdi>: ${toChooser[1]}</span>`],
    ["/drivers/2", "<span><bdi>Incomplete</bdi>: Open the driver</span>"],
  ];
  const other = ["/packages/rmm?ids=4&amp;all=1", "Download the other one"];
  assert.deepEqual(ofChoice, [other, ...named.toReversed()]);
  assert.deepEqual(ofOne, [toChooser]);
  assert.deepEqual(ofIncomplete, [["/drivers/2", "Open the driver"]]);
  assert.deepEqual(ofClient, [...named, ["/clients/2#deploy", "Show left-out printers"]]);
  assert.deepEqual(ofArchive, [["/drivers#upload-form", "Upload driver"]]);
});

test("a refused form is answered with one line where plain text is accepted, and otherwise with a fragment", async (t) => {
  const { post } = await startApp(t);
  const [form, plain] = [{ name: "A,B", address: "1.2.3" }, { accept: "text/plain" }];

  const line = await post("/printers", form, plain);
  const fragments = [await post("/printers", form), await post("/printers", form, { ...plain, ...script })];
  const saved = await post("/printers", { name: "A" }, plain);

  assert.deepEqual(statusesOf([line, ...fragments, saved]), [422, 422, 422, 200]);
  assert.match(line.headers.get("content-type") ?? "", /text\/plain/);
  assert.match(await line.text(), /^The printer’s name cannot contain “,”\. “1\.2\.3” is neither [^\n]*\n$/);
  for (const fragment of fragments) assert.match(await fragment.text(), /id="printer-form"/);
  assert.match(await saved.text(), /id="printer-list"/);
});

test("a GET of a form's address redirects the browser to the parent page", async (t) => {
  const { fetch, addPrinter } = await startApp(t);
  await addPrinter();
  const forms = ["/printers/1/delete", "/clients/1/delete", "/drivers/1/delete", "/drivers/upload"];

  for (const path of [...forms, "/printers/1/icon/delete"]) {
    const browser = await fetch(path, { headers: page });
    const curl = await fetch(path);
    const place = path.replace(/(?:\/icon)?\/(?:delete|upload)$/, "");
    assert.deepEqual([browser.status, browser.headers.get("location")], [303, place], path);
    assert.deepEqual([curl.status, curl.headers.get("allow")], [405, "POST"], path);
  }
});

test("a refused icon is answered with the printer's page and the reason beside the icon", async (t) => {
  const { upload, addPrinter } = await startApp(t);
  const id = await addPrinter();

  const answer = await upload(`/printers/${id}/icon`, Buffer.from("GIF89a"), "icon.gif", navigation);

  const text = await answer.text();
  assert.equal(answer.status, 422);
  assert.match(text, /<div id="icon-status"[^>]*><p class="problem" role="alert">This file is not a PNG/);
  assert.match(text, /<h1><bdi>Office<\/bdi><\/h1>/);
});

test("an address named like an object's own property has the usual links on its error page", async (t) => {
  const service = await startApp(t);
  const fetch = (path: string) => service.fetch(path, { headers: page });
  const properties = ["/constructor", "/__proto__", "/toString/1/x", "/constructor/1/read/install"];

  const answers = await fetchAll({ fetch }, ["/nothing", ...properties]);

  const texts = await Promise.all(answers.map(textOf));
  const bodies = texts.map((text, i) => `${answers[i]?.status} ${/<main[\s\S]*<\/main>/.exec(text)?.[0]}`);
  assert.equal(new Set(bodies).size, 1, bodies.join("\n"));
});
