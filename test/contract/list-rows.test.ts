import assert from "node:assert/strict";
import { request } from "node:http";
import { type TestContext, test } from "node:test";
import { addPerson, signInAdmin, startClosed } from "../support/access/people.ts";
import { navigation, startApp, type TestApp } from "../support/app.ts";
import { driverZip } from "../support/drivers/driver-zip.ts";
import { startFilled } from "../support/filled.ts";

/** The printers that a page lists, in their order. */
function listed(page: string): string[] {
  return [...page.matchAll(/scope="row"><bdi><a href="[^"]+">([^<]+)</g)].map(([, name = ""]) => name);
}

async function smallShop({ post, addDriver }: TestApp): Promise<void> {
  await post("/clients", { name: "Alpha" });
  await addDriver();
  await post("/printers", { name: "Printer 10", client_id: "1", driver_id: "1", address: "10.0.0.9" });
  await post("/printers", { name: "Printer 9", client_id: "1", driver_id: "1", address: "10.0.0.10" });
  await post("/printers", { name: "Bare", client_id: "1", address: "10.0.0.8" });
}

/** A hundred and twenty printers of ten clients. */
const largeShop = (t: TestContext) =>
  startFilled(t, async ({ post, addDriver }) => {
    await addDriver();
    for (let i = 1; i <= 10; i++) await post("/clients", { name: `Kunde Müller & Söhne ${i}` });
    for (let i = 0; i < 120; i++)
      await post("/printers", {
        name: `Büro ${i} ${["Empfang", "Lager", "Werkstatt"][i % 3]}`,
        client_id: String((i % 10) + 1),
        driver_id: i % 10 === 9 ? "" : "1",
        address: `10.200.${100 + i}.${200 + (i % 50)}`,
        location: i % 3 === 0 ? "Haus 3, 2. OG" : "",
      });
  });

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

test("a list of 120 printers has at most half the links of three per row, and at most 60 KB on the wire", async (t) => {
  const { url, fetch } = await largeShop(t);

  const pages = await Promise.all(
    ["/printers", "/printers?sort=state"].map(async (path) => (await fetch(path)).text()),
  );
  const links = pages.map(
    (page) => page.slice(page.indexOf('id="printer-list"')).match(/<a\s/g)?.length ?? 0,
  );
  const bytes = await wireBytes(`${url}/printers`);

  assert.equal(listed(pages[0] ?? "").length, 120);
  assert.ok(Math.max(...links) <= 180, `${links} links`);
  assert.ok(bytes > 1000 && bytes <= 60_000, `${bytes} bytes`);
});

test("column headings sort the list, keep the filter, say the order, and reverse it", async (t) => {
  const service = await startApp(t);
  await smallShop(service);
  const page = async (path: string) => (await service.fetch(path)).text();

  const [plain, address, reversed, state] = await Promise.all(
    ["/printers", "/printers?q=10.0&sort=address", "/printers?sort=-name", "/printers?sort=state"].map(page),
  );

  assert.deepEqual(listed(plain ?? ""), ["Bare", "Printer 9", "Printer 10"]);
  assert.match(plain ?? "", /class="name" aria-sort="ascending"><a\s+href="\/printers\?sort=-name">Printer</);
  assert.deepEqual(listed(address ?? ""), ["Bare", "Printer 10", "Printer 9"]);
  assert.match(
    address ?? "",
    /aria-sort="ascending"><a\s+href="\/printers\?q=10\.0&amp;sort=-address">Address</,
  );
  assert.match(
    address ?? "",
    /<input type="hidden" name="sort" value="address">/,
    "the filter keeps the order",
  );
  assert.deepEqual(listed(reversed ?? ""), ["Printer 10", "Printer 9", "Bare"]);
  assert.match(reversed ?? "", /aria-sort="descending"><a\s+href="\/printers">Printer</);
  assert.equal(listed(state ?? "")[0], "Bare");
  assert.match(state ?? "", /class="state" aria-sort="descending"/);
  assert.doesNotMatch(state ?? "", /scope="rowgroup"/, "across clients, which the rows name");
  assert.match(state ?? "", /<td role="cell" class="place whose"><bdi>Alpha</);
});

test("a change keeps the order of the list, and packages can be sorted too", async (t) => {
  const service = await startApp(t);
  await smallShop(service);

  const deleted = await service.post("/printers/3/delete", { narrowed: "sort=-address" }, navigation);
  const packages = await (await service.fetch("/packages?sort=-name")).text();

  assert.equal(deleted.headers.get("location"), "/printers?sort=-address&undo=1");
  assert.deepEqual(listed(packages), ["Printer 10", "Printer 9"]);
});

test("what blocks a printer stands in its row where the list is filtered by it, with the remedy", async (t) => {
  const service = await startApp(t);
  await smallShop(service);

  const all = await (await service.fetch("/printers")).text();
  const blocked = await (await service.fetch("/printers?state=blocked")).text();

  assert.match(all, /<details class="why"/);
  assert.doesNotMatch(blocked, /<details class="why"/);
  assert.match(
    blocked,
    /Blocked<\/span><p>No driver assigned\. Choose a driver\. <a href="\/printers\/3\/edit#f-driver_id">Choose a driver</,
  );
});

test("what blocks a driver stands in its row too where the list is filtered by it", async (t) => {
  const { fetch, addDriver } = await startApp(t);
  await addDriver(driverZip({ catalog: null }));

  const all = await (await fetch("/drivers")).text();
  const blocked = await (await fetch("/drivers?state=unsigned")).text();

  assert.match(all, /<details class="why"/);
  assert.doesNotMatch(blocked, /<details class="why"/);
  assert.match(blocked, /<li class="bad">Unsigned: 64-bit Windows will refuse this driver\./);
});

test("a viewer's list has a heading for each cell, and neither checkboxes nor menus", async (t) => {
  const app = await startClosed(t);
  const admin = await signInAdmin(app);
  const viewer = await addPerson(app, "looks", "viewer");
  await app.post("/clients", { name: "Alpha" }, { cookie: admin });
  await app.post("/printers", { name: "Bare", client_id: "1", address: "10.0.0.1" }, { cookie: admin });

  const page = await (await app.fetch("/printers", { headers: { cookie: viewer } })).text();
  const classes = (tag: string, part: string) =>
    [...part.matchAll(new RegExp(`<${tag}[^>]* class="([a-z]+)"`, "g"))].map(([, name]) => name);
  const [head = "", body = ""] = page.slice(page.indexOf("<thead")).split("</thead>");

  assert.deepEqual(classes("th", head), ["name", "address", "model", "place", "changed", "state"]);
  assert.deepEqual(["name", ...classes("td", body)], classes("th", head));
  assert.doesNotMatch(page, /type="checkbox"|aria-haspopup|New printer/);
  assert.match(page, /href="\/export\/printers\.csv">Export/);
});

test("the filter for vendors' drivers says why it matters, and leaves out printers with Windows' own", async (t) => {
  const service = await startApp(t);
  await smallShop(service);
  await service.post("/printers", { name: "Ipp", client_id: "1", driver_id: "1000001", address: "10.0.0.7" });
  await service.post("/printers", { name: "Alone", client_id: "1", driver_id: "1" });
  await service.post("/printers", { name: "At LPT", client_id: "1", driver_id: "1", port_name: "LPT1:" });

  const page = await (await service.fetch("/printers?state=vendor-driver")).text();

  assert.deepEqual(listed(page), ["At LPT", "Printer 9", "Printer 10"], "a driver alone has no queue");
  assert.match(page, /<option value="vendor-driver" selected>Needs a vendor’s driver/);
  assert.match(page, /Windows protected print mode removes queues with vendors’ drivers/);
  assert.match(
    page,
    /aria-label="Actions for At LPT"\s+data-not="twin"/,
    "without an address there is no twin",
  );
  assert.match(page, /aria-label="Actions for Printer 9"\s*>/);
});
