import assert from "node:assert/strict";
import { request } from "node:http";
import { type TestContext, test } from "node:test";
import { parsePrinter } from "../../src/domain/printers/printer-fields.ts";
import { addPerson, signInAdmin, startClosed } from "../support/access/people.ts";
import { navigation, startApp, type TestApp } from "../support/app.ts";
import { driverZip } from "../support/drivers/driver-zip.ts";
import { startFilled } from "../support/filled.ts";
import { sendBulk } from "../support/printers/four-printers.ts";

/** Three printers of two clients; the third has no driver. */
const startShop = (t: TestContext) => startFilled(t, fillShop);
async function fillShop({ post, addDriver }: TestApp): Promise<void> {
  await post("/clients", { name: "Alpha" });
  await post("/clients", { name: "Beta & Söhne" });
  await addDriver();
  await post("/printers", { name: "Büro", client_id: "1", driver_id: "1", address: "10.0.0.1" });
  await post("/printers", { name: "Lager", client_id: "2", driver_id: "1", address: "10.0.0.2" });
  await post("/printers", { name: "Empfang", client_id: "2", address: "10.0.0.3" });
}

/** Three printers of one client; the third has no driver. */
const startOffice = (t: TestContext) => startFilled(t, fillOffice);
async function fillOffice({ post, addDriver }: TestApp): Promise<void> {
  await post("/clients", { name: "Alpha" });
  await addDriver();
  await post("/printers", { name: "Printer 10", client_id: "1", driver_id: "1", address: "10.0.0.9" });
  await post("/printers", { name: "Printer 9", client_id: "1", driver_id: "1", address: "10.0.0.10" });
  await post("/printers", { name: "Bare", client_id: "1", address: "10.0.0.8" });
}

/** Forty printers of two clients. */
const startLargeShop = (t: TestContext) => startFilled(t, fillLargeShop);
async function fillLargeShop({ post, addDriver, app }: TestApp): Promise<void> {
  for (const name of ["Kunde Müller & Söhne", "Beta"]) await post("/clients", { name });
  await addDriver();
  for (let i = 0; i < 40; i++) {
    const fields = { name: `Büro ${i} Werkstatt`, client_id: `${1 + (i % 2)}`, location: "Haus 3, 2. OG" };
    await app.store.printers.add(parsePrinter({ ...fields, driver_id: "1", address: `10.200.100.${i}` }));
  }
}

/** The printers that a page or a fragment lists, in their order. */
function listed(page = ""): string[] {
  return [...page.matchAll(/scope="row"><bdi><a href="[^"]+">([^<]+)</g)].map(([, name = ""]) => name);
}

function pagesOf<const T extends readonly string[]>({ fetch }: TestApp, paths: T) {
  const pages = Promise.all(paths.map(async (path) => (await fetch(path)).text()));
  return pages as unknown as Promise<{ readonly [K in keyof T]: string }>;
}

/** The number of bytes that a browser receives for a page. */
function wireBytes(url: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { headers: { accept: "text/html", "accept-encoding": "gzip" } }, (answer) => {
      let bytes = 0;
      answer.on("data", (chunk: Buffer) => {
        bytes += chunk.length;
      });
      answer.on("end", () => resolve(bytes));
    });
    sent.on("error", reject).end();
  });
}

test("a list of 40 printers has at most half the links of three per row, and at most 25 KB on the wire", async (t) => {
  const service = await startLargeShop(t);

  const pages = await pagesOf(service, ["/printers", "/printers?sort=state"]);
  const bytes = await wireBytes(`${service.url}/printers`);

  const links = pages.map(
    (page) => page.slice(page.indexOf('id="printer-list"')).match(/<a\s/g)?.length ?? 0,
  );
  assert.equal(listed(pages[0]).length, 40);
  assert.ok(Math.max(...links) <= 60, `${links} links`);
  assert.ok(bytes > 1000 && bytes <= 25_000, `${bytes} bytes`);
});

test("column headings sort the list, keep the filter, say the order, and reverse it", async (t) => {
  const service = await startOffice(t);

  const [plain, address, reversed, state] = await pagesOf(service, [
    ...["/printers", "/printers?q=10.0&sort=address", "/printers?sort=-name", "/printers?sort=state"],
  ] as const);

  assert.deepEqual(listed(plain), ["Bare", "Printer 9", "Printer 10"]);
  assert.match(plain, /class="name" aria-sort="ascending"><a\s+href="\/printers\?sort=-name">Printer</);
  assert.deepEqual(listed(address), ["Bare", "Printer 10", "Printer 9"]);
  assert.match(address, /aria-sort="ascending"><a\s+href="\/printers\?q=10\.0&amp;sort=-address">Address</);
  assert.match(address, /<input type="hidden" name="sort" value="address">/, "the filter keeps the order");
  assert.deepEqual(listed(reversed), ["Printer 10", "Printer 9", "Bare"]);
  assert.match(reversed, /aria-sort="descending"><a\s+href="\/printers">Printer</);
  assert.equal(listed(state)[0], "Bare");
  assert.match(state, /class="state" aria-sort="descending"/);
  assert.doesNotMatch(state, /scope="rowgroup"/, "across clients, which the rows name");
  assert.match(state, /<td role="cell" class="place whose"><bdi>Alpha</);
});

test("a change keeps the order of the list, and packages can be sorted too", async (t) => {
  const service = await startOffice(t);

  const deleted = await service.post("/printers/3/delete", { narrowed: "sort=-address" }, navigation);
  const [packages] = await pagesOf(service, ["/packages?sort=-name"]);

  assert.equal(deleted.headers.get("location"), "/printers?sort=-address&undo=1");
  assert.deepEqual(listed(packages), ["Printer 10", "Printer 9"]);
});

test("what blocks a printer or a driver stands in its row where the list is filtered by it, with the remedy", async (t) => {
  const service = await startOffice(t);
  await service.addDriver(driverZip({ version: "2.0.0.0", catalog: null }));

  const all = await pagesOf(service, ["/printers", "/drivers"]);
  const blocked = await pagesOf(service, ["/printers?state=blocked", "/drivers?state=unsigned"]);

  for (const page of all) assert.match(page, /<details class="why"/);
  for (const page of blocked) assert.doesNotMatch(page, /<details class="why"/);
  assert.match(
    blocked[0],
    /Blocked<\/span><p>No driver assigned\. Choose a driver\. <a href="\/printers\/3\/edit#f-driver_id">Choose a driver</,
  );
  assert.match(blocked[1], /<li class="bad">Unsigned: 64-bit Windows will refuse this driver\./);
});

test("a viewer's list has a heading for each cell, and neither checkboxes nor menus", async (t) => {
  const app = await startClosed(t);
  const admin = { cookie: await signInAdmin(app) };
  const viewer = { cookie: await addPerson(app, "looks", "viewer") };
  await app.post("/clients", { name: "Alpha" }, admin);
  await app.post("/printers", { name: "Bare", client_id: "1", address: "10.0.0.1" }, admin);

  const page = await (await app.fetch("/printers", { headers: viewer })).text();

  const classes = (tag: string, part: string) =>
    [...part.matchAll(new RegExp(`<${tag}[^>]* class="([a-z]+)"`, "g"))].map(([, name]) => name);
  const [head = "", body = ""] = page.slice(page.indexOf("<thead")).split("</thead>");
  assert.deepEqual(classes("th", head), ["name", "address", "model", "place", "changed", "state"]);
  assert.deepEqual(["name", ...classes("td", body)], classes("th", head));
  assert.doesNotMatch(page, /type="checkbox"|aria-haspopup|New printer/);
  assert.match(page, /href="\/export\/printers\.csv">Export/);
});

test("the filter for vendors' drivers says why it matters, and leaves out printers with Windows' own", async (t) => {
  const service = await startOffice(t);
  await service.post("/printers", { name: "Ipp", client_id: "1", driver_id: "1000001", address: "10.0.0.7" });
  await service.post("/printers", { name: "Alone", client_id: "1", driver_id: "1" });
  await service.post("/printers", { name: "At LPT", client_id: "1", driver_id: "1", port_name: "LPT1:" });

  const [page] = await pagesOf(service, ["/printers?state=vendor-driver"]);

  assert.deepEqual(listed(page), ["At LPT", "Printer 9", "Printer 10"], "a driver alone has no queue");
  assert.match(page, /<option value="vendor-driver" selected>Needs a vendor’s driver/);
  assert.match(page, /Windows protected print mode removes queues with vendors’ drivers/);
  assert.match(page, /aria-label="Actions for At LPT"\s+data-not="twin"/, "no address, no twin");
  assert.match(page, /aria-label="Actions for Printer 9"\s*>/);
});

test("query parameters narrow lists, which say how many of how many rows they show", async (t) => {
  const service = await startShop(t);

  const [words, client, blocked, packages, clients, all] = await pagesOf(service, [
    ...["/printers?q=LAGER", "/printers?client_id=2", "/printers?state=no-driver&client_id=2"],
    ...["/packages?q=buro", "/clients?q=sohne", "/printers?q=&client_id=&state="],
  ] as const);
  const [theirs, withoutClient] = await pagesOf(service, ["/drivers?client_id=2", "/drivers?client_id=none"]);

  assert.deepEqual(listed(words), ["Lager"]);
  assert.match(words, /1 of 3 printers <a href="\/printers">Show all/);
  assert.deepEqual(listed(client), ["Empfang", "Lager"]);
  assert.deepEqual(listed(blocked), ["Empfang"]);
  assert.match(blocked, /<option value="no-driver" selected>/);
  assert.deepEqual(listed(packages), ["Büro"]);
  assert.match(packages, /1 of 2 printers/);
  assert.match(clients, /1 of 2 clients/);
  assert.doesNotMatch(clients, />Alpha</);
  assert.deepEqual(listed(all), ["Büro", "Empfang", "Lager"]);
  assert.match(theirs, /1 of 1 driver <a href="\/drivers">Show all/);
  assert.match(theirs, /<option value="2" selected>/);
  assert.match(withoutClient, /0 of 1 driver /);
});

test("a list ignores query parameters that do not apply to its rows", async (t) => {
  const service = await startShop(t);

  const paths = ["/drivers?state=changed", "/clients?client_id=2", "/clients?state=ready"];
  const pages: readonly string[] = await pagesOf(service, paths);

  for (const page of pages) assert.doesNotMatch(page, /Show all/);
});

test("after undo, the browser returns to the narrowed list it came from, and otherwise to the record’s page", async (t) => {
  const service = await startShop(t);
  const { post, url } = service;
  await service.addDriver(driverZip({ version: "2.0.0.0" }));
  await post("/clients", { name: "Gamma" });
  const backOn = async (record: string, page: string) => {
    const deleted = await (await post(`${record}/delete`, {})).text();
    const path = /action="([^"]+\/undo)"/.exec(deleted)?.[1] ?? "";
    const undone = await post(path, {}, { ...navigation, referer: page });
    return undone.headers.get("location")?.replace(/restored=\d+/, "restored=");
  };
  const returns = [
    ["/printers/3", `${url}/printers?client_id=2&state=&undo=7`, "/printers?client_id=2&restored="],
    ["/drivers/2", `${url}/drivers?client_id=2&undo=7`, "/drivers?client_id=2&restored="],
    ["/drivers/2", `${url}/drivers?state=unused`, "/drivers?state=unused&restored="],
    ["/clients/3", `${url}/clients?q=gamma&undo=7`, "/clients?q=gamma&restored="],
    ["/printers/3", `${url}/printers?undo=7`, "/printers/3?restored="],
    ["/printers/3", `${url}/nothing?client_id=2`, "/printers/3?restored="],
    ["/printers/3", "//?q=x", "/printers/3?restored="],
    ["/drivers/2", `${url}/drivers?state=changed`, "/drivers/2?restored="],
    ["/clients/3", `${url}/clients?client_id=2`, "/clients/3?restored="],
  ] as const;

  for (const [record, page, back] of returns) assert.equal(await backOn(record, page), back, page);
});

test("a list without matches says so, with a link to the whole list", async (t) => {
  const service = await startShop(t);

  const [text] = await pagesOf(service, ["/printers?q=%3Cb%3Enothing"]);

  assert.match(text, /Nothing matches “<bdi>&lt;b&gt;nothing<\/bdi>”\./);
  assert.match(text, /<a class="button" href="\/printers">Show all 3 printers/);
});

test("the form above the list is closed unless the URL opens it", async (t) => {
  const [none, service] = [await startApp(t), await startShop(t)];
  const areOpen = async (app: TestApp, paths: readonly string[]) =>
    (await pagesOf(app, paths)).map((page) => /id="new-printer"\s+open/.test(page));

  const empty = await areOpen(none, ["/printers"]);
  const folded = await areOpen(service, ["/printers", "/printers?client_id=2", "/printers?q=x"]);
  const open = await areOpen(service, [
    ...["/printers?new=1", "/printers?new=1&client_id=2&driver_id=1"],
    ...["/printers?driver_id=1", "/printers?copy=1"],
  ]);
  const [filled] = await pagesOf(service, ["/printers?new=1&client_id=2&driver_id=1"]);

  assert.deepEqual([...empty, ...folded], [true, false, false, false]);
  assert.deepEqual(open, [true, true, true, true]);
  assert.match(filled, /id="f-client_id"[\s\S]*<option value="2" selected>Beta &amp; Söhne/);
  assert.deepEqual(listed(filled), ["Empfang", "Lager"], "the list shows the client's printers meanwhile");
});

test("a change keeps the list narrowed, with and without scripts", async (t) => {
  const service = await startShop(t);
  const { post, url } = service;
  const page = { "hx-request": "true", "hx-current-url": `${url}/printers?client_id=2&state=` };
  const injected = "//evil.example/?q=%0d%0aSet-Cookie:x";

  const made = await post("/printers", { name: "Neu", client_id: "2", address: "10.0.0.4" }, page);
  const deleted = await post("/printers/3/delete", { narrowed: "client_id=2" }, navigation);
  const change = { ids: "4", action: "client", client_id: "1", narrowed: "q=neu" };
  const moved = await sendBulk(service, change, navigation);
  const evil = await post("/printers/2/delete", { narrowed: injected }, navigation);

  const text = await made.text();
  assert.deepEqual(listed(text), ["Empfang", "Lager", "Neu"]);
  assert.match(text, /id="printer-count"[^>]*hx-swap-oob="innerHTML">3 of 4 printers/);
  assert.equal(deleted.headers.get("location"), "/printers?client_id=2&undo=1");
  assert.match(moved.headers.get("location") ?? "", /^\/printers\?q=neu&bulk=[\w-]{12}$/);
  assert.equal(evil.headers.get("location"), "/printers?undo=3");
});

test("a request for only the list returns the plain URL for the address bar", async (t) => {
  const { fetch } = await startShop(t);
  const headers = { "hx-request": "true", "hx-target": "printer-list" };

  const part = await fetch("/printers?q=B%C3%BCro+&client_id=&state=&new=1", { headers });
  const page = await fetch("/printers?q=B%C3%BCro&client_id=");

  assert.equal(part.headers.get("hx-replace-url"), "/printers?q=B%C3%BCro");
  assert.equal(page.headers.get("hx-replace-url"), null);
});

test("one search finds printers, clients and drivers, as a page and as a fragment", async (t) => {
  const service = await startShop(t);
  const headers = { "hx-target": "find-results" };

  const [page, driver] = await pagesOf(service, ["/search?q=beta", "/search?q=papyrus.inf"]);
  const part = await (await service.fetch("/search?q=nothing", { headers })).text();
  const empty = await service.fetch("/search");

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
  const service = await startLargeShop(t);

  const [text] = await pagesOf(service, ["/search?q=b%C3%BCro"]);

  assert.equal(text.match(/href="\/printers\/\d+"/g)?.length, 20);
  assert.match(text, /<a href="\/printers\?q=b%C3%BCro">All 40 printers/);
});

test("every query is answered", async (t) => {
  const service = await startApp(t);
  await service.addPrinter({ name: "Büro" });
  const queries = [
    ...["%", "%00", "%ff%fe", "\u202e", "<script>", "+", "%ED%A0%80"],
    ...["q".repeat(5000), "%cc%81".repeat(500)],
  ];

  for (const query of queries) {
    for (const path of ["/search", "/printers", "/packages", "/clients"]) {
      const answer = await service.fetch(`${path}?q=${query}&state=${query}&client_id=${query}`);
      assert.equal(answer.status, 200, `${path} ${query.slice(0, 20)}`);
      assert.doesNotMatch(await answer.text(), /<script>(?!<)/);
    }
  }
});
