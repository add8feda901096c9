import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { printServerCommand } from "../../src/pkg/scripts/commands.ts";
import { startApp } from "../support/app.ts";
import { driverZip } from "../support/drivers/driver-zip.ts";
import { type Machine, withoutPowerShell } from "../support/powershell/powershell.ts";
import { papyrusDriver, queue, tcpPort } from "../support/powershell/simulated-machine.ts";
import { simulatedWindows } from "../support/powershell/simulated-windows.ts";
import { planOf, settingsOf } from "../support/printers/lists.ts";

const print = "HKEY_LOCAL_MACHINE\\SYSTEM\\CurrentControlSet\\Control\\Print\\Monitors\\WSD Port\\Ports";
const devices = "HKEY_LOCAL_MACHINE\\SYSTEM\\CurrentControlSet\\Enum\\SWD\\DAFWSDProvider";
const uuid = "cfe92100-67c4-11d4-a45f-9caed3b038b3";

/** A print server of a small office with queues of every kind. */
const server: Machine = {
  Queues: [
    { ...queue("Büro “1”", "IP_10.0.0.9"), Location: "2. Stock", Comment: "beim\r\nFenster", Shared: true },
    queue("Lager", "10.0.0.12_1", "Papyrus 200 PS"),
    queue("Empfang", "WSD-known"),
    queue("Verloren", "WSD-unknown"),
    queue("Druck nach PDF", "PORTPROMPT:", "Microsoft Print To PDF"),
    queue("Fax", "SHRFAX:", "Microsoft Shared Fax Driver"),
    queue("Etiketten", "USB001"),
    { ...queue("\\\\other\\Gang", "IP_10.0.0.9"), Type: "Connection" },
  ],
  Ports: [
    { ...tcpPort("IP_10.0.0.9"), SNMPEnabled: true, SNMPCommunity: "haus", SNMPIndex: 1 },
    { ...tcpPort("10.0.0.12_1", "printer-12.haus.local"), Protocol: 2, PortNumber: 515, LprQueueName: "lp" },
    { Name: "WSD-known", WSD: true },
    { Name: "WSD-unknown", WSD: true },
    { Name: "USB001" },
    { Name: "PORTPROMPT:" },
    { Name: "SHRFAX:" },
  ],
  Drivers: [
    papyrusDriver(),
    { ...papyrusDriver(), Name: "Papyrus 200 PS", Manufacturer: "Papyrus" } as never,
  ],
  Registry: {
    [`${print}\\WSD-known`]: { "Printer UUID": uuid },
    [`${print}\\WSD-unknown`]: { "Printer UUID": "0000aaaa-0000-0000-0000-000000000000" },
    [`${devices}\\urn:uuid:${uuid}`]: { LocationInformation: "http://10.0.0.157:3911/" },
  },
};

describe("the command for print servers", { skip: withoutPowerShell }, () => {
  const simulation = simulatedWindows();

  test("copies every printer with its address, or with the reason why it has none, for an import", async (t) => {
    const { app, post, addDriver } = await startApp(t);
    const driver = await addDriver(driverZip({ models: ["Papyrus 100 PCL6", "Papyrus 100 PS"] }));
    await simulation.setMachine(server);

    const result = await simulation.paste(printServerCommand);
    const text = result.machine.Clipboard;

    const plan = await planOf({ app }, text, { client: "Haus & Hof" });
    assert.deepEqual(result.errors, []);
    assert.deepEqual(
      plan.rows.map(({ name, status, address, reasons }) => [
        name,
        status,
        address,
        reasons[0]?.slice(0, 18),
      ]),
      [
        ["Büro “1”", "new", "10.0.0.9", undefined],
        ["Lager", "new", "printer-12.haus.local", undefined],
        ["Empfang", "new", "10.0.0.157", undefined],
        ["Verloren", "wrong", "", "Prints to a WSD po"],
        ["Druck nach PDF", "left out", "PORTPROMPT:", "Prints to PDF file"],
        ["Fax", "left out", "SHRFAX:", "Is a fax, not a pr"],
        ["Etiketten", "left out", "USB001", "Is connected by US"],
        ["\\\\other\\Gang", "left out", "IP_10.0.0.9", "Is a connection to"],
      ],
    );
    const [office, store] = plan.rows.map(settingsOf);
    assert.equal(plan.rows[0]?.driver?.id, driver);
    assert.deepEqual([office?.comment, office?.snmp_community], ["beim Fenster", "haus"]);
    assert.equal(office?.shared, false, "a queue that a server shares is not shared by each PC");
    assert.deepEqual([store?.protocol, store?.lpr_queue], ["lpr", "lp"]);
    assert.deepEqual(plan.missing, [{ name: "Papyrus 200 PS", maker: "Papyrus", printers: 1 }]);
    assert.deepEqual(plan.newClients, ["Haus & Hof"]);

    // With its drivers, the list changes nothing when it is imported a second time.
    await addDriver(driverZip({ models: ["Papyrus 200 PS"] }));
    const list = { text, client: "Haus", all: "on", leave_wrong: "on" };
    assert.equal((await post("/import", list)).status, 200);
    const second = await planOf({ app }, text, { client: "haus", takesAll: true });
    assert.deepEqual(second.counts, { new: 0, changes: 0, same: 6, wrong: 2, "left out": 0 });
  });

  test("reads another computer only through print cmdlets, and not this one’s registry", async (t) => {
    const { app } = await startApp(t);
    await simulation.setMachine(server);

    const there = printServerCommand.replace("$computer = ''", "$computer = 'SRV1'");
    const result = await simulation.paste(there);

    const plan = await planOf({ app }, result.machine.Clipboard);
    assert.deepEqual(result.errors, []);
    assert.deepEqual(plan.counts, { new: 2, changes: 0, same: 0, wrong: 2, "left out": 4 });
  });

  test("copies nothing when the spooler does not answer", async () => {
    const Spooler = { Status: "Stopped", StartType: "Automatic" };
    await simulation.setMachine({ ...server, Spooler, Clipboard: "before" });

    const result = await simulation.paste(printServerCommand);

    assert.match(result.errors.join(), /Spoolerdienst/);
    assert.equal(result.machine.Clipboard, "before");
  });
});
