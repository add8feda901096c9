import assert from "node:assert/strict";
import { test } from "node:test";
import { navigation, startApp } from "../support/app.ts";
import { unpackers, verifyIntunewin, without } from "../support/drivers/foreign.ts";
import { bytesOf } from "../support/drivers/mixed-driver.ts";
import { makeTicket } from "../support/printers/tickets.ts";

const [ipp, classDrivers, textOnly] = ["1000001", "1000002", "1000003"];

/** The selected option of a form's select, by the field's name. */
function selectedIn(page: string, name: string): string | undefined {
  const [, select = ""] = new RegExp(`<select id="f-${name}"([^]*?)</select>`).exec(page) ?? [];
  return /<option value="([^"]*)" selected/.exec(select)?.[1];
}

test("Windows drivers exist from the start, are found, follow uploaded ones in forms, and do not complete the first steps", async (t) => {
  const { addDriver, fetch } = await startApp(t);
  const pages = (...paths: string[]) => Promise.all(paths.map(async (path) => (await fetch(path)).text()));

  const [library = "", dashboard = "", form = "", found = ""] = await pages(
    ...["/drivers", "/", "/printers", "/search?q=ipp+class"],
  );
  const id = await addDriver();
  const [later = ""] = await pages("/printers");

  assert.match(library, /Upload the vendor’s driver ZIP/);
  assert.match(library, /Included in Windows[\s\S]*Microsoft IPP Class Driver[\s\S]*Generic \/ Text Only/);
  assert.doesNotMatch(dashboard, /Done:/);
  assert.match(form, /<optgroup label="Included in Windows"><option value="1000001"/);
  assert.match(found, /1 driver,[\s\S]*<a href="\/drivers\/1000001"><bdi>Microsoft IPP Class Driver</);
  assert.match(found, /<span class="soft facts"><bdi>Microsoft IPP Class Driver<\/bdi><\/span>/);
  const select = later.slice(later.indexOf('id="f-driver_id"')).split("</select>")[0] ?? "";
  const ids = [...select.matchAll(/<option value="(\d+)"/g)].map(([, value]) => value);
  assert.deepEqual([id, ids], [1, ["1", ipp, classDrivers, textOnly]]);
});

test("a printer with a Windows driver has scripts and packages without a driver folder; its page has its queues line by line", {
  skip: without.verifier,
}, async (t) => {
  const { addPrinter, fetch } = await startApp(t);
  await addPrinter({ driver_id: ipp, replaces: "Old one\nAnother old one\n\\\\server\\queue" });
  await addPrinter({ name: "Old", driver_id: classDrivers, driver_desc: "Microsoft PS Class Driver" });
  await addPrinter({ name: "Labels", driver_id: textOnly, protocol: "lpr", lpr_queue: "lp" });

  const page = await (await fetch("/printers/1")).text();
  for (const id of [1, 2, 3]) {
    const zip = unpackers.fflate(await bytesOf(fetch(`/printers/${id}/packages/rmm`)));
    const script = await (await fetch(`/printers/${id}/scripts/install`)).text();
    assert.deepEqual(Object.keys(zip).sort(), ["detect.ps1", "install.ps1", "uninstall.ps1"]);
    assert.doesNotMatch(script, /Download = /);
  }
  const verified = verifyIntunewin(await bytesOf(fetch("/printers/1/packages/mdm")));

  assert.equal(Object.keys(verified).length, 3);
  const queues = ["Old one", "Another old one", "\\\\server\\queue"].map((name) => `<code>${name}</code>`);
  assert.ok(page.includes(`${queues.join("<br>")}</dd>`));
  assert.match(page, /<code>http:\/\/10\.0\.0\.9:631<wbr>\/ipp\/print<\/code>/);
  assert.match(page, /It does not print\?<\/summary>\s+<p>Run <code>diagnose\.ps1<\/code>/);
});

test("the IPP class driver implies protocol IPP with its port, also in forms, and protocol IPP implies that driver", async (t) => {
  const { fetch, post, app } = await startApp(t);
  const named = { name: "B", address: "10.0.0.2", protocol: "ipp", port_number: "9100", port_name: "X" };
  const other = { name: "C", address: "fe80::9", protocol: "ipp", port_number: "443", ipp_path: "ipp" };

  const forIpp = await (await fetch(`/printers?driver_id=${ipp}`)).text();
  const plain = await (await fetch(`/printers?driver_id=${classDrivers}`)).text();
  const saved = await post("/printers", { name: "A", address: "10.0.0.1", driver_id: ipp });
  await post("/printers", named);
  await post("/printers", { ...other, ipp_tls: "on" });

  for (const page of [forIpp, await saved.text()]) {
    assert.deepEqual([selectedIn(page, "driver_id"), selectedIn(page, "protocol")], [ipp, "ipp"]);
    assert.match(page, /name="port_number" type="text"\s*value="631"/);
  }
  assert.deepEqual([selectedIn(plain, "driver_id"), selectedIn(plain, "protocol")], [classDrivers, "raw"]);
  const made = [1, 2, 3].map((id) => {
    const { protocol, driver_id, port_number, port_name, ipp_path } = app.store.printers.get(id).printer;
    return [protocol, driver_id, port_number, port_name, ipp_path];
  });
  const byDefault = ["ipp", 1_000_001, 631, "", "/ipp/print"];
  assert.deepEqual(made, [byDefault, byDefault, ["ipp", 1_000_001, 443, "", "/ipp"]]);
});

test("IPP with another driver, the class driver with another protocol, and IPP without an address are refused", async (t) => {
  const { post, app, addDriver } = await startApp(t);
  const other = String(await addDriver());
  const address = "10.0.0.9";
  const refusals: [Record<string, string>, RegExp][] = [
    [{ protocol: "ipp", driver_id: other, address }, /IPP requires the Microsoft IPP Class Driver/],
    [{ protocol: "ipp", driver_id: classDrivers, address }, /IPP requires the Microsoft IPP Class/],
    [{ protocol: "raw", driver_id: ipp, address }, /supports only IPP/],
    [{ protocol: "ipp" }, /IPP needs the printer’s address/],
    [{ protocol: "ipp", address, ipp_path: "/a?b" }, /is not a valid IPP path/],
    [{ driver_id: classDrivers, driver_desc: "Papyrus", address }, /does not contain the model “Papyrus”/],
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

  const page = await fetch(`/drivers/${classDrivers}`);
  const deleted = await fetch(`/drivers/${classDrivers}`, { method: "DELETE" });
  const refused = [
    deleted,
    await post(`/drivers/${ipp}/delete`, {}, navigation),
    await post(`/drivers/${textOnly}`, { name: "Mine" }),
    await fetch(`/drivers/${ipp}/archive`),
    await fetch(`/drivers/${ipp}/files`),
  ];

  const statuses = [page, ...refused].map(({ status }) => status);
  assert.deepEqual(statuses, [200, 409, 409, 409, 422, 422]);
  assert.match(await deleted.text(), /“Microsoft PCL6 and PS Class Drivers” comes with Windows/);
  assert.deepEqual(app.store.drivers.windowsDrivers().map(({ name }) => name)[2], "Generic / Text Only");
});

test("a bulk change to or from the IPP class driver, also to no driver, is refused for printers with another protocol", async (t) => {
  const { post, addPrinter, app } = await startApp(t);
  await addPrinter({ name: "Raw" });
  await addPrinter({ name: "Driverless", driver_id: ipp });

  const change = (driver_id: string) => post("/printers/bulk", { ids: "1,2", action: "driver", driver_id });
  const onlyIpp = /“Microsoft IPP Class Driver” supports only IPP[^<]*“Raw”/;
  const refusals: [Response, RegExp][] = [
    [await change(ipp), onlyIpp],
    [await change("1"), /does not support IPP[^<]*“Driverless”/],
    [await change(""), /IPP requires the Microsoft IPP Class Driver[^<]*“Driverless”/],
    [await post("/drivers/1/move", { to: ipp, preview: "x" }), onlyIpp],
  ];

  for (const [answer, message] of refusals) {
    assert.equal(answer.status, 422);
    assert.match(await answer.text(), message);
  }
  const drivers = app.store.printers.list().map(({ printer, driver }) => `${printer.name} ${driver?.id}`);
  assert.deepEqual(drivers, ["Driverless 1000001", "Raw 1"]);
  const done = await post("/printers/bulk", { ids: "1", action: "driver", driver_id: "", confirmed: "1" });
  assert.deepEqual([done.status, app.store.printers.get(1).printer.driver_id], [200, null]);
});

test("an import creates driverless printers, and importing their export changes nothing", async (t) => {
  const { post, fetch, app } = await startApp(t);
  const head = "name,address,driver,protocol,ipp_path,ipp_tls";
  const rows = ["A,10.0.0.1,Microsoft IPP Class Driver,,,", "B,10.0.0.2,,ipp,/ipp/port1,yes"];

  await post("/import", { text: [head, ...rows].join("\n") });
  const exported = await (await fetch("/export/printers.csv")).text();
  const again = await (await post("/import/preview", { text: exported })).text();

  const made = [1, 2].map((id) => {
    const { name, driver_id, protocol, ipp_path, ipp_tls } = app.store.printers.get(id).printer;
    return [name, driver_id, protocol, ipp_path, ipp_tls].join(" ");
  });
  assert.deepEqual(made, ["A 1000001 ipp /ipp/print false", "B 1000001 ipp /ipp/port1 true"]);
  assert.match(again, /2 (?:printers )?unchanged|nothing/i);
});

test("a printer’s page links the help on its unusual settings, and each link leads to an existing section", async (t) => {
  const { addPrinter, fetch } = await startApp(t);
  const settings: [fields: Record<string, string>, ...titles: string[]][] = [
    [{}],
    [{ name: "A", driver_id: ipp }, "IPP queues"],
    [{ name: "B", driver_id: "1", print_ticket: makeTicket() }, "PrintTickets"],
    [{ name: "C", driver_id: "1", arm64_driver_id: textOnly }, "ARM64 PCs"],
    [{ name: "D", driver_id: "1", reset_user_preferences: "on" }, "User preferences"],
    [{ name: "E", driver_id: "1", replaces: "\\\\server\\queue" }, "Replacing queues"],
  ];

  for (const [fields, ...titles] of settings) {
    const page = await (await fetch(`/printers/${await addPrinter(fields)}`)).text();
    const shown = page.slice(page.indexOf("<h2>Settings"), page.indexOf("<h2>Driver"));
    const [line = ""] = /<p class="hint">Help: .*?<\/p>/s.exec(shown) ?? [];
    const links = [...line.matchAll(/<a href="([^"#]*)#?([^"]*)"[^>]*>([^<]+)<\/a>/g)];
    const linked = links.map(([, , , title]) => title);
    assert.deepEqual(linked, titles);
    for (const [, path = "", anchor] of links) {
      const help = await fetch(path);
      assert.equal(help.status, 200, path);
      assert.ok(!anchor || (await help.text()).includes(`id="${anchor}"`), anchor);
    }
  }
});

test("the Intune section says where the drivers are, and which Windows versions add IPP queues", async (t) => {
  const { addPrinter, fetch, post } = await startApp(t);
  await post("/clients", { name: "Alpha" });
  const text = async (path: string) => (await fetch(path)).text();
  const dependencies = async () => /nothing: [^<]*/.exec(await text("/clients/1"))?.[0];

  await addPrinter({ name: "Driverless", client_id: "1", driver_id: ipp });
  const driver_desc = "Microsoft PS Class Driver";
  await addPrinter({ name: "Old", client_id: "1", driver_id: classDrivers, driver_desc });
  const ofWindows = await dependencies();
  await addPrinter({ client_id: "1" });
  const mixed = await dependencies();
  const [driverless, old] = [await text("/printers/1"), await text("/printers/2")];

  for (const page of [driverless, old]) assert.match(page, /nothing: the driver comes with Windows/);
  assert.match(driverless, /Windows 11 21H2/);
  assert.match(driverless, /x64, ARM64/);
  assert.match(old, /Windows 10 1607/);
  assert.doesNotMatch(old, /Windows 11 21H2/);
  assert.equal(ofWindows, "nothing: the drivers come with Windows");
  assert.equal(mixed, "nothing: the drivers are in the package or come with Windows");
});
