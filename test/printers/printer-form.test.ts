import assert from "node:assert/strict";
import { test } from "node:test";
import type { Printer, PrinterSettings } from "../../src/domain/printers/printer.ts";
import {
  parsePrinter,
  printerDefaults,
  printerFormValues,
  printerSettingsFrom,
} from "../../src/domain/printers/printer-fields.ts";
import {
  type Choices,
  collateModes,
  colorModes,
  duplexModes,
  paperSizes,
  protocols,
} from "../../src/domain/printers/setting-values.ts";
import { settingsSection } from "../../src/html/printers/printer.ts";
import { printerForm } from "../../src/html/printers/printer-form.ts";
import { makeTicket } from "../support/printers/tickets.ts";
import { makePrinter, settingDefaults } from "../support/records.ts";

const fieldsWithChoices: Record<string, Choices> = {
  protocol: protocols,
  duplex: duplexModes,
  color: colorModes,
  collate: collateModes,
  paper_size: paperSizes,
};

/** A value other than the default for each field of the form. */
const everything = {
  ...{ name: "Office “1”", client_id: "3", driver_id: "1", driver_desc: "Papyrus 100 PS" },
  ...{ address: "10.0.0.9", port_name: "Port of ours", protocol: "lpr", port_number: "9101" },
  ...{ ipp_path: "/ipp/port1", ipp_tls: "on", lpr_queue: "lp", snmp: "on", snmp_community: "site" },
  ...{ snmp_index: "2", location: "Hall", comment: "By the door", set_default: "on", shared: "on" },
  ...{ share_name: "OFFICE", duplex: "long_edge", color: "mono", collate: "off", paper_size: "A4" },
  ...{ print_ticket: makeTicket(), reset_user_preferences: "on", arm64_driver_id: "2" },
  ...{ arm64_driver_desc: "Papyrus 100 ARM", subnets: "10.1.2.0/24\n2001:db8::/32" },
  ...{ requires_reachable: "on", permission_sddl: "G:SYD:(A;;SWRC;;;WD)", keep_printed: "on" },
  ...{ hold_mismatched: "on", replaces: "Old\n\\\\server\\Older\naddress:10.0.0.5", keep_driver: "on" },
} satisfies Record<keyof PrinterSettings, string>;

const formOf = (values: Record<string, string | undefined>, problems: Record<string, string> = {}) =>
  printerForm({ clients: [], drivers: [] }, { values, problems }).toString();

const pageOf = (printer: Printer) =>
  settingsSection({ printer, client: undefined, revision: undefined }).toString();

test("each choice is read from a form and from saved settings, has the same words in the form and on the page, and the first is the default", () => {
  for (const [name, choices] of Object.entries(fieldsWithChoices)) {
    for (const [value, label] of choices) {
      const parsed = { ...makePrinter({ [name]: value, lpr_queue: "lp" }) };
      const kept = { ...printerSettingsFrom(JSON.stringify({ [name]: value })) };

      assert.deepEqual([parsed[name as "duplex"], kept[name as "duplex"]], [value, value]);
      const option = `<option value="${value}" selected>${label}</option>`;
      assert.ok(formOf({ [name]: value }).includes(option), option);
      assert.ok(pageOf(parsed).includes(label), `${name}: ${label}`);
    }
    assert.equal({ ...printerDefaults }[name as "duplex"], choices[0][0]);
  }
});

test("an empty form, an old row and a new form have the same defaults", () => {
  const { name, client_id, driver_id, ...parsed } = parsePrinter({ name: "Office" });
  const sentBack = parsePrinter({ ...printerFormValues(), name: "Office" });

  assert.deepEqual([name, client_id, driver_id], ["Office", null, null]);
  assert.deepEqual({ ...printerDefaults }, settingDefaults);
  assert.deepEqual(parsed, { ...printerDefaults });
  assert.deepEqual(sentBack, { name, client_id, driver_id, ...parsed });
  for (const value of ["9100", "public"])
    assert.match(formOf(printerFormValues()), new RegExp(`value="${value}"`));
});

test("a printer is unchanged after it was sent back by its form or read from saved settings", () => {
  const printer = parsePrinter(everything);
  const { name, client_id, driver_id, arm64_driver_id, print_ticket, ...kept } = printer;

  const sentBack = parsePrinter(printerFormValues(printer));
  const readBack = printerSettingsFrom(JSON.stringify(kept));

  assert.deepEqual(sentBack, printer);
  const columns = { name, client_id, driver_id, arm64_driver_id, print_ticket };
  assert.deepEqual({ ...readBack, ...columns }, printer);
  const unchanged = Object.entries(printer).filter(([field, value]) => value === settingDefaults[field]);
  assert.deepEqual(unchanged, [], "every field was changed");
});

test("every field of a printer is in its form, and fields are read in its order, so problems have that order too", () => {
  const form = formOf({});
  // `from_form` only marks Platen's own form, and `file` belongs to the upload form.
  const names = [...form.matchAll(/ name="(?!(?:from_form|file)")(\w+)"/g)].map(([, name]) => name);

  assert.deepEqual(Object.keys(parsePrinter(everything)), names);
  const link = '<a href="/help/printers#remove-what-the-printer-replaces" target="_blank" rel="noopener">';
  assert.ok(form.includes(`${link}What is removed</a>`), "a link to the help opens a tab of its own");
  assert.match(
    form,
    /<code id="ticket-command">Get-Printer \| Out-GridView [^<]*XML \} \| Set-Clipboard<\/code>/,
  );
  assert.match(form, /<div class="field" data-file-text="f-print_ticket" hidden>/);
  assert.doesNotMatch(form, /<input id="f-print_ticket-file"[^>]* name=/, "without scripts it is pasted");
});

test("a checkbox is read from many words, and a form shows it as it was read", () => {
  const words = { off: ["", "0", "no", "No", "false", "off", " OFF "], on: ["on", "1", "yes", "true", "x"] };

  for (const snmp of [...words.off, ...words.on]) {
    const isTicked = /name="snmp" type="checkbox" value="on" checked/.test(formOf({ snmp }));
    const isRead = parsePrinter({ name: "Office", snmp }).snmp;
    assert.deepEqual([isTicked, isRead], Array(2).fill(words.on.includes(snmp)), snmp);
  }
});

/** Whether every `<details>` around a field of a form is open. */
function isVisible(form: string, name: string): boolean {
  const open: boolean[] = [];
  for (const [tag] of form.matchAll(/<details[^>]*>|<\/details>| name="[a-z0-9_]+"/g)) {
    if (tag.startsWith("<details")) open.push(/\sopen\b/.test(tag));
    else if (tag === "</details>") open.pop();
    else if (tag === ` name="${name}"`) return open.every(Boolean);
  }
  return false;
}

test("a fold shows the number of set fields, and opens where a field was refused, whatever fold that is in", () => {
  const folds = /data-fold ([^>]*)>\s*<summary>([^<]*)<span class="soft count">([^<]*)/g;
  const foldsOf = (...given: Parameters<typeof formOf>) =>
    [...formOf(...given).matchAll(folds)].map(([, open = "", title = "", count = ""]) =>
      [title.trim(), count, open.trim()].join("|"),
    );

  const hidden = Object.keys(everything).filter((name) => !isVisible(formOf({}, { [name]: "Wrong." }), name));

  assert.deepEqual(hidden, []);
  assert.equal(isVisible(formOf({}), "subnets"), false);
  assert.deepEqual(foldsOf(printerFormValues()), foldsOf({}));
  assert.deepEqual(foldsOf(printerFormValues(parsePrinter(everything)), { comment: "too long" }), [
    "Port and status|8 set|",
    "Location, sharing, default printer|8 set|open",
    "Preferences|6 set|",
    "ARM64 PCs|2 set|",
    "Subnets|2 set|",
    "Old queues and uninstall|2 set|",
  ]);
});

test("the printer's page shows every setting: another value changes the page", () => {
  const printers = ["lpr", "raw", "ipp"].map((protocol) => makePrinter({ ...everything, protocol }));
  const other = printerSettingsFrom("{}");

  const unseen = Object.entries({ ...other, port_number: 1 }).filter(([name, value]) =>
    printers.every((printer) => pageOf({ ...printer, [name]: value }) === pageOf(printer)),
  );

  const names = unseen.map(([name]) => name);
  assert.deepEqual(names, ["driver_desc", "arm64_driver_desc"], "which are shown with the drivers");
});
