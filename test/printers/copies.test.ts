import assert from "node:assert/strict";
import { test } from "node:test";
import { startApp } from "../support/app.ts";
import { planOf } from "../support/printers/lists.ts";
import { makeTicket } from "../support/printers/tickets.ts";

/** The fields that a browser sends from a page's form for a new printer. */
function sentFields(page: string): Record<string, string> {
  const [form = ""] = /<form id="printer-form"[\s\S]*?<\/form>/.exec(page) ?? [];
  const decode = (text = "") =>
    text.replaceAll("&#10;", "\n").replaceAll("&quot;", '"').replaceAll("&amp;", "&");
  const inputs = [...form.matchAll(/<input [^>]*>/g)].flatMap(([tag]) => {
    if (/type="checkbox"/.test(tag) && !/ checked/.test(tag)) return [];
    const value = /type="checkbox"/.test(tag) ? "on" : /value="([^"]*)"/.exec(tag)?.[1];
    return [[/ name="([^"]*)"/.exec(tag)?.[1] ?? "", decode(value)]];
  });
  const areas = [...form.matchAll(/<textarea [^>]*name="([^"]*)"[^>]*>([^<]*)/g)];
  const selects = [...form.matchAll(/<select [^>]*name="([^"]*)"[^>]*>([\s\S]*?)<\/select>/g)];
  return Object.fromEntries([
    ...inputs,
    ...areas.map(([, name, text]) => [name, decode(text)]),
    ...selects.map(([, name, options = ""]) => [
      name,
      /value="([^"]*)" selected/.exec(options)?.[1] ?? /value="([^"]*)"/.exec(options)?.[1],
    ]),
  ]);
}

test("a duplicate is a new printer like another one, without name and address, which are marked as needed", async (t) => {
  const { fetch, post, addPrinter } = await startApp(t);
  await addPrinter({ name: "Büro <1>", address: "10.0.0.9", location: "Hall" });

  const page = await (await fetch("/printers?copy=1")).text();
  const refused = await (await post("/printers", { name: "", like: "Büro <1>" })).text();

  const { name, address, location } = sentFields(page);
  assert.deepEqual([name, address, location], ["", "", "Hall"]);
  for (const text of [page, refused]) {
    assert.match(text, /<h2>New printer like <bdi>Büro &lt;1&gt;<\/bdi><\/h2>/);
    assert.match(text, /<label for="f-address">Address <span class="needed">required/);
  }
});

test("a saved duplicate with another's name or address says so in amber, and links to the other", async (t) => {
  const { post } = await startApp(t);
  await post("/clients", { name: "Alpha" });
  await post("/printers", { name: "Office", client_id: "1", address: "10.0.0.9" });
  const messageAfter = async (name: string, address: string) => {
    const answer = await post("/printers", { client_id: "1", driver_id: "1000003", name, address });
    const text = await answer.text();
    return text.slice(text.indexOf('<div id="message"'), text.indexOf('<form id="printer-form'));
  };

  const address = await messageAfter("Copy", "10.0.0.9");
  const name = await messageAfter("OFFICE", "10.0.0.8");
  const alone = await messageAfter("Other", "10.0.0.7");

  assert.match(
    address,
    /notice warn"[\s\S]*Saved: [\s\S]*Same address as “<bdi>Office<\/bdi>” of this client: 10\.0\.0\.9\.[\s\S]*href="\/printers\/1"><span>Open “<bdi>Office</,
  );
  assert.match(name, /notice warn"[\s\S]*has this name[\s\S]*href="\/printers\/1"/);
  assert.match(alone, /notice good"/);
});

test("an import's preview names the model of each row, the driver once, and what collides", async (t) => {
  const service = await startApp(t);
  await service.addDriver();
  await service.post("/clients", { name: "Alpha" });
  await service.post("/printers", { name: "Office", client_id: "1", driver_id: "1", address: "10.0.0.9" });
  const lines = ["Hall,Alpha,10.0.0.9", "Roof,Alpha,10.0.0.8", "Cellar,New client,10.0.0.7"];
  lines.push("Attic,New client,10.0.0.7", "Attic,Alpha,10.0.0.7");
  const csv = ["name,client,address,driver_desc", ...lines.map((line) => `${line},Papyrus 100 PCL6`)].join(
    "\n",
  );

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
  const text = "name,address\nHall,10.0.0.9\nRoof,10.0.0.300\nCellar,10.0.0.301";

  const done = await (await post("/import", { text, leave_wrong: "on" })).text();

  assert.match(done, /notice warn"[\s\S]*Imported: 1 new printer, 2 wrong rows left out\./);
});

/** What the form says it does not carry over. */
function lostIn(page: string): string[] {
  const [, list = ""] = /<p>Not carried over:<\/p>\s*<ul>([\s\S]*?)<\/ul>/.exec(page) ?? [];
  return [...list.matchAll(/<li>([^<]*)<\/li>/g)].map(([, text = ""]) => text);
}

const others = "Trays, stapling, user codes and other preferences of the vendor’s driver.";

test("the form of an IPP twin, sent as it is, makes a printer that replaces the old queue", async (t) => {
  const { fetch, post, addDriver, app } = await startApp(t);
  const driver_id = String(await addDriver());
  await post("/clients", { name: "Alpha" });
  await post("/printers", {
    ...{ name: "Office", client_id: "1", driver_id, address: "10.0.0.9", location: "Hall" },
    ...{ comment: "Call 12", set_default: "on", shared: "on", share_name: "Office-A3" },
    ...{ duplex: "long_edge", color: "mono", collate: "on", paper_size: "A4" },
    ...{ reset_user_preferences: "on", subnets: "10.0.0.0/24", replaces: "Old queue" },
  });

  const page = await (await fetch("/printers?twin=1")).text();
  const answer = await post("/printers", sentFields(page));

  const [{ printer: old }, { printer }] = [app.store.printers.get(1), app.store.printers.get(2)];
  assert.match(page, /id="new-printer"\s+open/);
  assert.match(page, /<h2>IPP twin of <bdi>Office<\/bdi><\/h2>/);
  assert.deepEqual(lostIn(page), [others]);
  assert.equal(answer.status, 200);
  assert.deepEqual(
    { ...printer, created_at: 0, updated_at: 0 },
    {
      ...old,
      ...{ id: 2, created_at: 0, updated_at: 0, name: "Office (IPP)", driver_id: 1_000_001 },
      ...{ protocol: "ipp", port_name: "", port_number: 631, replaces: ["Old queue", "Office"] },
    },
  );
});

test("the form of an IPP twin lists each setting that it does not carry over, also after a refusal", async (t) => {
  const { fetch, post, addDriver, app } = await startApp(t);
  await addDriver();
  await post("/printers", {
    ...{ name: "Office", address: "10.0.0.9", driver_id: "1", driver_desc: "Papyrus 100 PCL6" },
    ...{ arm64_driver_id: "1000003", port_name: "Mine", protocol: "lpr", lpr_queue: "lp" },
    ...{ snmp: "on", snmp_community: "haus", print_ticket: makeTicket(), keep_driver: "on" },
  });

  const page = await (await fetch("/printers?twin=1")).text();
  const refused = await post("/printers", { ...sentFields(page), name: "" });
  await post("/printers", sentFields(page));

  const { printer } = app.store.printers.get(2);
  const lost = [
    "Model: it belongs to the vendor’s driver.",
    "Port: Windows names the ports of IPP queues.",
    "LPR queue: IPP has a path instead.",
    "SNMP status enabled: IPP reports the printer’s state itself.",
    "PrintTicket: it belongs to the vendor’s driver.",
    "Driver for ARM64: Windows includes the IPP driver for ARM64.",
    "Keep the driver when uninstalling: it concerns the vendor’s driver.",
    others,
  ];
  assert.deepEqual([lostIn(page), lostIn(await refused.text())], [lost, lost]);
  assert.equal(refused.status, 422);
  assert.deepEqual(
    [printer.snmp, printer.snmp_community, printer.lpr_queue, printer.print_ticket, printer.driver_desc],
    [false, "public", "", "", ""],
  );
  assert.deepEqual(
    [printer.arm64_driver_id, printer.keep_driver, printer.ipp_path],
    [null, false, "/ipp/print"],
  );
});

test("the name of an IPP twin is one that no other printer of the client has", async (t) => {
  const { fetch, post, addPrinter } = await startApp(t);
  await post("/clients", { name: "Alpha" });
  const long = "Ö".repeat(220);
  await addPrinter({ name: "Office", client_id: "1" });
  await addPrinter({ name: "OFFICE (IPP)", client_id: "1", driver_id: "1" });
  await addPrinter({ name: "Office", client_id: "", driver_id: "1" });
  await addPrinter({ name: long, client_id: "", driver_id: "1" });
  const nameIn = async (id: number) => sentFields(await (await fetch(`/printers?twin=${id}`)).text()).name;

  const names = [await nameIn(1), await nameIn(3), await nameIn(4)];

  assert.deepEqual(names, ["Office (IPP 2)", "Office (IPP)", `${long.slice(0, 200)} (IPP)`]);
});

test("only a printer with an address, a TCP/IP queue and a vendor's driver can have an IPP twin, and the page warns of Windows' plans", async (t) => {
  const { addPrinter, fetch } = await startApp(t);
  await addPrinter();
  await addPrinter({ name: "Modern", driver_id: "1000001" });
  await addPrinter({ name: "Class", driver_id: "1000002" });
  await addPrinter({ name: "Driver", driver_id: "1", address: "", port_name: "" });
  await addPrinter({ name: "Local", driver_id: "1", address: "", port_name: "LPT1:" });
  await addPrinter({ name: "Bare", driver_id: "" });
  const plans = /driver ranking leaves TCP\/IP queues alone\. Protected print mode would remove this queue\./;

  const offers: boolean[] = [];
  const warnings: boolean[] = [];
  const answers: string[] = [];
  for (const id of [1, 2, 3, 4, 5, 6, 7]) {
    const page = await (await fetch(`/printers/${id}`)).text();
    offers.push(page.includes(`href="/printers?twin=${id}"`));
    warnings.push(plans.test(page));
    const answer = await fetch(`/printers?twin=${id}`);
    answers.push(answer.status === 422 ? await answer.text() : String(answer.status));
  }

  assert.deepEqual(offers, [true, false, false, false, false, false, false]);
  assert.deepEqual(warnings.slice(0, 2), [true, false]);
  assert.deepEqual(answers, [
    "200",
    "“Modern” prints over IPP already.\n",
    "“Class” has no vendor’s driver, so it needs no IPP twin.\n",
    "“Driver” installs only a driver, so there is no queue to replace.\n",
    "“Local” has no address. Enter it first: IPP needs it.\n",
    "“Bare” has no vendor’s driver, so it needs no IPP twin.\n",
    "404",
  ]);
});
