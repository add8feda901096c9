import { describe } from "node:test";
import { device, ippUrl, windowsDeployable, withIppQueue } from "../support/powershell/ipp-machine.ts";
import { deployable, withoutPowerShell } from "../support/powershell/powershell.ts";
import { defaultPrinterKey, queue, readyMachine } from "../support/powershell/simulated-machine.ts";
import { storiesOf, tellStories } from "../support/powershell/transcripts.ts";

const sid = "S-1-5-21-9-8-7-1001";
/** Terminal escapes of both kinds, a forged log line, and characters that reverse the text direction. */
const spoilt =
  "A\u001b[2JB\u009b1mC\r\n2026-01-01 00:00:00 [1] Failed\u2028D\u202eE\u2066F\u200fG\u061cH\u0007I\u0085J";
/** With letters of other scripts and emoji, some of them with joiners. */
const name = `${spoilt} Größe 打印机 طابعة می\u200cخواهم 🖨\ufe0f 👨\u200d👩\u200d👧`;
const office = windowsDeployable();

/** A device's model in its answer by IPP. */
const withModel = (model: string) => ({
  ...withIppQueue("Office"),
  Network: {
    Names: {},
    Tcp: {},
    Snmp: {},
    Ipp: { [ippUrl]: { Attributes: { "printer-make-and-model": [model], "printer-state": ["5"] } } },
  },
});
const slash = "Floor 1/2";
const offline = {
  [`HKLM:\\SYSTEM\\CurrentControlSet\\Control\\Print\\Printers\\${slash}`]: { Attributes: 0x448 },
};

// Every story asserts that no line of output or log has a control character.
describe("names that devices and users choose, on a simulated Windows", { skip: withoutPowerShell }, () => {
  tellStories("odd-names", {
    "control characters in a device's queue or a user's default reach neither the log nor the last line": [
      {
        ...withIppQueue(name),
        Users: [sid],
        Registry: {
          ...withIppQueue(name).Registry,
          [defaultPrinterKey(sid)]: { Device: `${name},winspool,Ne01:` },
        },
      },
      windowsDeployable({ set_default: "on" }),
      "install",
    ],
    "control characters do not reach the output of -WhatIf or detect": [
      { ...withIppQueue("Office"), Queues: [queue("Office", "WSD-1", name)] },
      office,
      "install -WhatIf, detect",
    ],
    "control characters do not reach the output of a failed run": [
      { ...withIppQueue(name), Devices: [device({ Known: name })] },
      office,
      "install",
    ],
    ...storiesOf(
      {
        "is cleaned": `${spoilt} 打印机 👨\u200d👩\u200d👧`,
        "is shortened to 100 characters": "M".repeat(700),
      },
      (what) => `a device's name ${what} in a diagnosis`,
      (model) => [withModel(model), office, "diagnose"],
    ),
    "diagnosis reports that a queue with a slash in its name is set to be used offline": [
      readyMachine({ Name: slash }, {}, { Registry: offline }),
      deployable({ name: slash }),
      "diagnose",
    ],
  });
});
