import assert from "node:assert/strict";
import { test } from "node:test";
import { navigation, startApp, type TestApp } from "../support/app.ts";
import { driverZip } from "../support/drivers/driver-zip.ts";

/** Creates three printers of two clients; one printer has no driver. */
async function smallShop({ post, addDriver }: TestApp): Promise<void> {
  await post("/clients", { name: "Alpha" });
  await post("/clients", { name: "Beta & Söhne" });
  await addDriver();
  await post("/printers", { name: "Büro", client_id: "1", driver_id: "1", address: "10.0.0.1" });
  await post("/printers", { name: "Lager", client_id: "2", driver_id: "1", address: "10.0.0.2" });
  await post("/printers", { name: "Empfang", client_id: "2", address: "10.0.0.3" });
}

/** The printers that a page or a fragment lists. */
function listed(text: string): string[] {
  return [...text.matchAll(/scope="row"><bdi><a href="[^"]+">([^<]+)</g)].map(([, name = ""]) => name);
}

test("query parameters narrow lists, which say how many of how many rows they show", async (t) => {
  const service = await startApp(t);
  await smallShop(service);
  const page = async (path: string) => (await service.fetch(path)).text();

  const [words, client, blocked, packages, clients, all] = await Promise.all(
    [
      "/printers?q=LAGER",
      "/printers?client_id=2",
      "/printers?state=no-driver&client_id=2",
      "/packages?q=buro",
      "/clients?q=sohne",
      "/printers?q=&client_id=&state=",
    ].map(page),
  );

  assert.deepEqual(listed(words ?? ""), ["Lager"]);
  assert.match(words ?? "", /1 of 3 printers <a href="\/printers">Show all/);
  assert.deepEqual(listed(client ?? ""), ["Empfang", "Lager"]);
  assert.deepEqual(listed(blocked ?? ""), ["Empfang"]);
  assert.match(blocked ?? "", /<option value="no-driver" selected>/);
  assert.deepEqual(listed(packages ?? ""), ["Büro"]);
  assert.match(packages ?? "", /1 of 2 printers/);
  assert.match(clients ?? "", /1 of 2 clients/);
  assert.doesNotMatch(clients ?? "", />Alpha</);
  assert.deepEqual(listed(all ?? ""), ["Büro", "Empfang", "Lager"]);
});

test("the list of drivers can be narrowed to those of a client’s printers", async (t) => {
  const service = await startApp(t);
  await smallShop(service);

  const theirs = await (await service.fetch("/drivers?client_id=2")).text();
  const withoutClient = await (await service.fetch("/drivers?client_id=none")).text();

  assert.match(theirs, /1 of 1 driver <a href="\/drivers">Show all/);
  assert.match(theirs, /<option value="2" selected>/);
  assert.match(withoutClient, /0 of 1 driver /);
});

test("a list ignores query parameters that do not apply to its rows", async (t) => {
  const service = await startApp(t);
  await smallShop(service);
  const paths = ["/drivers?state=changed", "/clients?client_id=2", "/clients?state=ready"];

  const pages = await Promise.all(paths.map(async (path) => (await service.fetch(path)).text()));

  assert.deepEqual(
    pages.map((page) => /Show all/.test(page)),
    paths.map(() => false),
  );
});

test("after undo, the browser returns to the narrowed list it came from, and otherwise to the record’s page", async (t) => {
  const service = await startApp(t);
  await smallShop(service);
  const { post, url } = service;
  await service.addDriver(driverZip({ version: "2.0.0.0" }));
  await post("/clients", { name: "Gamma" });
  const backOn = async ([record, page]: readonly [string, string]) => {
    const deleted = await (await post(`${record}/delete`, {})).text();
    const path = /action="([^"]+\/undo)"/.exec(deleted)?.[1] ?? "";
    const undone = await post(path, {}, { ...navigation, referer: page });
    return undone.headers.get("location")?.replace(/restored=\d+/, "restored=");
  };
  const narrowed = [
    ["/printers/3", `${url}/printers?client_id=2&state=&undo=7`],
    ["/drivers/2", `${url}/drivers?client_id=2&undo=7`],
    ["/drivers/2", `${url}/drivers?state=unused`],
    ["/clients/3", `${url}/clients?q=gamma&undo=7`],
  ] as const;
  const others = [
    ["/printers/3", `${url}/printers?undo=7`],
    ["/printers/3", `${url}/nothing?client_id=2`],
    ["/printers/3", "//?q=x"],
    ["/drivers/2", `${url}/drivers?state=changed`],
    ["/clients/3", `${url}/clients?client_id=2`],
  ] as const;

  const lists: unknown[] = [];
  for (const one of narrowed) lists.push(await backOn(one));
  const records: unknown[] = [];
  for (const one of others) records.push(await backOn(one));

  assert.deepEqual(lists, [
    "/printers?client_id=2&restored=",
    "/drivers?client_id=2&restored=",
    "/drivers?state=unused&restored=",
    "/clients?q=gamma&restored=",
  ]);
  assert.deepEqual(
    records,
    others.map(([record]) => `${record}?restored=`),
  );
});

test("a list without matches says so, with a link to the whole list", async (t) => {
  const service = await startApp(t);
  await smallShop(service);

  const text = await (await service.fetch("/printers?q=%3Cb%3Enothing")).text();

  assert.match(text, /Nothing matches “<bdi>&lt;b&gt;nothing<\/bdi>”\./);
  assert.match(text, /<a class="button" href="\/printers">Show all 3 printers/);
});

test("the form above the list is closed unless the URL opens it", async (t) => {
  const service = await startApp(t);
  const { fetch } = service;
  const isOpen = async (path: string) => /id="new-printer"\s+open/.test(await (await fetch(path)).text());
  const empty = await isOpen("/printers");
  await smallShop(service);

  const folded = await Promise.all(["/printers", "/printers?client_id=2", "/printers?q=x"].map(isOpen));
  const open = await Promise.all(
    [
      "/printers?new=1",
      "/printers?new=1&client_id=2&driver_id=1",
      "/printers?driver_id=1",
      "/printers?copy=1",
    ].map(isOpen),
  );
  const filled = await (await fetch("/printers?new=1&client_id=2&driver_id=1")).text();

  assert.deepEqual([empty, ...folded], [true, false, false, false]);
  assert.deepEqual(open, [true, true, true, true]);
  assert.match(filled, /id="f-client_id"[\s\S]*<option value="2" selected>Beta &amp; Söhne/);
  assert.deepEqual(listed(filled), ["Empfang", "Lager"], "the list shows the client's printers meanwhile");
});

test("a change keeps the list narrowed, with and without scripts", async (t) => {
  const service = await startApp(t);
  await smallShop(service);
  const { post, url } = service;
  const page = { "hx-request": "true", "hx-current-url": `${url}/printers?client_id=2&state=` };

  const made = await post("/printers", { name: "Neu", client_id: "2", address: "10.0.0.4" }, page);
  const deleted = await post("/printers/3/delete", { narrowed: "client_id=2" }, navigation);
  const moved = await post(
    "/printers/bulk",
    { ids: "4", action: "client", client_id: "1", confirmed: "1", narrowed: "q=neu" },
    navigation,
  );
  const evil = await post(
    "/printers/2/delete",
    { narrowed: "//evil.example/?q=%0d%0aSet-Cookie:x" },
    navigation,
  );

  const text = await made.text();
  assert.deepEqual(listed(text), ["Empfang", "Lager", "Neu"]);
  assert.match(text, /id="printer-count"[^>]*hx-swap-oob="innerHTML">3 of 4 printers/);
  assert.equal(deleted.headers.get("location"), "/printers?client_id=2&undo=1");
  assert.match(moved.headers.get("location") ?? "", /^\/printers\?q=neu&bulk=[\w-]{12}$/);
  assert.equal(evil.headers.get("location"), "/printers?undo=3");
});

test("a request for only the list returns the plain URL for the address bar", async (t) => {
  const service = await startApp(t);
  await smallShop(service);

  const part = await service.fetch("/printers?q=B%C3%BCro+&client_id=&state=&new=1", {
    headers: { "hx-request": "true", "hx-target": "printer-list" },
  });
  const page = await service.fetch("/printers?q=B%C3%BCro&client_id=");

  assert.equal(part.headers.get("hx-replace-url"), "/printers?q=B%C3%BCro");
  assert.equal(page.headers.get("hx-replace-url"), null);
});

test("one search finds printers, clients and drivers, as a page and as a fragment", async (t) => {
  const service = await startApp(t);
  await smallShop(service);
  const { fetch } = service;

  const page = await (await fetch("/search?q=beta")).text();
  const driver = await (await fetch("/search?q=papyrus.inf")).text();
  const part = await (await fetch("/search?q=nothing", { headers: { "hx-target": "find-results" } })).text();
  const empty = await fetch("/search");

  assert.match(page, /<h1>Search<\/h1>[\s\S]*1 client, 0 drivers, 2 printers/);
  assert.match(page, /href="\/clients\/2"><bdi>Beta &amp; Söhne<[\s\S]*href="\/printers\/2"><bdi>Lager</);
  assert.match(driver, /href="\/drivers\/1"/);
  assert.match(
    part,
    /^<div class="results">[\s\S]*No client, driver or printer matches “<bdi>nothing<\/bdi>”\./,
  );
  assert.equal(empty.status, 200);
  assert.match(page, /<form class="find" method="get" action="\/search"/, "every page has the field");
});

test("a search shows twenty results of each kind and links to the narrowed list for the others", async (t) => {
  const service = await startApp(t);
  const made = Array.from({ length: 25 }, (_, i) =>
    service.post("/printers", { name: `Büro ${i}`, address: "10.0.0.1" }),
  );
  await Promise.all(made);

  const text = await (await service.fetch("/search?q=b%C3%BCro")).text();

  assert.equal(text.match(/href="\/printers\/\d+"/g)?.length, 20);
  assert.match(text, /<a href="\/printers\?q=b%C3%BCro">All 25 printers/);
});
