import { deployable } from "../../support/powershell/powershell.ts";
import type { ScenarioGroup } from "../../support/powershell/scenario.ts";
import { tcp } from "../../support/powershell/simulated-machine.ts";

const here = { Addresses: ["10.1.2.77"] };
const onlyHere = { OnlyHere: true } as const;

const sites: ScenarioGroup = {
  title: "Only where it belongs",
  about:
    "_Office_ with the subnet 10.1.2.0/24. The machine has 192.168.178.20, unless it says that it is inside.",
  what: deployable({ subnets: "10.1.2.0/24" }),
  scenarios: [
    { before: "inside the subnet", run: "requirement", machine: here },
    { before: "outside", run: "requirement" },
    { before: "inside the subnet", run: "install", machine: here, parameters: onlyHere },
    { before: "outside", run: "install", parameters: onlyHere },
    { before: "outside", run: "install" },
    { before: "outside, nothing of it is there", run: "detect", parameters: onlyHere },
  ],
};

const silent = { Network: { Names: {}, Tcp: {}, Ipp: {}, Snmp: { "10.0.0.9": { State: "silent" } } } };
const moved = { ...tcp("IP_10.0.0.9", "10.0.0.8"), SNMPEnabled: true, SNMPCommunity: "public", SNMPIndex: 1 };
const asJson = { AsJson: true } as const;

const diagnosis: ScenarioGroup = {
  title: "Diagnosis",
  about: "_Office_ at 10.0.0.9 with SNMP status, installed. The last line is the verdict.",
  what: deployable({ snmp: "on" }),
  scenarios: [
    { before: "all is well", run: "diagnose", after: ["install"] },
    { before: "all is well", run: "diagnose", after: ["install"], parameters: asJson },
    {
      before: "the port’s address was changed",
      run: "diagnose",
      code: 1,
      after: ["install"],
      since: { Ports: [{ Name: "LPT1:" }, moved] },
    },
    {
      before: "the device does not answer SNMP",
      run: "diagnose",
      code: 1,
      after: ["install"],
      since: silent,
      parameters: asJson,
    },
  ],
};

/** Whether a printer belongs here, and why it does not print. */
export const whereAndWhy: readonly ScenarioGroup[] = [sites, diagnosis];
