import assert from "node:assert/strict";
import { test } from "node:test";
import { startApp } from "../support/app.ts";
import { textOf } from "../support/deploy/answers.ts";
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

  const page = await textOf(fetch("/printers?copy=1"));
  const refused = await textOf(post("/printers", { name: "", like: "Büro <1>" }));

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
    const text = await textOf(post("/printers", { client_id: "1", driver_id: "1000003", name, address }));
    return text.slice(text.indexOf('<div id="message"'), text.indexOf('<form id="printer-form'));
  };

  const address = await messageAfter("Copy", "10.0.0.9");
  const name = await messageAfter("OFFICE", "10.0.0.8");
  const alone = await messageAfter("Other", "10.0.0.7");

  const same =
    /notice warn"[\s\S]*Saved: [\s\S]*Same address as “<bdi>Office<\/bdi>” of this client: 10\.0\.0\.9\./;
  assert.match(address, same);
  assert.match(address, /href="\/printers\/1"><span>Open “<bdi>Office</);
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
  const model = "Papyrus 100 PCL6";
  const csv = ["name,client,address,driver_desc", ...lines.map((line) => `${line},${model}`)].join("\n");

  const { rows } = await planOf(service, csv);
  const page = await textOf(service.post("/import/preview", { text: csv }));

  const found = rows.map((row) => [row.name, row.model, ...row.collisions.map(({ other }) => other?.name)]);
  assert.deepEqual(found, [
    ["Hall", model, "Office"],
    ["Roof", model],
    ["Cellar", model, "Attic"],
    ["Attic", model, "Cellar"],
    ["Attic", model],
  ]);
  assert.match(page, /3 printers would have the same name or address as another printer of the client\./);
  const same = "Same address as “<bdi>Office</bdi>” of this client: 10.0.0.9.";
  assert.ok(page.includes(`<li class="warn">${same} <a href="/printers/1">Open`));
  assert.match(page, /See row 5\./);
  assert.equal(page.match(/scope="rowgroup"/g)?.length, 1);
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

  const page = await textOf(fetch("/printers?twin=1"));
  const answer = await post("/printers", sentFields(page));

  const [{ printer: old }, { printer }] = [app.store.printers.get(1), app.store.printers.get(2)];
  const own = { id: 2, name: "Office (IPP)", driver_id: 1_000_001, protocol: "ipp", port_name: "" };
  const { created_at, updated_at } = printer;
  assert.match(page, /id="new-printer"\s+open/);
  assert.match(page, /<h2>IPP twin of <bdi>Office<\/bdi><\/h2>/);
  assert.deepEqual(lostIn(page), [others]);
  assert.equal(answer.status, 200);
  const replaced = { port_number: 631, replaces: ["Old queue", "Office"] };
  assert.deepEqual({ ...printer }, { ...old, ...own, ...replaced, created_at, updated_at });
});

test("the form of an IPP twin lists each setting that it does not carry over, also after a refusal", async (t) => {
  const { fetch, post, addDriver, app } = await startApp(t);
  await addDriver();
  await post("/printers", {
    ...{ name: "Office", address: "10.0.0.9", driver_id: "1", driver_desc: "Papyrus 100 PCL6" },
    ...{ arm64_driver_id: "1000003", port_name: "Mine", protocol: "lpr", lpr_queue: "lp" },
    ...{ snmp: "on", snmp_community: "haus", print_ticket: makeTicket(), keep_driver: "on" },
  });

  const page = await textOf(fetch("/printers?twin=1"));
  const refused = await post("/printers", { ...sentFields(page), name: "" });
  await post("/printers", sentFields(page));

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
  const kept = { snmp: false, snmp_community: "public", lpr_queue: "", print_ticket: "", driver_desc: "" };
  const { printer } = app.store.printers.get(2);
  assert.equal(refused.status, 422);
  assert.deepEqual([lostIn(page), lostIn(await refused.text())], [lost, lost]);
  const ofIpp = { arm64_driver_id: null, keep_driver: false, ipp_path: "/ipp/print" };
  assert.deepEqual({ ...printer, ...kept, ...ofIpp }, { ...printer });
});

test("the name of an IPP twin is one that no other printer of the client has", async (t) => {
  const { fetch, post, addPrinter } = await startApp(t);
  await post("/clients", { name: "Alpha" });
  const long = "Ö".repeat(220);
  await addPrinter({ name: "Office", client_id: "1" });
  await addPrinter({ name: "OFFICE (IPP)", client_id: "1", driver_id: "1" });
  await addPrinter({ name: "Office", client_id: "", driver_id: "1" });
  await addPrinter({ name: long, client_id: "", driver_id: "1" });
  const nameIn = async (id: number) => sentFields(await textOf(fetch(`/printers?twin=${id}`))).name;

  const names = [await nameIn(1), await nameIn(3), await nameIn(4)];

  assert.deepEqual(names, ["Office (IPP 2)", "Office (IPP)", `${long.slice(0, 200)} (IPP)`]);
});

test("only a printer with an address, a TCP/IP queue and a vendor's driver can have an IPP twin, and the page warns of Windows' plans", async (t) => {
  const { addPrinter, fetch } = await startApp(t);
  await addPrinter();
  const plans = /driver ranking leaves TCP\/IP queues alone\. Protected print mode would remove this queue\./;
  const cannot: [name: string, fields: Record<string, string>, reason: string][] = [
    ["Modern", { driver_id: "1000001" }, "prints over IPP already."],
    ["Class", { driver_id: "1000002" }, "has no vendor’s driver, so it needs no IPP twin."],
    ["Driver", { driver_id: "1", address: "" }, "installs only a driver, so there is no queue to replace."],
    [
      "Local",
      { driver_id: "1", address: "", port_name: "LPT1:" },
      "has no address. Enter it first: IPP needs it.",
    ],
    ["Bare", { driver_id: "" }, "has no vendor’s driver, so it needs no IPP twin."],
  ];

  const page = await textOf(fetch("/printers/1"));
  const unknown = await fetch("/printers?twin=7");

  assert.match(page, plans);
  assert.ok(page.includes('href="/printers?twin=1"'));
  assert.equal((await fetch("/printers?twin=1")).status, 200);
  assert.equal(unknown.status, 404);
  for (const [name, fields, reason] of cannot) {
    const id = await addPrinter({ name, ...fields });
    const answer = await fetch(`/printers?twin=${id}`);
    assert.deepEqual([answer.status, await answer.text()], [422, `“${name}” ${reason}\n`]);
    const own = await textOf(fetch(`/printers/${id}`));
    assert.ok(!own.includes(`href="/printers?twin=`), name);
    if (name === "Modern") assert.doesNotMatch(own, plans);
  }
});
