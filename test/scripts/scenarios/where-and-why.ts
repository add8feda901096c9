import { device } from "../../support/powershell/ipp-machine.ts";
import { deployable } from "../../support/powershell/powershell.ts";
import type { ScenarioGroup } from "../../support/powershell/scenario.ts";
import { tcpPort } from "../../support/powershell/simulated-machine.ts";

const reachable = deployable({ requires_reachable: "on" });
const [on, off] = [device({ Port: 9100 }), device({ Port: 9100, Awake: false })];
const here = { Addresses: ["10.1.2.77"] };

const subnets: ScenarioGroup = {
  title: "Only in its subnets",
  about:
    "_Office_ with the subnet 10.1.2.0/24. The machine has 192.168.178.20 unless the row says that it is inside.",
  what: deployable({ subnets: "10.1.2.0/24" }),
  scenarios: [
    ["inside the subnet", 0, here, "requirement"],
    ["outside", 0, "requirement"],
    ["inside the subnet", 0, here, "install -OnlyHere"],
    ["outside", 0, "install -OnlyHere"],
    ["outside", 0, "install"],
    ["outside, not installed", 0, "detect -OnlyHere"],
    [
      "outside; _Default printer_ is on, and a user is logged on",
      0,
      { Users: ["S-1-5-21-9-8-7-1001"] },
      ["install", deployable({ subnets: "10.1.2.0/24", set_default: "on" })],
    ],
    [
      "outside; _Only PCs that reach the printer_ is on instead of subnets, and the printer is off",
      0,
      { Devices: [off] },
      ["requirement", reachable],
    ],
    ["the same, installed", 0, { Devices: [off] }, ["install", reachable], ["requirement", reachable]],
    ["the same, not installed, and the printer is on", 0, { Devices: [on] }, ["requirement", reachable]],
  ],
};

const silent = { Network: { Names: {}, Tcp: {}, Ipp: {}, Snmp: { "10.0.0.9": { State: "silent" } } } };
const moved = {
  ...tcpPort("IP_10.0.0.9", "10.0.0.8"),
  SNMPEnabled: true,
  SNMPCommunity: "public",
  SNMPIndex: 1,
};

const diagnosis: ScenarioGroup = {
  title: "Diagnosis",
  about: "_Office_ at 10.0.0.9 with SNMP status, installed. The last line is the verdict.",
  what: deployable({ snmp: "on" }),
  scenarios: [
    ["no defect", 0, "install, diagnose"],
    ["no defect", 0, "install, diagnose -AsJson"],
    ["the port’s address was changed", 1, "install", { Ports: [{ Name: "LPT1:" }, moved] }, "diagnose"],
    ["the device does not answer SNMP", 1, "install", silent, "diagnose -AsJson"],
  ],
};

/** Subnets and diagnosis. */
export const whereAndWhy: readonly ScenarioGroup[] = [subnets, diagnosis];
