import { device } from "../../support/powershell/ipp-machine.ts";
import { deployable } from "../../support/powershell/powershell.ts";
import type { ScenarioGroup } from "../../support/powershell/scenario.ts";
import { tcpPort } from "../../support/powershell/simulated-machine.ts";

const reachable = deployable({ requires_reachable: "on" });
const here = { Addresses: ["10.1.2.77"] };
const onlyHere = { OnlyHere: true } as const;

const subnets: ScenarioGroup = {
  title: "Only in its subnets",
  about:
    "_Office_ with the subnet 10.1.2.0/24. The machine has 192.168.178.20 unless the row says that it is inside.",
  what: deployable({ subnets: "10.1.2.0/24" }),
  scenarios: [
    { before: "inside the subnet", run: "requirement", machine: here },
    { before: "outside", run: "requirement" },
    { before: "inside the subnet", run: "install", machine: here, parameters: onlyHere },
    { before: "outside", run: "install", parameters: onlyHere },
    { before: "outside", run: "install" },
    { before: "outside, not installed", run: "detect", parameters: onlyHere },
    {
      before: "outside; _Default printer_ is on, and a user is logged on",
      run: "install",
      machine: { Users: ["S-1-5-21-9-8-7-1001"] },
      what: deployable({ subnets: "10.1.2.0/24", set_default: "on" }),
    },
    {
      before: "outside; _Only PCs that reach the printer_ is on instead of subnets, and the printer is off",
      run: "requirement",
      machine: { Devices: [device({ Port: 9100, Awake: false })] },
      what: reachable,
    },
    {
      before: "the same, installed",
      run: "requirement",
      machine: { Devices: [device({ Port: 9100, Awake: false })] },
      ranBefore: ["install"],
      what: reachable,
    },
    {
      before: "the same, not installed, and the printer is on",
      run: "requirement",
      machine: { Devices: [device({ Port: 9100 })] },
      what: reachable,
    },
  ],
};

const silent = { Network: { Names: {}, Tcp: {}, Ipp: {}, Snmp: { "10.0.0.9": { State: "silent" } } } };
const moved = {
  ...tcpPort("IP_10.0.0.9", "10.0.0.8"),
  SNMPEnabled: true,
  SNMPCommunity: "public",
  SNMPIndex: 1,
};
const asJson = { AsJson: true } as const;

const diagnosis: ScenarioGroup = {
  title: "Diagnosis",
  about: "_Office_ at 10.0.0.9 with SNMP status, installed. The last line is the verdict.",
  what: deployable({ snmp: "on" }),
  scenarios: [
    { before: "no defect", run: "diagnose", ranBefore: ["install"] },
    { before: "no defect", run: "diagnose", ranBefore: ["install"], parameters: asJson },
    {
      before: "the port’s address was changed",
      run: "diagnose",
      code: 1,
      ranBefore: ["install"],
      changesSince: { Ports: [{ Name: "LPT1:" }, moved] },
    },
    {
      before: "the device does not answer SNMP",
      run: "diagnose",
      code: 1,
      ranBefore: ["install"],
      changesSince: silent,
      parameters: asJson,
    },
  ],
};

/** Subnets and diagnosis. */
export const whereAndWhy: readonly ScenarioGroup[] = [subnets, diagnosis];
