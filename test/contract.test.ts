import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { unzipSync } from "fflate";
import { navigation, startApp } from "./support/app.ts";
import { driverZip, printerInf } from "./support/driver-zip.ts";
import { makePng } from "./support/png.ts";
import { makeZip } from "./support/zip.ts";

test("the health check answers one JSON field", async (t) => {
  const { fetch } = await startApp(t);

  const answer = await fetch("/health");

  assert.equal(answer.status, 200);
  assert.match(answer.headers.get("content-type") ?? "", /application\/json/);
  assert.deepEqual(await answer.json(), { status: "ok" });
});

test("every page answers with HTML, in an empty and in a filled service", async (t) => {
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

  const [recent = "", packages = ""] = text.split("Recent packages");
  assert.deepEqual(
    [...recent.matchAll(/>(Bare \d)</g)].map((match) => match[1]),
    ["Bare 6", "Bare 5", "Bare 4", "Bare 3", "Bare 2"],
  );
  assert.deepEqual(
    [...packages.matchAll(/<a href="\/printers\/\d+">(With \d)</g)].map((match) => match[1]),
    ["With 6", "With 5", "With 4", "With 3", "With 2"],
  );
});

test("an empty dashboard says what to do first", async (t) => {
  const { fetch } = await startApp(t);

  const text = await (await fetch("/")).text();

  assert.match(text, /Three steps/);
  assert.match(text, /href="\/clients"/);
  assert.match(text, /href="\/drivers"/);
});

test("a printer is made from a form and stands in the list under its client", async (t) => {
  const { post, app } = await startApp(t);
  await post("/clients", { name: "Alpha" });

  const answer = await post("/printers", {
    name: "Büro 1",
    client_id: "1",
    address: "10.0.0.9",
    set_default: "on",
    snmp: "on",
    replaces: "Old one\r\nOld two\r\n",
  });

  const text = await answer.text();
  const printer = app.store.printers.get(1).printer;
  assert.equal(answer.status, 200);
  assert.match(text, /Alpha[\s\S]*href="\/printers\/1">Büro 1</);
  assert.equal(printer.port_name, "IP_10.0.0.9");
  assert.equal(printer.set_default, true);
  assert.equal(printer.shared, false);
  assert.deepEqual(printer.replaces, ["Old one", "Old two"]);
});

test("a printer is deleted from the whole list alone: elsewhere nothing could be brought anew", async (t) => {
  const { fetch, post, addPrinter } = await startApp(t);
  await post("/clients", { name: "Alpha" });
  await addPrinter({ client_id: "1" });

  const pages = await Promise.all(
    ["/printers", "/clients/1", "/drivers/1"].map(async (path) => (await fetch(path)).text()),
  );

  assert.deepEqual(
    pages.map((text) => [text.includes("hx-delete"), text.includes('id="printer-list"')]),
    [
      [true, true],
      [false, false],
      [false, false],
    ],
  );
});

test("a printer without client and driver is listed all the same", async (t) => {
  const { post, fetch } = await startApp(t);
  await post("/printers", { name: "Lonely", address: "10.0.0.1" });

  const text = await (await fetch("/printers")).text();

  assert.match(text, /Without a client/);
  assert.match(text, /href="\/printers\/1">Lonely</);
  assert.match(await (await fetch("/printers/1")).text(), /No driver assigned/);
});

test("a rejected form comes back with a message beside the field and what was typed", async (t) => {
  const { post, app } = await startApp(t);

  const answer = await post("/printers", {
    name: "A,B",
    address: "300.1.1.1",
    location: "Hall <3>",
    client_id: "7",
  });

  const text = await answer.text();
  assert.equal(answer.status, 422);
  assert.match(text, /id="printer-list"/);
  assert.match(text, /cannot contain “,”/);
  assert.match(text, /neither an IP address nor a host name/);
  assert.match(text, /value="A,B"/);
  assert.match(text, /value="Hall &lt;3&gt;"/);
  assert.equal(app.store.printers.list().length, 0);
});

test("an unknown client or driver is refused with 422", async (t) => {
  const { post, app } = await startApp(t);

  const client = await post("/printers", { name: "A", address: "10.0.0.1", client_id: "99" });
  const driver = await post("/printers", { name: "A", address: "10.0.0.1", driver_id: "x" });

  assert.deepEqual([client.status, driver.status], [422, 422]);
  assert.match(await client.text(), /There is no client 99/);
  assert.equal(app.store.printers.list().length, 0);
});

test("a printer is edited, copied and deleted", async (t) => {
  const { post, fetch, addPrinter, app } = await startApp(t);
  const id = await addPrinter({ location: "Hall" });

  const copied = await (await fetch(`/printers?copy=${id}`)).text();
  const edited = await post(`/printers/${id}`, { name: "Renamed", address: "10.0.0.8" });
  const deleted = await fetch(`/printers/${id}`, { method: "DELETE" });

  assert.match(copied, /value="Hall"/);
  assert.doesNotMatch(copied, /name="address" type="text"\s+value="10/);
  assert.equal(edited.status, 200);
  assert.equal(deleted.status, 200);
  assert.match(await deleted.text(), /id="printer-list"/);
  assert.equal(app.store.printers.find(id), undefined);
  assert.equal((await fetch(`/printers/${id}`, { method: "DELETE" })).status, 404);
});

test("a client's name is taken whatever its case, and says so with 409", async (t) => {
  const { post, app } = await startApp(t);
  const first = await post("/clients", { name: "  Müller GmbH " });

  const second = await post("/clients", { name: "MÜLLER gmbh", notes: "kept" });

  const text = await second.text();
  assert.equal(first.status, 200);
  assert.equal(second.status, 409);
  assert.match(text, /There is a client called “Müller GmbH” already/);
  assert.match(text, /kept/);
  assert.deepEqual(
    app.store.clients.list().map(({ name }) => name),
    ["Müller GmbH"],
  );
});

test("a client or driver still in use says by which printers, and stays", async (t) => {
  const { post, fetch, addPrinter, app } = await startApp(t);
  await post("/clients", { name: "Alpha" });
  await addPrinter({ name: "Hall printer", client_id: "1" });

  const client = await fetch("/clients/1", { method: "DELETE" });
  const driver = await fetch("/drivers/1", { method: "DELETE" });

  assert.deepEqual([client.status, driver.status], [409, 409]);
  assert.match(await client.text(), /Hall printer/);
  assert.match(await driver.text(), /Hall printer/);
  assert.equal(app.store.clients.count(), 1);
  assert.equal(app.store.drivers.count(), 1);
});

test("an upload makes one driver, with a dropdown and a notice about unused files", async (t) => {
  const { upload, app, dataDir } = await startApp(t);
  const zip = driverZip({ extra: [{ name: "readme.txt", bytes: "x" }] });

  const first = await upload("/drivers/upload", zip, "Papyrus 1.2.zip");
  const second = await upload("/drivers/upload", zip, "again.zip");

  const text = await first.text();
  assert.deepEqual([first.status, second.status], [200, 200]);
  assert.match(text, /<select [^>]*name="driver_id"/);
  assert.match(text, /1 unused file of 4/);
  assert.match(text, /readme\.txt/);
  assert.match(await second.text(), /was here already/);
  assert.equal(app.store.drivers.count(), 1);
  assert.equal(app.store.drivers.get(1).file_name, "Papyrus 1.2.zip");
  assert.deepEqual(readdirSync(join(dataDir, "incoming")), []);
  assert.equal(readdirSync(join(dataDir, "drivers")).length, 1);
});

test("two uploads of the same content at once end in one record", async (t) => {
  const { upload, app, dataDir } = await startApp(t);
  const zip = driverZip();

  const answers = await Promise.all([1, 2, 3, 4].map(() => upload("/drivers/upload", zip)));

  assert.deepEqual(
    answers.map((answer) => answer.status),
    [200, 200, 200, 200],
  );
  assert.equal(app.store.drivers.count(), 1);
  assert.equal(readdirSync(join(dataDir, "drivers")).length, 1);
});

test("what is no driver ZIP is refused with 422 and leaves nothing behind", async (t) => {
  const { upload, post, app, dataDir } = await startApp(t);

  const answers = [
    await upload("/drivers/upload", Buffer.from("this is no ZIP")),
    await upload("/drivers/upload", makeZip([{ name: "readme.txt", bytes: "no INF" }])),
    await upload("/drivers/upload", driverZip().subarray(0, 300)),
    await post("/drivers/upload", { file: "no file" }),
  ];

  assert.deepEqual(
    answers.map((answer) => answer.status),
    [422, 422, 422, 422],
  );
  assert.match((await answers[1]?.text()) ?? "", /holds no INF file/);
  assert.equal(app.store.drivers.count(), 0);
  assert.deepEqual(readdirSync(join(dataDir, "incoming")), []);
  assert.deepEqual(readdirSync(join(dataDir, "drivers")), []);
});

test("a ZIP over the limit is refused with 413 and leaves nothing behind", async (t) => {
  const { upload, app, dataDir } = await startApp(t, { uploadLimitBytes: 1024 * 1024 });

  const answer = await upload("/drivers/upload", Buffer.alloc(1024 * 1024 + 1));

  assert.equal(answer.status, 413);
  assert.match(await answer.text(), /larger than 1 MB/);
  assert.equal(app.store.drivers.count(), 0);
  assert.deepEqual(readdirSync(join(dataDir, "incoming")), []);
});

test("more long work than can wait is refused with 503 and a time to try again", async (t) => {
  const { upload, app } = await startApp(t);

  const answers = await Promise.all(
    Array.from({ length: 40 }, (_, i) => upload("/drivers/upload", driverZip({ version: `1.0.0.${i}` }))),
  );

  const busy = answers.filter(({ status }) => status === 503);
  assert.ok(busy.length > 0 && answers.every(({ status }) => status === 200 || status === 503));
  for (const answer of busy) assert.match(answer.headers.get("retry-after") ?? "", /^\d+$/);
  assert.equal(app.store.drivers.count(), 40 - busy.length);
});

test("an INF without a model is stored and needs attention until the operator completes it", async (t) => {
  const { addDriver, addPrinter, fetch, post } = await startApp(t);
  const driver = await addDriver(driverZip({ models: [] }));
  const printer = await addPrinter({ driver_id: String(driver) });

  const list = await (await fetch("/drivers")).text();
  const before = await fetch(`/printers/${printer}/scripts/install`);
  await post(`/drivers/${driver}`, { driver_desc_typed: "Papyrus typed" });
  const after = await fetch(`/printers/${printer}/scripts/install`);

  assert.match(list, /Needs attention/);
  assert.equal(before.status, 422);
  assert.match(await before.text(), /no driver description/);
  assert.equal(after.status, 200);
  assert.match(await after.text(), /DriverName = 'Papyrus typed'/);
});

test("uploading content whose file is missing on disk puts the file back", async (t) => {
  const { upload, addPrinter, fetch, dataDir, app } = await startApp(t);
  const printer = await addPrinter();
  await app.store.blobs.removeArchive(app.store.drivers.get(1).sha256);

  const missing = await fetch(`/printers/${printer}/packages/rmm`);
  await upload("/drivers/upload", driverZip());
  const back = await fetch(`/printers/${printer}/packages/rmm`);

  assert.equal(missing.status, 422);
  assert.match(await missing.text(), /missing on disk: upload driver\.zip again/);
  assert.equal(back.status, 200);
  assert.equal(readdirSync(join(dataDir, "drivers")).length, 1);
});

test("scripts answer 404 without a printer and 422 without a driver", async (t) => {
  const { fetch, post } = await startApp(t);
  await post("/printers", { name: "Bare", address: "10.0.0.1" });

  for (const kind of ["install", "uninstall", "detect"]) {
    assert.equal((await fetch(`/printers/99/scripts/${kind}`)).status, 404);
    assert.equal((await fetch(`/printers/abc/scripts/${kind}`)).status, 404);
    assert.equal((await fetch(`/printers/1/scripts/${kind}`)).status, 422);
  }
  for (const format of ["rmm", "mdm"]) {
    assert.equal((await fetch(`/printers/99/packages/${format}`)).status, 404);
    assert.equal((await fetch(`/printers/1/packages/${format}`)).status, 422);
  }
  assert.equal((await fetch("/printers/1/scripts/other")).status, 404);
});

test("scripts and packages are attachments with safe names, a length and an ETag", async (t) => {
  const { fetch, addPrinter, post } = await startApp(t);
  await post("/clients", { name: "Ärzte & Söhne" });
  const id = await addPrinter({ name: "Büro “1” / Süd", client_id: "1" });
  const expected = {
    "scripts/install": "install-buro-1-sud.ps1",
    "scripts/uninstall": "uninstall-buro-1-sud.ps1",
    "scripts/detect": "detect-buro-1-sud.ps1",
    "packages/rmm": "arzte-sohne-buro-1-sud.zip",
    "packages/mdm": "arzte-sohne-buro-1-sud.intunewin",
  };

  for (const [path, name] of Object.entries(expected)) {
    const answer = await fetch(`/printers/${id}/${path}`);
    const bytes = await answer.arrayBuffer();
    assert.equal(answer.status, 200);
    assert.equal(
      answer.headers.get("content-disposition"),
      `attachment; filename="${name}"; filename*=UTF-8''${name}`,
    );
    assert.equal(Number(answer.headers.get("content-length")), bytes.byteLength);
    assert.equal(answer.headers.get("accept-ranges"), "bytes");
    assert.match(answer.headers.get("etag") ?? "", /^"[^"]+"$/);
  }
});

test("the printer page shows both commands with copy buttons, and both packages", async (t) => {
  const { fetch, addPrinter } = await startApp(t);
  const id = await addPrinter();

  const text = await (await fetch(`/printers/${id}`)).text();

  const command = "powershell.exe -NoProfile -NonInteractive -ExecutionPolicy Bypass -File .\\";
  assert.ok(text.includes(`<code id="install_cmd">${command}install.ps1</code>`));
  assert.ok(text.includes(`<code id="uninstall_cmd">${command}uninstall.ps1</code>`));
  assert.equal(text.match(/data-copy="/g)?.length, 2);
  assert.match(text, /href="\/printers\/1\/packages\/rmm"/);
  assert.match(text, /href="\/printers\/1\/packages\/mdm"/);
  assert.match(text, /action="\/printers\/1\/icon"/);
  assert.match(text, /id="icon-status"/);
  assert.doesNotMatch(text, /regenerate/i);
});

test("an icon is kept, replaced and served", async (t) => {
  const { upload, fetch, addPrinter, dataDir, app } = await startApp(t);
  const id = await addPrinter();

  const first = await upload(`/printers/${id}/icon`, makePng(), "icon.png");
  const before = app.store.icons.find(id)?.sha256;
  const second = await upload(`/printers/${id}/icon`, makePng(256, 256, 100), "icon.png");
  const served = await fetch(`/printers/${id}/icon`);

  assert.deepEqual([first.status, second.status], [200, 200]);
  assert.notEqual(app.store.icons.find(id)?.sha256, before);
  assert.equal(readdirSync(join(dataDir, "icons")).length, 1);
  assert.equal(served.headers.get("content-type"), "image/png");
  assert.deepEqual(Buffer.from(await served.arrayBuffer()), makePng(256, 256, 100));
});

test("an icon that is wrong is refused in its place, and the old one stays", async (t) => {
  const { upload, addPrinter, dataDir } = await startApp(t);
  const id = await addPrinter();
  await upload(`/printers/${id}/icon`, makePng(), "icon.png");
  const broken = makePng();
  broken[60] = (broken[60] ?? 0) ^ 1;
  const rest = 768_000 - makePng(256, 256, 1).length + 1;

  const answers = [
    await upload(`/printers/${id}/icon`, Buffer.from("GIF89a"), "icon.png"),
    await upload(`/printers/${id}/icon`, makePng(255, 256), "icon.png"),
    await upload(`/printers/${id}/icon`, broken, "icon.png"),
    await upload(`/printers/${id}/icon`, makePng(256, 256, rest + 1), "icon.png"),
    await upload(`/printers/${id}/icon`, makePng(256, 256, rest), "icon.png"),
    await upload("/printers/99/icon", makePng(), "icon.png"),
  ];

  assert.deepEqual(
    answers.map((answer) => answer.status),
    [422, 422, 422, 413, 200, 404],
  );
  assert.match((await answers[1]?.text()) ?? "", /255 × 256 pixels/);
  assert.equal(readdirSync(join(dataDir, "icons")).length, 1);
  assert.deepEqual(readdirSync(join(dataDir, "incoming")), []);
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

test("static files come from the service, with their types", async (t) => {
  const { fetch } = await startApp(t);
  const page = await (await fetch("/")).text();
  const addresses = [...page.matchAll(/(?:src|href)="(\/static\/[^"]+)"/g)].map((match) => match[1] ?? "");

  const answers = await Promise.all(addresses.map((address) => fetch(address)));

  assert.ok(addresses.length >= 4);
  for (const answer of answers) {
    assert.equal(answer.status, 200);
    assert.match(answer.headers.get("content-type") ?? "", /text\/css|text\/javascript|image\/svg/);
    assert.match(answer.headers.get("cache-control") ?? "", /immutable/);
  }
  assert.equal((await fetch("/static/nothing.js")).status, 404);
  assert.equal((await fetch("/favicon.ico")).status, 200);
});

test("a wrong method answers 405 with what is allowed, an unknown address 404", async (t) => {
  const { fetch } = await startApp(t);

  const wrong = await fetch("/printers", { method: "PUT" });
  const unknown = await fetch("/nothing");
  const browser = await fetch("/nothing", { headers: { accept: "text/html" } });

  assert.equal(wrong.status, 405);
  assert.equal(wrong.headers.get("allow"), "GET, HEAD, POST");
  assert.equal(unknown.status, 404);
  assert.match(unknown.headers.get("content-type") ?? "", /text\/plain/);
  assert.match(await browser.text(), /<h1>Not here<\/h1>/);
});

test("HEAD answers as GET does, without a body", async (t) => {
  const { fetch, addPrinter } = await startApp(t);
  const id = await addPrinter();

  for (const path of ["/", "/health", `/printers/${id}/scripts/detect`, `/printers/${id}/packages/mdm`]) {
    const head = await fetch(path, { method: "HEAD" });
    const full = await fetch(path);
    assert.equal(head.status, 200);
    assert.equal(head.headers.get("content-length"), full.headers.get("content-length"));
    assert.equal(await head.text(), "");
    await full.arrayBuffer();
  }
});

test("a browser without scripts is sent from a form to a page", async (t) => {
  const { post, upload, fetch, addPrinter } = await startApp(t);
  await addPrinter();

  const answers = [
    await post("/clients", { name: "Alpha" }, navigation),
    await post("/printers", { name: "B", address: "10.0.0.1" }, navigation),
    await upload("/drivers/upload", driverZip({ version: "2.0.0.0" }), "b.zip", navigation),
    await post("/printers/1/delete", {}, navigation),
    await post("/clients/1/delete", {}, navigation),
  ];
  const refused = await post("/clients", { name: "" }, navigation);

  assert.deepEqual(
    answers.map((answer) => [answer.status, answer.headers.get("location")]),
    [
      [303, "/clients"],
      [303, "/printers/2"],
      [303, "/drivers/2"],
      [303, "/printers"],
      [303, "/clients"],
    ],
  );
  assert.equal(refused.status, 422);
  assert.match(await refused.text(), /<h1>Clients<\/h1>[\s\S]*The client’s name is needed/);
  assert.doesNotMatch(await (await fetch("/printers")).text(), /Office/, "what was deleted is gone");
});

test("a checkbox means the same when a form is read and when it comes back", async (t) => {
  const { post, app } = await startApp(t);
  const words = { off: ["", "0", "no", "No", "false", "off", " OFF "], on: ["on", "1", "yes", "true", "x"] };

  for (const value of [...words.off, ...words.on]) {
    const refused = await (await post("/printers", { name: "", snmp: value })).text();
    await post("/printers", { name: `Printer ${value}`, address: "10.0.0.1", snmp: value });

    const isTicked = /name="snmp" type="checkbox" value="on" checked/.test(refused);
    const isStored = app.store.printers.list().some(({ printer }) => printer.snmp);
    assert.deepEqual([isTicked, isStored], words.on.includes(value) ? [true, true] : [false, false], value);
  }
});

test("a page of another site cannot change anything", async (t) => {
  const { post, app, url } = await startApp(t);

  const answers = [
    await post("/clients", { name: "A" }, { origin: "https://evil.example" }),
    await post("/clients", { name: "A" }, { origin: "null" }),
    await post("/clients", { name: "A" }, { "sec-fetch-site": "cross-site" }),
  ];
  const own = await post("/clients", { name: "A" }, { origin: url });

  assert.deepEqual(
    answers.map((answer) => answer.status),
    [403, 403, 403],
  );
  assert.equal(own.status, 200);
  assert.equal(app.store.clients.count(), 1);
});

test("every answer carries the security headers", async (t) => {
  const { fetch } = await startApp(t);

  for (const path of ["/", "/nothing", "/health", "/favicon.ico"]) {
    const answer = await fetch(path);
    assert.match(answer.headers.get("content-security-policy") ?? "", /default-src 'none'/);
    assert.doesNotMatch(answer.headers.get("content-security-policy") ?? "", /unsafe/);
    assert.equal(answer.headers.get("x-content-type-options"), "nosniff");
  }
});

test("a name made of markup and quotes breaks no page", async (t) => {
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
  for (const path of [
    "/drivers",
    `/drivers/${driver_id}`,
    `/drivers/${driver_id}/models?q=img`,
    "/printers/1",
  ]) {
    const text = await (await fetch(path)).text();
    assert.doesNotMatch(text, /<b>P|<img src=x/, path);
    assert.match(text, /Model &lt;img src=x onerror=alert\(1\)&gt; &quot;1&quot;/, path);
  }
});

test("hostile descriptions come through to page, script and package unharmed and harmless", async (t) => {
  const { addDriver, addPrinter, fetch } = await startApp(t);
  const descriptions = [
    "O'Brien ’x’ $(calc) `n",
    "<script>alert(1)</script>",
    "\u202eRTL\u200f",
    "x".repeat(260),
    'say ""hi""',
  ];
  for (const description of descriptions) {
    const driver = await addDriver(driverZip({ models: [description.replaceAll('""', '"')] }));
    const printer = await addPrinter({ driver_id: String(driver) });

    const page = await (await fetch(`/drivers/${driver}`)).text();
    const script = await (await fetch(`/printers/${printer}/scripts/install`)).text();
    const zip = unzipSync(
      new Uint8Array(await (await fetch(`/printers/${printer}/packages/rmm`)).arrayBuffer()),
    );

    const literal = `'${description.replaceAll('""', '"').replace(/['’]/g, "$&$&")}'`;
    assert.doesNotMatch(page, /<script>alert/);
    assert.ok(script.includes(`DriverName = ${literal}`), description.slice(0, 40));
    assert.ok(
      Buffer.from(zip["install.ps1"] ?? [])
        .toString()
        .includes(`DriverName = ${literal}`),
    );
  }
});

test("a chosen INF and model are kept, and another INF brings its own model", async (t) => {
  const { addDriver, post, app } = await startApp(t);
  const second = printerInf({ models: ["Second A v2.0", "Second A"], version: "9.9.9.9" });
  const id = await addDriver(
    driverZip({ models: ["First A", "First B"], extra: [{ name: "sub/second.inf", bytes: second }] }),
  );

  await post(`/drivers/${id}`, {
    driver_desc: "First B",
    name: "Named",
    comment: "c",
    trust_publisher: "on",
  });
  const first = app.store.drivers.get(id);
  await post(`/drivers/${id}`, { inf_path: "sub/second.inf" });
  const other = app.store.drivers.get(id);
  const wrong = await post(`/drivers/${id}`, { inf_path: "nothing.inf" });

  assert.deepEqual([first.driver_desc, first.name, first.trust_publisher], ["First B", "Named", true]);
  assert.deepEqual([other.inf_path, other.driver_desc], ["sub/second.inf", "Second A"]);
  assert.equal(wrong.status, 422);
});
