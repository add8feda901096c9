import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { gzipSync } from "node:zlib";
import { parsePrinter } from "../../src/domain/printers/printer-fields.ts";
import { addPerson, signInAdmin, startClosed } from "../support/access/people.ts";
import { navigation, startApp, type TestApp } from "../support/app.ts";
import { textOf } from "../support/deploy/answers.ts";
import { driverZip } from "../support/drivers/driver-zip.ts";
import { startFilled } from "../support/filled.ts";
import { sendBulk } from "../support/printers/four-printers.ts";
import { makePreferences } from "../support/printers/preferences-files.ts";

/** Three printers of two clients; the third has no driver. */
async function startShop(t: TestContext) {
  const service = await startFilled(t, fillShop);
  return { ...service, page: (path: string) => textOf(service.fetch(path)) };
}

async function fillShop({ post, addDriver }: TestApp): Promise<void> {
  await post("/clients", { name: "Alpha" });
  await post("/clients", { name: "Beta & Söhne" });
  await addDriver();
  await post("/printers", { name: "Büro", client_id: "1", driver_id: "1", address: "10.0.0.1" });
  await post("/printers", { name: "Lager", client_id: "2", driver_id: "1", address: "10.0.0.9" });
  await post("/printers", { name: "Empfang", client_id: "2", address: "10.0.0.10" });
}

/** The printers that a page or a fragment lists, in their order. */
function listed(page: string): string[] {
  return [...page.matchAll(/scope="row"><bdi><a href="[^"]+">([^<]+)</g)].map(([, name = ""]) => name);
}

test("a list of 40 printers has few links and at most 25 KB when compressed, and a search shows twenty of them", async (t) => {
  const { app, fetch, post, addDriver } = await startApp(t);
  await post("/clients", { name: "Kunde Müller & Söhne" });
  await addDriver();
  for (let i = 0; i < 40; i++) {
    const fields = { name: `Büro ${i} Werkstatt`, client_id: i % 2 ? "1" : "", location: "Haus 3, 2. OG" };
    await app.store.printers.add(parsePrinter({ ...fields, driver_id: "1", address: `10.200.100.${i}` }));
  }

  const pages = [await textOf(fetch("/printers")), await textOf(fetch("/printers?sort=state"))];
  const found = await textOf(fetch("/search?q=b%C3%BCro"));

  for (const page of pages) {
    const links = page.slice(page.indexOf('id="printer-list"')).match(/<a\s/g)?.length ?? 0;
    assert.equal(listed(page).length, 40);
    assert.ok(links <= 60, `${links} links`);
    assert.ok(gzipSync(page, { level: 3 }).length <= 25_000);
  }
  assert.equal(found.match(/href="\/printers\/\d+"/g)?.length, 20);
  assert.match(found, /<a href="\/printers\?q=b%C3%BCro">All 40 printers/);
});

test("column headings sort the list, keep the filter, say the order, and reverse it", async (t) => {
  const { page, post } = await startShop(t);

  const [plain, address] = [await page("/printers"), await page("/printers?q=10.0&sort=address")];
  const [reversed, state] = [await page("/printers?sort=-name"), await page("/printers?sort=state")];
  await post("/printers", { name: "Halle", client_id: "2", driver_id: "1", address: "10.0.0.2" });
  const packages = await page("/packages?sort=-name");

  assert.deepEqual(listed(plain), ["Büro", "Empfang", "Lager"]);
  assert.match(plain, /class="name" aria-sort="ascending"><a\s+href="\/printers\?sort=-name">Printer</);
  assert.deepEqual(listed(address), ["Büro", "Lager", "Empfang"], "10.0.0.9 before 10.0.0.10");
  assert.match(address, /aria-sort="ascending"><a\s+href="\/printers\?q=10\.0&amp;sort=-address">Address</);
  assert.match(address, /<input type="hidden" name="sort" value="address">/, "the filter keeps the order");
  assert.deepEqual(listed(reversed), ["Büro", "Lager", "Empfang"]);
  assert.match(reversed, /aria-sort="descending"><a\s+href="\/printers">Printer</);
  assert.equal(listed(state)[0], "Empfang");
  assert.match(state, /class="state" aria-sort="descending"/);
  assert.doesNotMatch(state, /scope="rowgroup"/, "across clients, which the rows name");
  assert.match(state, /<td role="cell" class="place whose"><bdi>Alpha</);
  assert.deepEqual(listed(packages), ["Büro", "Lager", "Halle"]);
});

test("what blocks a printer or a driver stands in its row where the list is filtered by it, with the remedy", async (t) => {
  const { page, addDriver } = await startShop(t);
  await addDriver(driverZip({ version: "2.0.0.0", catalog: null }));

  const all = [await page("/printers"), await page("/drivers")];
  const [printers, drivers] = [await page("/printers?state=blocked"), await page("/drivers?state=unsigned")];

  for (const text of all) assert.match(text, /<details class="why"/);
  for (const text of [printers, drivers]) assert.doesNotMatch(text, /<details class="why"/);
  const remedy = '<a href="/printers/3/edit#f-driver_id">Choose a driver<';
  assert.ok(printers.includes(`Blocked</span><p>No driver assigned. Choose a driver. ${remedy}`));
  assert.match(drivers, /<li class="bad">Unsigned: 64-bit Windows will refuse this driver\./);
});

test("a viewer's list has a heading for each cell, and viewers are offered neither checkboxes nor menus, uploads or undo", async (t) => {
  const app = await startClosed(t);
  const admin = { cookie: await signInAdmin(app) };
  const viewer = { cookie: await addPerson(app, "looks", "viewer") };
  await app.post("/clients", { name: "Alpha" }, admin);
  await app.post("/printers", { name: "Bare", client_id: "1", address: "10.0.0.1" }, admin);
  await app.post("/printers/1", { name: "Bare", address: "10.0.0.2", client_id: "1" }, admin);
  await app.post("/printers", { name: "Driven", driver_id: "1000002", address: "10.0.0.3" }, admin);
  await app.upload("/printers/2/preferences", makePreferences(), "a.dat", admin);

  const page = await textOf(app.fetch("/printers", { headers: viewer }));
  const ofPrinter = await textOf(app.fetch("/printers/2", { headers: viewer }));
  const dashboards = [admin, viewer].map(async (headers) => textOf(app.fetch("/", { headers })));
  const offers = (await Promise.all(dashboards)).map((text) => text.includes('/undo"'));

  const classes = (tag: string, part: string) =>
    [...part.matchAll(new RegExp(`<${tag}[^>]* class="([a-z]+)"`, "g"))].map(([, name]) => name);
  const [head = "", body = ""] = page.slice(page.indexOf("<thead")).split("</thead>");
  assert.deepEqual(classes("th", head), ["name", "address", "model", "place", "changed", "state"]);
  assert.deepEqual(["name", ...classes("td", body).slice(0, 5)], classes("th", head));
  assert.doesNotMatch(page, /type="checkbox"|aria-haspopup|New printer/);
  assert.match(page, /href="\/export\/printers\.csv">Export/);
  assert.match(ofPrinter, /Vendor preferences.*Download/s);
  assert.doesNotMatch(ofPrinter, /Upload preferences|Delete preferences/);
  assert.deepEqual(offers, [true, false], "to undo the change");
});

test("the filter for vendors' drivers says why it matters, and leaves out printers with Windows' own", async (t) => {
  const { post, page } = await startShop(t);
  await post("/printers", { name: "Ipp", client_id: "1", driver_id: "1000001", address: "10.0.0.7" });
  await post("/printers", { name: "Alone", client_id: "1", driver_id: "1" });
  await post("/printers", { name: "At LPT", client_id: "1", driver_id: "1", port_name: "LPT1:" });

  const text = await page("/printers?state=vendor-driver");

  assert.deepEqual(listed(text), ["At LPT", "Büro", "Lager"], "a driver alone has no queue");
  assert.match(text, /<option value="vendor-driver" selected>Needs a vendor’s driver/);
  assert.match(text, /Windows protected print mode removes queues with vendors’ drivers/);
  assert.match(text, /aria-label="Actions for At LPT"\s+data-not="twin"/, "no address, no twin");
  assert.match(text, /aria-label="Actions for Büro"\s*>/);
});

test("query parameters narrow lists, which say how many of how many rows they show, and link to the whole list", async (t) => {
  const { page, fetch } = await startShop(t);
  const headers = { "hx-request": "true", "hx-target": "printer-list" };

  const [words, client] = [await page("/printers?q=LAGER"), await page("/printers?client_id=2")];
  const [packages, clients] = [await page("/packages?q=buro"), await page("/clients?q=sohne")];
  const blocked = await page("/printers?state=no-driver&client_id=2");
  const [theirs, none] = [await page("/drivers?client_id=2"), await page("/drivers?client_id=none")];
  const nothing = await page("/printers?q=%3Cb%3Enothing");
  const all = await page("/printers?q=&client_id=&state=");
  const ignored = ["/drivers?state=changed", "/clients?client_id=2", "/clients?state=ready"];
  const part = await fetch("/printers?q=B%C3%BCro+&client_id=&state=&new=1", { headers });

  assert.deepEqual([words, client, blocked, packages, all].map(listed), [
    ...[["Lager"], ["Empfang", "Lager"], ["Empfang"], ["Büro"], ["Büro", "Empfang", "Lager"]],
  ]);
  assert.match(words, /1 of 3 printers <a href="\/printers">Show all/);
  assert.match(blocked, /<option value="no-driver" selected>/);
  assert.match(packages, /1 of 2 printers/);
  assert.match(clients, /1 of 2 clients/);
  assert.doesNotMatch(clients, />Alpha</);
  assert.match(theirs, /1 of 1 driver <a href="\/drivers">Show all/);
  assert.match(theirs, /<option value="2" selected>/);
  assert.match(none, /0 of 1 driver /);
  assert.match(nothing, /Nothing matches “<bdi>&lt;b&gt;nothing<\/bdi>”\./);
  assert.match(nothing, /<a class="button" href="\/printers">Show all 3 printers/);
  for (const path of ignored) assert.doesNotMatch(await page(path), /Show all/, path);
  assert.equal(part.headers.get("hx-replace-url"), "/printers?q=B%C3%BCro");
  assert.equal((await fetch("/printers?q=B%C3%BCro&client_id=")).headers.get("hx-replace-url"), null);
});

test("after undo, the browser returns to the narrowed list it came from, and otherwise to the record’s page", async (t) => {
  const service = await startShop(t);
  const { post, url } = service;
  await service.addDriver(driverZip({ version: "2.0.0.0" }));
  await post("/clients", { name: "Gamma" });
  const backOn = async (record: string, page: string) => {
    const deleted = await textOf(post(`${record}/delete`, {}));
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

test("the form above the list is closed unless the URL opens it, or there is no printer", async (t) => {
  const [none, { page }] = [await startApp(t), await startShop(t)];
  const isOpen = (text: string) => /id="new-printer"\s+open/.test(text);
  const closed = ["/printers", "/printers?client_id=2", "/printers?q=x"];
  const open = ["/printers?new=1", "/printers?driver_id=1", "/printers?copy=1"];

  const empty = await textOf(none.fetch("/printers"));
  const filled = await page("/printers?new=1&client_id=2&driver_id=1");

  assert.deepEqual([empty, filled].map(isOpen), [true, true]);
  for (const path of closed) assert.equal(isOpen(await page(path)), false, path);
  for (const path of open) assert.equal(isOpen(await page(path)), true, path);
  assert.match(filled, /id="f-client_id"[\s\S]*<option value="2" selected>Beta &amp; Söhne/);
  assert.deepEqual(listed(filled), ["Empfang", "Lager"], "the list shows the client's printers meanwhile");
});

test("a change keeps the list narrowed and sorted, with and without scripts", async (t) => {
  const service = await startShop(t);
  const { post, url } = service;
  const page = { "hx-request": "true", "hx-current-url": `${url}/printers?client_id=2&state=` };
  const injected = "//evil.example/?q=%0d%0aSet-Cookie:x";

  const made = await post("/printers", { name: "Neu", client_id: "2", address: "10.0.0.4" }, page);
  const narrowed = "client_id=2&sort=-address";
  const deleted = await post("/printers/3/delete", { narrowed }, navigation);
  const change = { ids: "4", action: "client", client_id: "1", narrowed: "q=neu" };
  const moved = await sendBulk(service, change, navigation);
  const evil = await post("/printers/2/delete", { narrowed: injected }, navigation);

  const text = await made.text();
  assert.deepEqual(listed(text), ["Empfang", "Lager", "Neu"]);
  assert.match(text, /id="printer-count"[^>]*hx-swap-oob="innerHTML">3 of 4 printers/);
  assert.equal(deleted.headers.get("location"), `/printers?${narrowed}&undo=1`);
  assert.match(moved.headers.get("location") ?? "", /^\/printers\?q=neu&bulk=[\w-]{12}$/);
  assert.equal(evil.headers.get("location"), "/printers?undo=3");
});

test("one search finds printers, clients and drivers, as a page and as a fragment", async (t) => {
  const { page, fetch } = await startShop(t);

  const [both, driver] = [await page("/search?q=beta"), await page("/search?q=papyrus.inf")];
  const part = await textOf(fetch("/search?q=nothing", { headers: { "hx-target": "find-results" } }));
  const empty = await fetch("/search");

  assert.match(both, /<h1>Search<\/h1>[\s\S]*1 client, 0 drivers, 2 printers/);
  assert.match(both, /href="\/clients\/2"><bdi>Beta &amp; Söhne<[\s\S]*href="\/printers\/2"><bdi>Lager</);
  assert.match(both, /<form class="find" method="get" action="\/search"/, "every page has the field");
  assert.match(driver, /href="\/drivers\/1"/);
  assert.match(part, /^<div class="results">[\s\S]*No client, driver or printer matches “<bdi>nothing</);
  assert.equal(empty.status, 200);
});

test("every query is answered", async (t) => {
  const { fetch } = await startShop(t);
  const queries = ["%", "%00", "%ff%fe", "\u202e", "<script>", "+", "%ED%A0%80"];
  queries.push("q".repeat(5000), "%cc%81".repeat(500));

  for (const query of queries) {
    for (const path of ["/search", "/printers"]) {
      const answer = await fetch(`${path}?q=${query}&state=${query}&client_id=${query}`);
      assert.equal(answer.status, 200, `${path} ${query.slice(0, 20)}`);
      assert.doesNotMatch(await answer.text(), /<script>(?!<)/);
    }
  }
});
