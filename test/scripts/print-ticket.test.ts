import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { ticketCommand } from "../../src/domain/printers/print-ticket.ts";
import { deploymentOf } from "../../src/pkg/scripts/deployment.ts";
import { powershell } from "../../src/pkg/scripts/powershell.ts";
import { renderScript, type ScriptKind } from "../../src/pkg/scripts/render.ts";
import { deployable, type RunResult, withoutPowerShell } from "../support/powershell/powershell.ts";
import {
  getQueue,
  markerPath,
  papyrusDriver,
  queue,
  tcpPort,
} from "../support/powershell/simulated-machine.ts";
import { simulatedWindows } from "../support/powershell/simulated-windows.ts";
import { makeTicket, ticketAround } from "../support/printers/tickets.ts";

const stapled = makeTicket({ "ns0000:JobStaple": "ns0000:TopLeft", "psk:PageInputBin": "psk:Cassette" });

/** The options that the driver kept from the last ticket, by feature, without namespaces. */
function keptOptions(result: RunResult): Record<string, string> {
  const { Features = {} } = (getQueue(result).Ticket ?? {}) as { Features?: Record<string, string> };
  const local = (name: string) => name.split(" ").at(-1) ?? "";
  return Object.fromEntries(Object.entries(Features).map(([name, option]) => [local(name), local(option)]));
}

const changing = (calls: readonly string[]) =>
  calls.filter((call) => /Add-|Set-|Remove-|registry/.test(call));

describe("PrintTickets on a simulated Windows", { skip: withoutPowerShell }, () => {
  const windows = simulatedWindows();

  test("a ticket is set, read back and recorded, and a second run changes nothing", async () => {
    const office = deployable({ print_ticket: stapled });

    const result = await windows.install({}, office);
    const second = await windows.run("install", office);

    assert.deepEqual(keptOptions(result), { JobStaple: "TopLeft", PageInputBin: "Cassette" });
    assert.equal(result.output.at(-1), "Installed: Office: installed");
    assert.match(String(result.machine.Registry[markerPath]?.Ticket), /^[0-9A-F]{64}$/);
    assert.deepEqual(second.output, ["Installed: Office: nothing to change"]);
    assert.deepEqual(changing(second.calls), []);
  });

  test("the four settings are set after the ticket, and a second run changes neither", async () => {
    const ticket = makeTicket({
      "psk:JobDuplexAllDocumentsContiguously": "psk:TwoSidedLongEdge",
      "psk:PageOutputColor": "psk:Monochrome",
    });
    const office = deployable({ print_ticket: ticket, duplex: "short_edge", paper_size: "A4" });

    const result = await windows.install({}, office);
    const second = await windows.run("install", office);

    const { Configuration } = getQueue(result) as { Configuration: Record<string, unknown> };
    assert.deepEqual(
      [Configuration.DuplexingMode, Configuration.Color, Configuration.PaperSize],
      ["TwoSidedShortEdge", false, "A4"],
    );
    assert.deepEqual(second.output, ["Installed: Office: nothing to change"]);
    assert.deepEqual(changing(second.calls), []);
  });

  test("a revision with another ticket sets it, and one without a ticket leaves the queue as it is", async () => {
    await windows.install({}, deployable({ print_ticket: stapled }));

    const other = makeTicket({ "ns0000:JobStaple": "ns0000:None" });
    const changed = await windows.run("install", deployable({ print_ticket: other }));
    const without = await windows.run("install", deployable({ comment: "no ticket" }));
    const back = await windows.run("install", deployable({ print_ticket: stapled }));

    assert.deepEqual(keptOptions(changed), { JobStaple: "None" });
    assert.deepEqual(keptOptions(without), { JobStaple: "None" });
    assert.deepEqual(keptOptions(back), { JobStaple: "TopLeft", PageInputBin: "Cassette" });
  });

  test("the next run reverts features that were changed by hand", async () => {
    const office = deployable({ print_ticket: stapled });
    const installed = await windows.install({}, office);
    const byHand = {
      ...getQueue(installed),
      Ticket: { Features: { "urn:x JobStaple": "urn:x None" }, Parameters: {} },
    };
    await windows.changeMachine({ Queues: [byHand] });

    const repaired = await windows.run("install", office);
    const second = await windows.run("install", office);

    assert.deepEqual(keptOptions(repaired), { JobStaple: "TopLeft", PageInputBin: "Cassette" });
    assert.deepEqual(second.output, ["Installed: Office: nothing to change"]);
  });

  test("each run retries a ticket that the driver refuses, and adds a remark", async () => {
    const office = deployable({ print_ticket: stapled, duplex: "long_edge" });

    const result = await windows.install({ Refuses: ["PrintTicketXml"] }, office);
    const second = await windows.run("install", office);
    await windows.changeMachine({ Refuses: [] });
    const third = await windows.run("install", office);

    const remark = "the driver refuses the PrintTicket (0x80070032)";
    assert.equal(result.output.at(-1), `Installed: Office: installed; ${remark}`);
    assert.equal(
      (getQueue(result).Configuration as { DuplexingMode: string }).DuplexingMode,
      "TwoSidedLongEdge",
    );
    assert.equal(second.output.at(-1), `Installed: Office: nothing to change; ${remark}`);
    assert.deepEqual(keptOptions(third), { JobStaple: "TopLeft", PageInputBin: "Cassette" });
  });

  for (const [what, quirk, names] of [
    ["ignores the ticket", { Ignores: ["PrintTicketXml"] }, "JobStaple, PageInputBin"],
    ["leaves a part of it out", { TicketDrops: ["JobStaple"] }, "JobStaple"],
  ] as const) {
    test(`when a driver ${what}, a remark names the features, and the ticket is not set again`, async () => {
      const office = deployable({ print_ticket: stapled });

      const result = await windows.install({ ...quirk }, office);
      const second = await windows.run("install", office);

      const remark = `the driver leaves out of the PrintTicket: ${names}`;
      assert.equal(result.output.at(-1), `Installed: Office: installed; ${remark}`);
      assert.deepEqual(second.output, [`Installed: Office: nothing to change; ${remark}`]);
      assert.deepEqual(changing(second.calls), []);
    });
  }

  test("a remark names at most five features that the driver left out", async () => {
    const names = Array.from({ length: 7 }, (_, i) => `Feature${i}`);
    const ticket = makeTicket(Object.fromEntries(names.map((name) => [`ns0000:${name}`, "ns0000:On"])));

    const result = await windows.install({ TicketDrops: names }, deployable({ print_ticket: ticket }));

    assert.match(
      result.output.at(-1) ?? "",
      /PrintTicket: Feature0, Feature1, Feature2, Feature3, Feature4, others$/,
    );
  });

  test("when the driver returns no ticket, a remark reports it", async () => {
    const office = deployable({ print_ticket: stapled });

    const result = await windows.install({ TicketUnreadable: true }, office);
    const second = await windows.run("install", office);

    assert.match(result.output.at(-1) ?? "", /installed; the driver gives no PrintTicket back$/);
    assert.equal(
      second.output.at(-1),
      "Installed: Office: nothing to change; the driver gives no PrintTicket back",
    );
  });

  test("when the ticket cannot be read back, a remark reports it and the next run sets it again", async () => {
    const office = deployable({ print_ticket: stapled });
    await windows.setMachine();
    const { calls } = await windows.run("install", office);
    const failAt = calls.indexOf("Set-PrintConfiguration") + 2;
    await windows.setMachine();

    const result = await windows.run("install", office, { failAt });
    const second = await windows.run("install", office);
    const third = await windows.run("install", office);

    assert.match(result.output.at(-1) ?? "", /installed; the PrintTicket cannot be read back$/);
    assert.equal(second.output.at(-1), "Installed: Office: installed");
    assert.equal(third.output.at(-1), "Installed: Office: nothing to change");
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

  test("a ticket that the form's command copies installs on another machine", async () => {
    const grid = "function Out-GridView { param($Title, $OutputMode) end { @($input)[0] } }\n";
    await windows.install({}, deployable({ print_ticket: stapled }));
    const { machine, errors } = await windows.paste(grid + ticketCommand);

    const result = await windows.install({}, deployable({ print_ticket: machine.Clipboard }));

    assert.deepEqual(errors, []);
    assert.match(machine.Clipboard, /^<\?xml version="1\.0" encoding="UTF-8"\?>\r\n<f:PrintTicket/);
    assert.equal(result.output.at(-1), "Installed: Office: installed");
    assert.deepEqual(keptOptions(result), { JobStaple: "TopLeft", Own: "Default", PageInputBin: "Cassette" });
  });

  test("-WhatIf prints that it would set the ticket, for a new and for an existing queue", async () => {
    const office = deployable({ print_ticket: stapled });
    for (const machine of [
      {},
      {
        Queues: [queue("Office", "IP_10.0.0.9")],
        Ports: [tcpPort("IP_10.0.0.9")],
        Drivers: [papyrusDriver()],
      },
    ]) {
      await windows.setMachine(machine);

      const result = await windows.run("install", office, { parameters: { WhatIf: true } });

      assert.ok(result.output.includes("What if: give Office its PrintTicket"), result.output.join("\n"));
      assert.deepEqual(changing(result.calls), []);
    }
  });

  test("a ticket of 256 KB is set, and a second run changes nothing", async () => {
    const features = Object.fromEntries(
      Array.from({ length: 2300 }, (_, i) => [`ns0000:JobFeatureNumber${i}`, "ns0000:AnOptionWithALongName"]),
    );
    const compact = makeTicket(features).replace(/\s+/g, " ").replaceAll("> <", "><");
    const office = deployable({ print_ticket: compact });
    assert.ok(office.printer.print_ticket.length > 240_000, String(office.printer.print_ticket.length));

    const result = await windows.install({}, office);
    const second = await windows.run("install", office);

    assert.equal(Object.keys(keptOptions(result)).length, 2300);
    assert.deepEqual(second.output, ["Installed: Office: nothing to change"]);
  });

  test("only install contains the ticket, in one literal", () => {
    const office = deployable({ print_ticket: stapled });
    const text = (kind: ScriptKind) => renderScript(kind, deploymentOf(office)).toString();

    assert.ok(text("install").includes(`${powershell`PrintTicket = ${office.printer.print_ticket}`}\r\n`));
    for (const kind of ["uninstall", "detect"] as const) assert.doesNotMatch(text(kind), /PrintTicket/);
  });
});
