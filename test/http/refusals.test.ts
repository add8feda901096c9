import assert from "node:assert/strict";
import { test } from "node:test";
import { navigation, startApp } from "../support/app.ts";
import { driverZip } from "../support/drivers/driver-zip.ts";

const chooser = "/printers/1/edit#f-driver_id";
const page = { accept: "text/html,*/*;q=0.8" };

/** The addresses of a page's links, in order. */
function linksIn(text: string): string[] {
  const main = text.slice(text.indexOf("<main"), text.indexOf("</main>"));
  return [...main.matchAll(/<a [^>]*href="([^"]*)"/g)].map((match) => match[1] ?? "");
}

test("an error page links to the previous page, the record and its list", async (t) => {
  const { fetch, post, url } = await startApp(t);
  await post("/printers", { name: "Bare", address: "10.0.0.1" });

  const plain = await fetch("/printers/1/packages/mdm", { headers: page });
  const fromList = await fetch("/printers/1/packages/mdm", {
    headers: { ...page, referer: `${url}/packages?q=x` },
  });
  const missingPrinter = await fetch("/printers/9", { headers: page });

  assert.equal(plain.status, 422);
  assert.deepEqual(linksIn(await plain.text()), [chooser, "/printers/1", "/printers", "/"]);
  assert.deepEqual(linksIn(await fromList.text()), [
    chooser,
    "/packages?q=x",
    "/printers/1",
    "/printers",
    "/",
  ]);
  assert.deepEqual(linksIn(await missingPrinter.text()), ["/printers", "/"]);
});

test("an error page never links to another host or to itself", async (t) => {
  const { fetch, url } = await startApp(t);
  const referers = [
    "https://evil.example/printers",
    `${url}//evil.example/`,
    `${url}/printers/9`,
    "javascript:alert(1)",
    "no address",
  ];

  for (const referer of referers) {
    const answer = await fetch("/printers/9", { headers: { ...page, referer } });
    assert.deepEqual(linksIn(await answer.text()), ["/printers", "/"], referer);
  }
});

test("a refused deletion names the printers in the way, with a link to each", async (t) => {
  const { fetch, post, addPrinter } = await startApp(t);
  await post("/clients", { name: "Alpha" });
  await addPrinter({ name: "Hall <1>", client_id: "1" });

  for (const path of ["/clients/1", "/drivers/1"]) {
    const browser = await post(`${path}/delete`, {}, navigation);
    const script = await fetch(path, { method: "DELETE", headers: { "hx-request": "true" } });
    const curl = await fetch(path, { method: "DELETE" });

    const text = await browser.text();
    assert.equal(browser.status, 409);
    assert.match(text, /<div id="message" ?>\s*<div class="notice bad"/);
    assert.match(
      text,
      /printers that use it first[^<]*<a href="\/printers\/1"><bdi>Hall &lt;1&gt;<\/bdi><\/a>\.<\/p><ul class="actions">/,
    );
    assert.match(text, /Delete (?:client|driver)<\/button>/, "the page is there again");
    assert.equal(script.headers.get("hx-retarget"), "#message");
    assert.match(await script.text(), /<a href="\/printers\/1">/);
    assert.match(await curl.text(), /^[^\n]*was not deleted\. [^\n]*: “Hall <1>”\.\n$/);
  }
});

test("the message links to the first of many printers in the way, and counts the others", async (t) => {
  const { post, app } = await startApp(t);
  await post("/clients", { name: "Alpha" });
  const rows = Array.from({ length: 23 }, (_, i) => `P${i},10.0.0.1,Alpha\n`);
  await post("/import", { text: `name,address,client\n${rows.join("")}` });

  const text = await (await post("/clients/1/delete", {}, navigation)).text();

  const message = text.slice(text.indexOf('id="message"'), text.indexOf("<h1>"));
  assert.equal(app.store.clients.count(), 1);
  assert.match(message, /and 3 more\./);
  assert.equal(linksIn(`<main>${message}`).filter((link) => /^\/printers\/\d+$/.test(link)).length, 20);
});

test("a client or driver in use also leads to the page that changes its printers", async (t) => {
  const { fetch, post, addPrinter } = await startApp(t);
  await post("/clients", { name: "Alpha" });
  await addPrinter({ client_id: "1" });
  const refusalOf = async (path: string) => {
    const text = await (await fetch(path, { method: "DELETE", headers: { "hx-request": "true" } })).text();
    return text.slice(text.indexOf("</p>"));
  };

  const client = await refusalOf("/clients/1");
  const driver = await refusalOf("/drivers/1");

  assert.match(client, /<li><a href="\/printers\?client_id=1">Show it in the list<\/a><\/li><li data-close/);
  assert.match(
    driver,
    /<li><a href="\/drivers\/1\/move">Move 1 printer to another driver…<\/a><\/li><li data-close/,
  );
  for (const actions of [client, driver]) assert.doesNotMatch(actions, /Office/);
});

test("a refused download leads to its remedy: the printer, the ZIP, the excluded printers or the included ones", async (t) => {
  const { fetch, post, addDriver, addPrinter, app } = await startApp(t);
  await post("/clients", { name: "Alpha" });
  await post("/clients", { name: "Beta" });
  await addPrinter({ client_id: "1" });
  const empty = await addDriver(driverZip({ models: [], version: "2.0.0.0" }));
  await addPrinter({ name: "Incomplete", driver_id: String(empty), client_id: "2" });
  await post("/printers", { name: "Bare", address: "10.0.0.1", client_id: "2" });
  const linksOf = async (path: string) => {
    const answer = await fetch(path, { headers: { "hx-request": "true" } });
    const text = await answer.text();
    return [...text.matchAll(/<li><a href="([^"]*)">(.*?)<\/a>/g)].map(([, href, label]) => [href, label]);
  };

  const ofChoice = await linksOf("/packages/rmm?ids=1,2,3&all=1");
  const ofOne = await linksOf("/packages/rmm?ids=3");
  const ofIncomplete = await linksOf("/printers/2/packages/mdm");
  const ofClient = await linksOf("/clients/2/scripts/install");
  await app.store.blobs.remove("drivers", app.store.drivers.get(1).sha256);
  const ofArchive = await linksOf("/printers/1/packages/mdm");

  const toChooser = ["/printers/3/edit#f-driver_id", "Choose a driver"];
  const named = [
    [toChooser[0], `<span><bdi>Bare</bdi>: ${toChooser[1]}</span>`],
    ["/drivers/2", "<span><bdi>Incomplete</bdi>: Open the driver</span>"],
  ];
  assert.deepEqual(ofChoice, [
    ["/packages/rmm?ids=1&amp;all=1", "Download the other one"],
    ...named.toReversed(),
  ]);
  assert.deepEqual(ofOne, [toChooser]);
  assert.deepEqual(ofIncomplete, [["/drivers/2", "Open the driver"]]);
  assert.deepEqual(ofClient, [...named, ["/clients/2#deploy", "Show left-out printers"]]);
  assert.deepEqual(ofArchive, [["/drivers#upload-form", "Upload driver"]]);
});

test("a refused form is answered with one line where plain text is accepted, and otherwise with a fragment", async (t) => {
  const { post } = await startApp(t);
  const form = { name: "A,B", address: "1.2.3" };

  const line = await post("/printers", form, { accept: "text/plain" });
  const any = await post("/printers", form);
  const script = await post("/printers", form, { accept: "text/plain", "hx-request": "true" });
  const saved = await post("/printers", { name: "A" }, { accept: "text/plain" });

  assert.deepEqual([line.status, any.status, script.status, saved.status], [422, 422, 422, 200]);
  assert.match(line.headers.get("content-type") ?? "", /text\/plain/);
  assert.match(await line.text(), /^The printer’s name cannot contain “,”\. “1\.2\.3” is neither [^\n]*\n$/);
  for (const fragment of [any, script]) assert.match(await fragment.text(), /id="printer-form"/);
  assert.match(await saved.text(), /id="printer-list"/);
});

test("a GET of a form's address redirects the browser to the parent page", async (t) => {
  const { fetch, addPrinter } = await startApp(t);
  await addPrinter();
  const places = {
    "/drivers/upload": "/drivers",
    "/printers/1/delete": "/printers/1",
    "/clients/1/delete": "/clients/1",
    "/drivers/1/delete": "/drivers/1",
    "/printers/1/icon/delete": "/printers/1",
  };

  for (const [path, place] of Object.entries(places)) {
    const browser = await fetch(path, { headers: page });
    const curl = await fetch(path);
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

test("no link has the attribute download, which would save errors as files", async (t) => {
  const { fetch, post, addPrinter } = await startApp(t);
  await post("/clients", { name: "Alpha" });
  await addPrinter({ client_id: "1" });

  for (const path of ["/", "/printers", "/printers/1", "/clients/1", "/drivers/1", "/packages", "/import"]) {
    assert.doesNotMatch(await (await fetch(path)).text(), /<a [^>]*\sdownload\b/, path);
  }
});

test("an address named like an object's own property has the usual links on its error page", async (t) => {
  const { fetch } = await startApp(t);
  const bodies = new Set<string>();

  for (const path of [
    "/nothing",
    "/constructor",
    "/__proto__",
    "/toString/1/x",
    "/constructor/1/read/install",
  ]) {
    const answer = await fetch(path, { headers: page });
    bodies.add(`${answer.status} ${/<main[\s\S]*<\/main>/.exec(await answer.text())?.[0]}`);
  }

  assert.equal(bodies.size, 1, [...bodies].join("\n"));
});
