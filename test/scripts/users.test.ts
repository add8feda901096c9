import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { device, windowsDeployable } from "../support/powershell/ipp-machine.ts";
import { deployable, type Machine, withoutPowerShell } from "../support/powershell/powershell.ts";
import {
  defaultPrinterKey,
  markerPath,
  queue,
  readyMachine,
  tcpPort,
} from "../support/powershell/simulated-machine.ts";
import { simulatedWindows } from "../support/powershell/simulated-windows.ts";
import { tellStories } from "../support/powershell/transcripts.ts";
import { usersMachine, usersPrinter } from "../support/powershell/users-machine.ts";

const users = ["S-1-5-21-9-8-7-1001", "S-1-12-1-5-6-7-8"] as const;
const three = ["S-1-5-21-9-8-7-1001", "S-1-5-21-9-8-7-1002", "S-1-5-21-9-8-7-1003"] as const;
const [first, second, third] = three;
const own = (sid: string, path = "") => `HKEY_USERS\\${sid}\\${path}`;

const { print_ticket, replaces } = usersPrinter.printer;
const driverless = windowsDeployable({
  set_default: "on",
  reset_user_preferences: "on",
  print_ticket,
  replaces: replaces.join("\n"),
});
const reset = deployable({ reset_user_preferences: "on" });
const asDefault = deployable({ set_default: "on" });

const others = { "Hall [1]": "own", "\\\\server\\Office": "own", Office2: "own" };
const preferences = Object.fromEntries(
  [...users, "S-1-5-18"].flatMap((sid) => [
    [own(sid, "Printers\\DevModePerUser"), { Office: "own", ...others }],
    [own(sid, "Printers\\DevModes2"), { OFFICE: "own", "\\\\PC1\\Office": "own", ...others }],
  ]),
);
const withPreferences = readyMachine({}, {}, { Users: [...users], Registry: preferences });

/** Three logged-on users, each with a default printer and their own preferences. */
const forThree: Machine = {
  ...readyMachine(),
  Users: [...three],
  Queues: [queue("Office", "IP_10.0.0.9"), queue("Old", "OLD_1")],
  Ports: [{ Name: "LPT1:" }, tcpPort("IP_10.0.0.9"), tcpPort("OLD_1", "10.0.0.1")],
  Registry: Object.fromEntries(
    three.flatMap((sid) => [
      [defaultPrinterKey(sid), { Device: "Old,winspool,Ne01:" }],
      [own(sid, "Printers\\DevModePerUser"), { Office: "own" }],
    ]),
  ),
};
const wrongMode = { Device: "Old,winspool,Ne01:", LegacyDefaultPrinterMode: "x" };

describe("users on a simulated Windows", { skip: withoutPowerShell }, () => {
  const windows = simulatedWindows();

  tellStories("users", {
    "a driverless printer with a ticket replaces everything, a second run changes nothing, and uninstall removes it":
      [
        { ...usersMachine, Drivers: [], Devices: [device()] },
        driverless,
        "install, detect, install, uninstall",
      ],
    "one component runs one script for all printers of the machine, with full paths and no names": [
      usersMachine,
      ["install", usersPrinter],
      ["install", deployable({ id: "8", name: "Two", set_default: "on" })],
    ],
    "preferences are deleted for logged-on users, and at the next log-on for others, once per revision": [
      withPreferences,
      reset,
      "install, detect",
      { Registry: preferences },
      "install",
      ["install", deployable({ reset_user_preferences: "on", comment: "new" })],
    ],
    "a revision without the setting removes the command at log-on": [
      withPreferences,
      reset,
      "install",
      ["install", deployable()],
    ],
    "uninstall removes the command at log-on": [withPreferences, reset, "install, uninstall"],
    "users whose registry SYSTEM can write get the default printer, and a mode that is not a number is dropped":
      [
        {
          ...forThree,
          Registry: { ...forThree.Registry, [defaultPrinterKey(second)]: wrongMode },
          DeniedKeys: [own(first)],
        },
        asDefault,
        "install, detect",
        { DeniedKeys: [own(third)] },
        "uninstall",
      ],
    "the preferences of users whose registry SYSTEM can write are deleted now, the others at log-on": [
      { ...forThree, DeniedKeys: [own(first)] },
      reset,
      "install, detect, install",
    ],
    "a user whose completion cannot be recorded stops no one else, and is reset again at log-on": [
      { ...forThree, DeniedKeys: [own(first, "Software\\Platen")] },
      reset,
      "install, detect",
    ],
    "uninstall removes everything except the record of log-on that SYSTEM cannot write": [
      forThree,
      reset,
      "install",
      { DeniedKeys: [own(first)] },
      "uninstall",
    ],
    "a user's registry that cannot be written becomes a remark, and log-on deletes the preferences": [
      withPreferences,
      ["install", reset, { failAt: "registry Remove-ItemProperty" }],
      ["install", reset],
    ],
  });

  test("what log-on need not do for a user is the revision with its time", async () => {
    const result = await windows.install(withPreferences, reset);

    const { Registry } = result.machine;
    const { LogonReset, LogonSince, Revision } = Registry[markerPath] ?? {};
    assert.equal(LogonReset, Revision);
    for (const sid of users)
      assert.equal(Registry[own(sid, "Software\\Platen\\7")]?.Reset, `${LogonSince} ${Revision}`);
  });
});
