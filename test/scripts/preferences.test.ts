import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { describe, test } from "node:test";
import { ticketCommand } from "../../src/domain/printers/print-ticket.ts";
import { deploymentOf } from "../../src/pkg/scripts/deployment.ts";
import { powershell } from "../../src/pkg/scripts/powershell.ts";
import { renderScript, type ScriptKind } from "../../src/pkg/scripts/render.ts";
import { rounds } from "../support/depth.ts";
import { deployable, type Machine, withoutPowerShell } from "../support/powershell/powershell.ts";
import {
  defaultPrinterKey,
  getQueue,
  markerPath,
  papyrusDriver,
  queue,
  readyMachine,
} from "../support/powershell/simulated-machine.ts";
import { simulatedWindows } from "../support/powershell/simulated-windows.ts";
import { storiesOf, tellStories } from "../support/powershell/transcripts.ts";
import { makeTicket, ticketAround } from "../support/printers/tickets.ts";

const stapled = makeTicket({ "ns0000:JobStaple": "ns0000:TopLeft", "psk:PageInputBin": "psk:Cassette" });
const unstapled = makeTicket({ "ns0000:JobStaple": "ns0000:None" });
const twoSided = makeTicket({
  "psk:JobDuplexAllDocumentsContiguously": "psk:TwoSidedLongEdge",
  "psk:PageOutputColor": "psk:Monochrome",
});
const withTicket = deployable({ print_ticket: stapled });
const sevenFeatures = Array.from({ length: 7 }, (_, i) => `Feature${i}`);

const sddl = "D:(A;;GA;;;BA)(A;;SWRC;;;WD)";
const withPermissions = deployable({ permission_sddl: sddl });
const withOptions = deployable({ keep_printed: "on", hold_mismatched: "on" });
const ready = readyMachine();

const theirDefault = { Device: "Theirs,winspool,Ne05:", LegacyDefaultPrinterMode: 0 };

/** Users whose default printer is another queue, and whose lists have the new one. */
function withDefaults(count: number): Machine {
  const users = Array.from({ length: count }, (_, i) => `S-1-5-21-9-8-7-100${i}`);
  const keys = users.flatMap((user): [string, Record<string, unknown>][] => [
    [defaultPrinterKey(user), theirDefault],
    [defaultPrinterKey(user).replace(/Windows$/, "Devices"), { Office: "winspool,Ne07:" }],
  ]);
  const Registry = { "HKEY_USERS\\S-1-5-18\\Software": { a: "b" }, ...Object.fromEntries(keys) };
  return { Users: users, Registry, Queues: [queue("Theirs", "LPT1:")], Drivers: [papyrusDriver()] };
}
const asDefault = deployable({ set_default: "on" });

const content = "[Office] tray 2, stapler";
const files = { "preferences.dat": content };
/** A printer with a file of vendor preferences. */
function withFile(fields: Record<string, string> = {}) {
  const { printer, ...rest } = deployable(fields);
  return {
    ...rest,
    printer: { ...printer, preferences_sha256: createHash("sha256").update(content).digest("hex") },
  };
}

const preferencesUrl = () => "http://platen.lan:8080/printers/7/preferences";
const fetched = { ...deploymentOf(withFile()), preferencesUrl };
const printUi: Record<string, Machine> = {
  "changes nothing": { PrintUi: "refuses" },
  "saves nothing": { PrintUi: "silent" },
  "does not end": { PrintUiHangs: true },
};

describe("preferences on a simulated Windows", { skip: withoutPowerShell }, () => {
  const windows = simulatedWindows();

  tellStories("preferences", {
    "preferences that the driver refuses or ignores become remarks, and the others are set": [
      { Refuses: ["DuplexingMode"], Ignores: ["Color"] },
      deployable({ duplex: "short_edge", color: "mono", collate: "off", paper_size: "A4" }),
      "install, detect",
    ],
    "monochrome is set without any other preference": [deployable({ color: "mono" }), "install"],
    "uncollated is set without any other preference": [deployable({ collate: "off" }), "install"],
    "uninstalling a renamed printer restores the default printer from before its first name": [
      withDefaults(1),
      ["install", deployable({ name: "Before", set_default: "on" })],
      deployable({ name: "After", set_default: "on" }),
      "install, uninstall",
    ],
    "the default printer is set for logged-on users and at later log-ons, and uninstall restores the old one":
      [withDefaults(3), asDefault, "install, detect, uninstall"],
    "the default printer is set at later log-ons if no user is logged on": [
      withDefaults(0),
      asDefault,
      "install, uninstall",
    ],
    "a ticket is set, read back and recorded, and a second run changes nothing": [
      withTicket,
      "install, detect, install",
    ],
    "the four settings are set after the ticket, and a second run changes neither": [
      deployable({ print_ticket: twoSided, duplex: "short_edge", paper_size: "A4" }),
      "install, detect, install",
    ],
    "a revision with another ticket sets it, and one without a ticket leaves the queue as it is": [
      ["install", withTicket],
      ["install", deployable({ print_ticket: unstapled })],
      ["install", deployable({ comment: "no ticket" })],
      ["install", withTicket],
    ],
    "the next run reverts features that were changed by hand": [
      withTicket,
      "install",
      (last) => ({
        Queues: [
          { ...getQueue(last), Ticket: { Features: { "urn:x JobStaple": "urn:x None" }, Parameters: {} } },
        ],
      }),
      "install, install",
    ],
    "each run retries a ticket that the driver refuses, and adds a remark": [
      { Refuses: ["PrintTicketXml"] },
      deployable({ print_ticket: stapled, duplex: "long_edge" }),
      "install, install",
      { Refuses: [] },
      "install",
    ],
    "when a driver ignores the ticket, a remark names the features, and the ticket is not set again": [
      { Ignores: ["PrintTicketXml"] },
      withTicket,
      "install, install",
    ],
    "when a driver leaves out a part of the ticket, a remark names it, and the ticket is not set again": [
      { TicketDrops: ["JobStaple"] },
      withTicket,
      "install, install",
    ],
    "a remark names at most five features that the driver left out": [
      { TicketDrops: sevenFeatures },
      deployable({
        print_ticket: makeTicket(
          Object.fromEntries(sevenFeatures.map((name) => [`ns0000:${name}`, "ns0000:On"])),
        ),
      }),
      "install",
    ],
    "when the driver returns no ticket, a remark reports it": [
      { TicketUnreadable: true },
      withTicket,
      "install, install",
    ],
    "-WhatIf prints that it would set the ticket of a new queue": [withTicket, "install -WhatIf"],
    "-WhatIf prints that it would set the ticket of an existing queue": [
      ready,
      withTicket,
      "install -WhatIf",
    ],
    "install sets the permissions once, although Windows spells them differently, and repairs them": [
      ready,
      withPermissions,
      "install, install",
      (last) => ({ Queues: last.machine.Queues.map((each) => ({ ...each, PermissionSDDL: "D:" })) }),
      "install",
    ],
    "install switches both options on, once": [ready, withOptions, "install, detect, install"],
    "install leaves alone an option that is not wanted": [
      ready,
      deployable({ keep_printed: "on" }),
      "install",
    ],
    "an option that Windows ignores is a remark": [
      { ...ready, Ignores: ["EnableDevQueryPrint"] },
      deployable({ hold_mismatched: "on", permission_sddl: sddl }),
      "install",
    ],
    "-WhatIf sets neither options nor permissions": [
      ready,
      deployable({ hold_mismatched: "on", permission_sddl: sddl }),
      "install -WhatIf",
    ],
    "a file of vendor preferences is restored once per revision, after the queue and before other preferences":
      [
        ready,
        ["install", withFile({ duplex: "long_edge" }), { files }],
        ["install", withFile({ duplex: "long_edge" })],
      ],
    "a queue that was deleted and added again gets its file of preferences again": [
      ready,
      ["install", withFile(), { files }],
      { Queues: [] },
      ["install", withFile(), { files }],
    ],
    ...storiesOf(
      printUi,
      (why) => `if printui ${why}, the printer is installed with a remark`,
      (quirk) => [{ ...ready, ...quirk }, ["install", withFile(), { files }]],
    ),
    "a missing or changed file of preferences fails, and nothing is restored": [
      ready,
      ["install", withFile()],
      ["install", withFile(), { files: { "preferences.dat": "other" } }],
    ],
    "a script fetched alone downloads the file of preferences, and checks its digest": [
      { ...ready, Download: Buffer.from(content) },
      ["install", fetched, { withoutFiles: true }],
    ],
    "when the ticket cannot be read back, a remark reports it and the next run sets it again": [
      ["install", withTicket, { failAt: "after Set-PrintConfiguration" }],
      ["install, install", withTicket],
    ],
    "the name of a queue with a quotation mark is never put into a command": [
      { ...ready, Queues: [] },
      ["install", withFile({ name: 'A" /a "evil' }), { files }],
    ],
  });

  test("ticket parameters reach the driver unchanged, whatever their text", async () => {
    const text = "it’s a ‘user’ code: 50% & <\"$(calc)'>\n`2` 印刷 😀";
    const escaped = text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
    const ticket = ticketAround(
      `<psf:ParameterInit name="ns0000:Code"><psf:Value>${escaped}</psf:Value></psf:ParameterInit>`,
    );

    const result = await windows.install({}, deployable({ print_ticket: ticket }));

    const { Parameters } = getQueue(result).Ticket as { Parameters: Record<string, string> };
    assert.deepEqual(Object.values(Parameters), [text]);
  });

  test("a ticket that the form's command copies installs on another machine, and its digest is recorded", async () => {
    const grid = "function Out-GridView { param($Title, $OutputMode) end { @($input)[0] } }\n";
    await windows.install({}, withTicket);
    const { machine, errors } = await windows.paste(grid + ticketCommand);

    const result = await windows.install({}, deployable({ print_ticket: machine.Clipboard }));

    const { Features } = getQueue(result).Ticket as { Features: Record<string, string> };
    const options = Object.values(Features).map((option) => option.split(" ").at(-1));
    assert.deepEqual(errors, []);
    assert.match(machine.Clipboard, /^<\?xml version="1\.0" encoding="UTF-8"\?>\r\n<f:PrintTicket/);
    assert.equal(result.output.at(-1), "Installed: Office: installed");
    assert.deepEqual(options.sort(), ["Cassette", "Default", "TopLeft"]);
    assert.match(String(result.machine.Registry[markerPath]?.Ticket), /^[0-9A-F]{64}$/);
  });

  const count = rounds(200, 2300);
  test(`a ticket with ${count} features is set, and a second run changes nothing`, async () => {
    const numbers = Array.from({ length: count }, (_, i) => `ns0000:JobFeatureNumber${i}`);
    const features = Object.fromEntries(numbers.map((name) => [name, "ns0000:AnOptionWithALongName"]));
    const compact = makeTicket(features).replace(/\s+/g, " ").replaceAll("> <", "><");
    const office = deployable({ print_ticket: compact });
    assert.ok(office.printer.print_ticket.length > 104 * count, "256 KB in the deep tier");

    const result = await windows.install({}, office);
    const second = await windows.run("install", office);

    const { Features } = getQueue(result).Ticket as { Features: object };
    assert.equal(Object.keys(Features).length, count);
    assert.deepEqual(second.output, ["Installed: Office: nothing to change"]);
  });

  test("only install contains the ticket, in one literal", () => {
    const text = (kind: ScriptKind) => renderScript(kind, deploymentOf(withTicket)).toString();

    assert.ok(
      text("install").includes(`${powershell`PrintTicket = ${withTicket.printer.print_ticket}`}\r\n`),
    );
    for (const kind of ["uninstall", "detect"] as const) assert.doesNotMatch(text(kind), /PrintTicket/);
  });
});
