import assert from "node:assert/strict";
import { test } from "node:test";
import { startApp } from "../support/app.ts";
import { planOf } from "../support/printers/lists.ts";

/** A field's value in a page's form for a new printer. */
function valueIn(page: string, name: string): string | undefined {
  const form = page.slice(page.indexOf('id="printer-form"'));
  const text = new RegExp(`name="${name}" type="text"\\s*value="([^"]*)"`).exec(form)?.[1];
  const area = new RegExp(`<textarea id="f-${name}"[^>]*>([^<]*)`).exec(form)?.[1];
  const [, select = ""] = new RegExp(`<select id="f-${name}"([\\s\\S]*?)</select>`).exec(form) ?? [];
  return text ?? area ?? /<option value="([^"]*)" selected/.exec(select)?.[1];
}

test("a duplicate is a new printer like another one, without name and address, which are marked as needed", async (t) => {
  const { fetch, post, addPrinter } = await startApp(t);
  await addPrinter({ name: "Büro <1>", address: "10.0.0.9", location: "Hall" });

  const page = await (await fetch("/printers?copy=1")).text();
  const refused = await (await post("/printers", { name: "", like: "Büro <1>" })).text();

  for (const text of [page, refused]) {
    assert.match(text, /<h2>New printer like <bdi>Büro &lt;1&gt;<\/bdi><\/h2>/);
    assert.match(text, /<label for="f-address">Address <span class="needed">required/);
  }
  assert.deepEqual(
    ["name", "address", "location"].map((name) => valueIn(page, name)),
    ["", "", "Hall"],
  );
});

test("a saved duplicate with another's name or address says so in amber, and links to the other", async (t) => {
  const { post } = await startApp(t);
  await post("/clients", { name: "Alpha" });
  await post("/printers", { name: "Office", client_id: "1", address: "10.0.0.9" });
  const driver = { client_id: "1", driver_id: "1000003" };

  const address = await (await post("/printers", { ...driver, name: "Copy", address: "10.0.0.9" })).text();
  const name = await (await post("/printers", { ...driver, name: "OFFICE", address: "10.0.0.8" })).text();
  const alone = await (await post("/printers", { ...driver, name: "Other", address: "10.0.0.7" })).text();
  const messageIn = (text: string) =>
    text.slice(text.indexOf('<div id="message"'), text.indexOf('<form id="printer-form'));

  assert.match(
    messageIn(address),
    /notice warn"[\s\S]*Saved: [\s\S]*Same address as “<bdi>Office<\/bdi>” of this client: 10\.0\.0\.9\.[\s\S]*href="\/printers\/1"><span>Open “<bdi>Office</,
  );
  assert.match(messageIn(name), /notice warn"[\s\S]*has this name[\s\S]*href="\/printers\/1"/);
  assert.match(messageIn(alone), /notice good"/);
});

test("an import's preview names the model of each row, the driver once, and what collides", async (t) => {
  const service = await startApp(t);
  await service.addDriver();
  await service.post("/clients", { name: "Alpha" });
  await service.post("/printers", { name: "Office", client_id: "1", driver_id: "1", address: "10.0.0.9" });
  const csv = [
    "name,client,address,driver_desc",
    "Hall,Alpha,10.0.0.9,Papyrus 100 PCL6",
    "Roof,Alpha,10.0.0.8,Papyrus 100 PCL6",
    "Cellar,New client,10.0.0.7,Papyrus 100 PCL6",
    "Attic,New client,10.0.0.7,Papyrus 100 PCL6",
    "Attic,Alpha,10.0.0.7,Papyrus 100 PCL6",
  ].join("\n");

  const { rows } = await planOf(service, csv);
  const page = await (await service.post("/import/preview", { text: csv })).text();

  assert.deepEqual(
    rows.map(({ name, model, collisions }) => [name, model, collisions.map(({ other }) => other?.name)]),
    [
      ["Hall", "Papyrus 100 PCL6", ["Office"]],
      ["Roof", "Papyrus 100 PCL6", []],
      ["Cellar", "Papyrus 100 PCL6", ["Attic"]],
      ["Attic", "Papyrus 100 PCL6", ["Cellar"]],
      ["Attic", "Papyrus 100 PCL6", []],
    ],
  );
  assert.match(page, /3 printers would have the same name or address as another printer of the client\./);
  assert.match(
    page,
    /<li class="warn">Same address as “<bdi>Office<\/bdi>” of this client: 10\.0\.0\.9\. <a href="\/printers\/1">Open/,
  );
  assert.match(page, /See row 5\./);
  assert.equal(page.match(/scope="rowgroup"/g)?.length, 1);
});

test("an import that leaves wrong rows out says how many, in amber", async (t) => {
  const { post } = await startApp(t);
  const csv = "name,address\nHall,10.0.0.9\nRoof,10.0.0.300\nCellar,10.0.0.301";

  const done = await (await post("/import", { text: csv, leave_wrong: "on" })).text();

  assert.match(done, /notice warn"[\s\S]*Imported: 1 new printer, 2 wrong rows left out\./);
});
