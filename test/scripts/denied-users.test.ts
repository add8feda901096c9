import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  deployable,
  type Machine,
  type RunResult,
  withoutPowerShell,
} from "../support/powershell/powershell.ts";
import {
  defaultPrinterKey,
  getQueue,
  markerPath,
  papyrusDriver,
  queue,
  tcpPort,
} from "../support/powershell/simulated-machine.ts";
import { simulatedWindows } from "../support/powershell/simulated-windows.ts";

const users = ["S-1-5-21-9-8-7-1001", "S-1-5-21-9-8-7-1002", "S-1-5-21-9-8-7-1003"] as const;
const [first, second, third] = users;
const hive = (sid: string, path = "") => `HKEY_USERS\\${sid}${path}`;
const modes = (sid: string) => hive(sid, "\\Printers\\DevModePerUser");
const done = (sid: string) => hive(sid, "\\Software\\Platen\\7");

/** Three logged-on users, each with a default printer and their own preferences. */
const machine: Machine = {
  Users: [...users],
  Queues: [queue("Office", "IP_10.0.0.9"), queue("Old", "OLD_1")],
  Ports: [{ Name: "LPT1:" }, tcpPort("IP_10.0.0.9"), tcpPort("OLD_1", "10.0.0.1")],
  Drivers: [papyrusDriver()],
  Registry: Object.fromEntries(
    users.flatMap((sid) => [
      [defaultPrinterKey(sid), { Device: "Old,winspool,Ne01:" }],
      [modes(sid), { Office: "own" }],
    ]),
  ),
};

/** The remarks after the result on the last line. */
const remarks = ({ output }: RunResult) => output.at(-1)?.split("; ").slice(1) ?? [];

describe("users whose registry SYSTEM cannot write, on a simulated Windows", {
  skip: withoutPowerShell,
}, () => {
  const windows = simulatedWindows();

  test("the other users get the default printer, and a mode that is not a number is dropped", async () => {
    const office = deployable({ set_default: "on" });
    const values = { Device: "Old,winspool,Ne01:", LegacyDefaultPrinterMode: "x" };
    const Registry = { ...machine.Registry, [defaultPrinterKey(second)]: values };

    const result = await windows.install({ ...machine, Registry, DeniedKeys: [hive(first)] }, office);
    await windows.changeMachine({ DeniedKeys: [hive(third)] });
    const removed = await windows.run("uninstall", office);

    const defaults = (run: RunResult) => users.map((sid) => run.machine.Registry[defaultPrinterKey(sid)]);
    const ours = { Device: "Office,winspool,Ne00:", LegacyDefaultPrinterMode: 1 };
    const theirs = { Device: "Old,winspool,Ne01:" };
    assert.deepEqual(defaults(result), [theirs, ours, ours]);
    assert.match(remarks(result).join("\n"), /^the default printer of S-1-5-21-9-8-7-1001 stays: .+$/);
    assert.equal(result.machine.Registry[`${markerPath}\\Users\\${second}`]?.LegacyDefaultPrinterMode, "x");
    assert.equal(removed.code, 0, removed.output.join());
    assert.deepEqual(defaults(removed), [theirs, theirs, ours]);
    assert.match(remarks(removed)[0] ?? "", /^the record of S-1-5-21-9-8-7-1003 stays: .+$/);
    assert.match(remarks(removed)[1] ?? "", /^the default printer of S-1-5-21-9-8-7-1003 stays: .+$/);
    assert.deepEqual(
      removed.machine.Queues.map(({ Name }) => Name),
      ["Old"],
    );
    assert.equal(removed.machine.Registry[markerPath], undefined);
  });

  test("the other users' preferences are deleted now, and the remaining ones at log-on", async () => {
    const office = deployable({ reset_user_preferences: "on" });

    const result = await windows.install({ ...machine, DeniedKeys: [hive(first)] }, office);
    const repeated = await windows.run("install", office);

    const { Registry } = result.machine;
    assert.match(remarks(result).join("\n"), /^the own setting of S-1-5-21-9-8-7-1001 stays: .+$/);
    assert.deepEqual(
      users.map((sid) => Registry[modes(sid)]?.Office),
      ["own", undefined, undefined],
    );
    const { LogonReset, LogonSince } = Registry[markerPath] ?? {};
    assert.deepEqual(
      users.map((sid) => Registry[done(sid)]?.Reset),
      [undefined, `${LogonSince} ${LogonReset}`, `${LogonSince} ${LogonReset}`],
    );
    assert.deepEqual(repeated.output, ["Installed: Office: nothing to change"]);
  });

  test("a user whose completion cannot be recorded stops no one else, and is reset again at log-on", async () => {
    const office = deployable({ reset_user_preferences: "on" });
    const DeniedKeys = [hive(first, "\\Software\\Platen")];

    const result = await windows.install({ ...machine, DeniedKeys }, office);

    const { Registry } = result.machine;
    assert.deepEqual(remarks(result), []);
    assert.deepEqual(
      users.map((sid) => [Registry[modes(sid)]?.Office, Registry[done(sid)] !== undefined]),
      [
        [undefined, false],
        [undefined, true],
        [undefined, true],
      ],
    );
  });

  test("uninstall removes everything except their record of log-on", async () => {
    const office = deployable({ reset_user_preferences: "on" });
    const installed = await windows.install(machine, office);
    await windows.changeMachine({ DeniedKeys: [hive(first)] });

    const removed = await windows.run("uninstall", office);

    assert.ok(getQueue(installed));
    assert.equal(removed.code, 0, removed.output.join());
    assert.match(remarks(removed).join("\n"), /^the record of S-1-5-21-9-8-7-1001 stays: .+$/);
    assert.deepEqual(
      Object.keys(removed.machine.Registry).filter((key) => /Platen/.test(key)),
      [done(first)],
    );
  });
});
