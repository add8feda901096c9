import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { navigation, startApp, type TestApp } from "../support/app.ts";
import { unpackers, verifyIntunewin, without } from "../support/drivers/foreign.ts";
import { bytesOf } from "../support/drivers/mixed-driver.ts";
import { makeTicket } from "../support/printers/tickets.ts";

const [ipp, classDrivers, textOnly] = ["1000001", "1000002", "1000003"];

/** Starts a service with one printer for each Windows driver, in order, and nothing else. */
async function appWithWindowsDrivers(t: TestContext): Promise<TestApp> {
  const app = await startApp(t);
  await app.addPrinter({ name: "Driverless", driver_id: ipp });
  await app.addPrinter({ name: "Old", driver_id: classDrivers, driver_desc: "Microsoft PS Class Driver" });
  await app.addPrinter({ name: "Labels", driver_id: textOnly, protocol: "lpr", lpr_queue: "lp" });
  return app;
}

test("Windows drivers exist from the start and do not complete the dashboard’s first steps", async (t) => {
  const { fetch } = await startApp(t);

  const [library = "", dashboard = "", form = ""] = await Promise.all(
    ["/drivers", "/", "/printers"].map(async (path) => (await fetch(path)).text()),
  );

  assert.match(library, /Upload the vendor’s driver ZIP/);
  assert.match(library, /Included in Windows[\s\S]*Microsoft IPP Class Driver[\s\S]*Generic \/ Text Only/);
  assert.doesNotMatch(dashboard, /Done:/);
  assert.match(form, /<optgroup label="Included in Windows"><option value="1000001"/);
});

test("the first uploaded driver is driver 1, and forms show it before the Windows drivers", async (t) => {
  const { addDriver, fetch } = await startApp(t);

  const id = await addDriver();

  const form = await (await fetch("/printers")).text();
  const select = form.slice(form.indexOf('id="f-driver_id"')).split("</select>")[0] ?? "";
  const ids = [...select.matchAll(/<option value="(\d+)"/g)].map(([, value]) => value);
  assert.deepEqual([id, ids], [1, ["1", ipp, classDrivers, textOnly]]);
});

test("a printer with a Windows driver has scripts and packages, without a driver folder", async (t) => {
  const { fetch } = await appWithWindowsDrivers(t);

  for (const id of [1, 2, 3]) {
    for (const kind of ["install", "uninstall", "detect"]) {
      const answer = await fetch(`/printers/${id}/scripts/${kind}`);
      assert.equal(answer.status, 200, `${id} ${kind}`);
      assert.match(answer.headers.get("content-disposition") ?? "", /^attachment/);
      assert.doesNotMatch(await answer.text(), /Download = /);
    }
    const zip = unpackers.fflate(await bytesOf(fetch(`/printers/${id}/packages/rmm`)));
    assert.deepEqual(Object.keys(zip).sort(), ["detect.ps1", "install.ps1", "uninstall.ps1"]);
  }
});

test("the verifier accepts their Intune packages", { skip: without.verifier }, async (t) => {
  const { fetch } = await appWithWindowsDrivers(t);

  for (const id of [1, 2, 3]) {
    const answer = await fetch(`/printers/${id}/packages/mdm`);
    assert.equal(answer.status, 200);
    verifyIntunewin(await bytesOf(answer));
  }
});

test("the IPP class driver implies protocol IPP, and protocol IPP implies that driver", async (t) => {
  const { post, app } = await startApp(t);

  await post("/printers", { name: "A", address: "10.0.0.1", driver_id: ipp });
  await post("/printers", {
    name: "B",
    address: "10.0.0.2",
    protocol: "ipp",
    port_number: "9100",
    port_name: "X",
  });
  await post("/printers", {
    name: "C",
    address: "fe80::9",
    protocol: "ipp",
    port_number: "443",
    ipp_tls: "on",
    ipp_path: "ipp",
  });

  const made = [1, 2, 3].map((id) => app.store.printers.get(id).printer);
  assert.deepEqual(
    made.map(({ protocol, driver_id, port_number, port_name, ipp_path }) => [
      protocol,
      driver_id,
      port_number,
      port_name,
      ipp_path,
    ]),
    [
      ["ipp", 1_000_001, 631, "", "/ipp/print"],
      ["ipp", 1_000_001, 631, "", "/ipp/print"],
      ["ipp", 1_000_001, 443, "", "/ipp"],
    ],
  );
});

test("IPP with another driver, the class driver with another protocol, and IPP without an address are refused", async (t) => {
  const { post, app, addDriver } = await startApp(t);
  const other = String(await addDriver());
  const refusals: [Record<string, string>, RegExp][] = [
    [
      { protocol: "ipp", driver_id: other, address: "10.0.0.9" },
      /IPP requires the Microsoft IPP Class Driver/,
    ],
    [
      { protocol: "ipp", driver_id: classDrivers, address: "10.0.0.9" },
      /IPP requires the Microsoft IPP Class/,
    ],
    [{ protocol: "raw", driver_id: ipp, address: "10.0.0.9" }, /supports only IPP/],
    [{ protocol: "ipp" }, /IPP needs the printer’s address/],
    [{ protocol: "ipp", address: "10.0.0.9", ipp_path: "/a b" }, /is not a valid IPP path/],
    [{ protocol: "ipp", address: "10.0.0.9", ipp_path: "/a?b" }, /is not a valid IPP path/],
    [
      { driver_id: classDrivers, driver_desc: "Papyrus", address: "10.0.0.9" },
      /does not contain the model “Papyrus”/,
    ],
  ];

  for (const [fields, message] of refusals) {
    const answer = await post("/printers", { name: "Office", ...fields });
    assert.equal(answer.status, 422, JSON.stringify(fields));
    assert.match(await answer.text(), message);
  }
  assert.equal(app.store.printers.list().length, 0);
});

test("a Windows driver cannot be changed, deleted or downloaded", async (t) => {
  const { fetch, post, app } = await startApp(t);

  const answers = {
    page: await fetch(`/drivers/${classDrivers}`),
    deleted: await fetch(`/drivers/${classDrivers}`, { method: "DELETE" }),
    deletedByForm: await post(`/drivers/${ipp}/delete`, {}, navigation),
    changed: await post(`/drivers/${textOnly}`, { name: "Mine" }),
    archive: await fetch(`/drivers/${ipp}/archive`),
    files: await fetch(`/drivers/${ipp}/files`),
  };

  const statuses = Object.entries(answers).map(([what, { status }]) => [what, status]);
  assert.deepEqual(Object.fromEntries(statuses), {
    page: 200,
    deleted: 409,
    deletedByForm: 409,
    changed: 409,
    archive: 422,
    files: 422,
  });
  assert.match(await answers.deleted.text(), /“Microsoft PCL6 and PS Class Drivers” comes with Windows/);
  assert.deepEqual(app.store.drivers.windowsDrivers().map(({ name }) => name)[2], "Generic / Text Only");
});

test("a bulk change to or from the IPP class driver is refused for printers with another protocol", async (t) => {
  const { post, addPrinter, app } = await startApp(t);
  await addPrinter({ name: "Raw" });
  await addPrinter({ name: "Driverless", driver_id: ipp });

  const toIpp = await post("/printers/bulk", { ids: "1,2", action: "driver", driver_id: ipp });
  const fromIpp = await post("/printers/bulk", { ids: "1,2", action: "driver", driver_id: "1" });
  const moved = await post("/drivers/1/move", { to: ipp, preview: "x" });

  assert.deepEqual([toIpp.status, fromIpp.status, moved.status], [422, 422, 422]);
  assert.match(await toIpp.text(), /“Microsoft IPP Class Driver” supports only IPP[^<]*“Raw”/);
  assert.match(await fromIpp.text(), /does not support IPP[^<]*“Driverless”/);
  assert.deepEqual(
    app.store.printers.list().map(({ printer, driver }) => [printer.name, driver?.id]),
    [
      ["Driverless", 1_000_001],
      ["Raw", 1],
    ],
  );
});

test("an import creates driverless printers, and importing their export changes nothing", async (t) => {
  const { post, fetch, app } = await startApp(t);
  const text =
    "name,address,driver,protocol,ipp_path,ipp_tls\nA,10.0.0.1,Microsoft IPP Class Driver,,,\nB,10.0.0.2,,ipp,/ipp/port1,yes\n";

  const imported = await post("/import", { text });
  const exported = await (await fetch("/export/printers.csv")).text();
  const again = await (await post("/import/preview", { text: exported })).text();

  assert.equal(imported.status, 200);
  assert.deepEqual(
    [1, 2].map((id) => {
      const { name, driver_id, protocol, ipp_path, ipp_tls } = app.store.printers.get(id).printer;
      return [name, driver_id, protocol, ipp_path, ipp_tls];
    }),
    [
      ["A", 1_000_001, "ipp", "/ipp/print", false],
      ["B", 1_000_001, "ipp", "/ipp/port1", true],
    ],
  );
  assert.match(again, /2 (?:printers )?unchanged|nothing/i);
});

test("a printer’s page links the help on its unusual settings, and each link leads to an existing section", async (t) => {
  const { addPrinter, fetch } = await startApp(t);
  const topicsOf = async (fields: Record<string, string>) => {
    const page = await (await fetch(`/printers/${await addPrinter(fields)}`)).text();
    const settings = page.slice(page.indexOf("<h2>Settings"), page.indexOf("<h2>Driver"));
    const [line = ""] = /<p class="hint">Help: .*?<\/p>/s.exec(settings) ?? [];
    return [...line.matchAll(/<a href="([^"]*)"[^>]*>([^<]+)<\/a>/g)].map(([, path = "", title]) => ({
      path,
      title,
    }));
  };
  const settings = [
    {},
    { name: "A", driver_id: ipp },
    { name: "B", driver_id: "1", print_ticket: makeTicket() },
    { name: "C", driver_id: "1", arm64_driver_id: textOnly },
    { name: "D", driver_id: "1", reset_user_preferences: "on" },
    { name: "E", driver_id: "1", replaces: "\\\\server\\queue" },
  ];

  const topics = [];
  for (const fields of settings) topics.push(await topicsOf(fields));
  const missing = [];
  for (const { path } of topics.flat()) {
    const [, anchor] = path.split("#");
    const answer = await fetch(path);
    if (answer.status !== 200 || (anchor && !(await answer.text()).includes(`id="${anchor}"`)))
      missing.push(path);
  }

  assert.deepEqual(
    topics.map((found) => found.map(({ title }) => title)),
    [[], ["IPP queues"], ["PrintTickets"], ["ARM64 PCs"], ["User preferences"], ["Replacing queues"]],
  );
  assert.deepEqual(missing, []);
});

test("the Intune section says that Windows has the driver, and which Windows versions add IPP queues", async (t) => {
  const { fetch } = await appWithWindowsDrivers(t);

  const [driverless = "", old = ""] = await Promise.all(
    ["/printers/1", "/printers/2"].map(async (path) => (await fetch(path)).text()),
  );

  for (const page of [driverless, old]) assert.match(page, /nothing: the driver comes with Windows/);
  assert.match(driverless, /Windows 11 21H2/);
  assert.match(driverless, /x64, ARM64/);
  assert.match(old, /Windows 10 1607/);
  assert.doesNotMatch(old, /Windows 11 21H2/);
});

test("a client’s Intune section says where the drivers of all of its printers are", async (t) => {
  const { addPrinter, fetch, post } = await startApp(t);
  await post("/clients", { name: "Alpha" });
  const dependencies = async () => /nothing: [^<]*/.exec(await (await fetch("/clients/1")).text())?.[0];
  const texts: (string | undefined)[] = [];

  await addPrinter({ name: "Driverless", client_id: "1", driver_id: ipp });
  await addPrinter({ name: "Labels", client_id: "1", driver_id: textOnly, protocol: "lpr", lpr_queue: "lp" });
  texts.push(await dependencies());
  await addPrinter({ client_id: "1" });
  texts.push(await dependencies());

  assert.deepEqual(texts, [
    "nothing: the drivers come with Windows",
    "nothing: the drivers are in the package or come with Windows",
  ]);
});
