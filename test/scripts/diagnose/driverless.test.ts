import { describe } from "node:test";
import {
  device,
  ippPort,
  ippPortKeys,
  ippQueue,
  ippUrl,
  windowsDeployable,
  withIppQueue,
} from "../../support/powershell/ipp-machine.ts";
import {
  type Change,
  combine,
  office,
  officeMachine,
  setIppAttributes,
  setNetwork,
  setPortValues,
  setRegistryKey,
} from "../../support/powershell/office-machine.ts";
import { deployable, type Machine, withoutPowerShell } from "../../support/powershell/powershell.ts";
import { arm64Machine, arm64Model, driverPair } from "../../support/powershell/simulated-arm64.ts";
import { markerOf, markerPath, queue, tcpPort } from "../../support/powershell/simulated-machine.ts";
import { storiesOf, tellStories } from "../../support/powershell/transcripts.ts";

const policies = "HKLM:\\SOFTWARE\\Policies\\Microsoft\\Windows NT\\Printers";
const isProtected = { [`${policies}\\WPP`]: { WindowsProtectedPrintMode: 1 } };
const attributes = {
  "printer-make-and-model": ["Papyrus 100"],
  "printer-state": ["3"],
  "printer-state-reasons": ["none"],
  "printer-is-accepting-jobs": ["True"],
  "document-format-supported": ["image/urf", "image/pwg-raster"],
  "ipp-versions-supported": ["1.1", "2.0"],
  "ipp-features-supported": ["ipp-everywhere"],
};
const network = (answer: unknown, more = {}) => ({
  Network: { Names: {}, Tcp: {}, Snmp: {}, Ipp: { [ippUrl]: answer }, ...more },
});
const withAttributes = (more = {}) => network({ Attributes: { ...attributes, ...more } });
const http = (Status: string) => network({ Problem: `answers HTTP ${Status}`, Status });
const reasons = (value: string) => withAttributes({ "printer-state-reasons": [value] });

const printer = windowsDeployable();
const marker = { ...markerOf(printer, "WSD-1"), IppUrl: ippUrl };
const Registry = { ...ippPortKeys(), [markerPath]: marker };
const driverless = { ...withIppQueue("Office"), ...withAttributes(), Registry };
const marked = (IppUrl: string | null) => ({
  Registry: { ...Registry, [markerPath]: { ...marker, IppUrl } },
});

const faults: Record<string, Machine> = {
  "that protected print mode lets a correct queue through": { Registry: { ...Registry, ...isProtected } },
  "the class driver on a TCP/IP port": { Queues: [ippQueue("Office", "IP_1")], Ports: [tcpPort("IP_1")] },
  "a queue of others": marked(null),
  "another URL": marked("http://10.0.0.8:631/ipp/print"),
  "another driver": { Queues: [queue("Office", "WSD-1", "Papyrus WSD")] },
  "a sleeping printer": network(undefined, { Tcp: { "10.0.0.9:631": "silent" } }),
  "a password": http("401"),
  "that TLS is needed": http("426"),
  "a wrong path": http("404"),
  "a stopped printer": withAttributes({
    "printer-state": ["5"],
    "printer-state-reasons": ["media-empty-error", "door-open-error"],
  }),
  "a printer that accepts no jobs": withAttributes({ "printer-is-accepting-jobs": ["False"] }),
  "little toner": reasons("toner-low-warning"),
  "a note of little toner, which is no fault": reasons("toner-low-report"),
  "queues that Windows added for the same device, by port or by port id": {
    Queues: [ippQueue("Office"), ippQueue("A"), ippQueue("B", "WSD-b"), ippQueue("C", "WSD-c")],
    Ports: [ippPort(), ippPort("WSD-b"), ippPort("WSD-c")],
    Registry: { ...Registry, ...ippPortKeys("WSD-b"), ...ippPortKeys("WSD-c", 1, "IPP-8") },
  },
};

const pcl6 = "Microsoft PCL6 Class Driver";
const pair = driverPair();
const forArm = { Queues: [queue("Office", "IP_10.0.0.9", arm64Model)], Ports: [tcpPort("IP_10.0.0.9")] };
const armDrivers = { Drivers: [{ Name: arm64Model, Version: "3.0.0.0", Date: "01/02/2026" }] };

const notFound = { Problem: "answers client-error-not-found", Status: "client-error-not-found" };
const [port1, ipv6] = ["http://10.0.0.9:631/ipp/port1", "http://[fd00::9]:631/ipp/print"];
const policy = "UseWindowsReadyPrintDriverRanking";
/** Sets the driver ranking by the setting and by the policy. */
const ranking = (bySetting: number, byPolicy?: number) =>
  setRegistryKey(`${policies}\\DriverRanking`, {
    [policy]: bySetting,
    ...(byPolicy === undefined ? {} : { [`${policy}GroupPolicy`]: byPolicy }),
  });
/** Sets the port's values, and the community that the device, which is down, knows. */
const snmp = (values: Record<string, unknown>, Community: string) => {
  const answer = { "10.0.0.9": { Community, State: "answers", DeviceStatus: 5 } };
  return combine(setPortValues(values), setNetwork({ Snmp: answer }));
};
const own = { SNMPCommunity: "haus" };

const statements: Record<string, Change> = {
  "a device with IPP at one of the usual paths could do without, and the path is named": setNetwork({
    Ipp: { [ippUrl]: notFound, [port1]: { Attributes: attributes } },
  }),
  "a device that was not tested for it may do without": setIppAttributes({
    ...attributes,
    "ipp-features-supported": undefined,
  }),
  "a device without a format that Windows produces is no fault of the queue": setIppAttributes({
    ...attributes,
    "document-format-supported": ["image/jpeg"],
  }),
  "the setting turns the ranking on": ranking(1),
  "a policy turns the ranking off": ranking(1, 0),
  "a policy turns the ranking on": ranking(0, 1),
  "SNMP is asked with the community of the port": snmp(own, "haus"),
  "SNMP is asked with no other": snmp(own, "public"),
  "SNMP is asked with public if the port has none": snmp({ SNMPCommunity: null, SNMPIndex: null }, "public"),
};

describe("diagnosis of printing without a vendor's driver", { skip: withoutPowerShell }, () => {
  tellStories("diagnosis-driverless", {
    ...storiesOf(
      faults,
      (what) => `it reports only ${what}`,
      (change) => [{ ...driverless, ...change }, printer, "diagnose"],
    ),
    "a queue that install added has no fault": [
      { Devices: [device()], ...withAttributes() },
      printer,
      "install, diagnose",
    ],
    "an own driver of Windows has no version to compare, and protected print mode blocks it": [
      windowsDeployable({ name: "Office" }, pcl6),
      "install",
      { Drivers: [{ Name: pcl6, Version: "0.0.0.1", Date: "01/01/2000" }] },
      "diagnose",
      { Registry: isProtected },
      "diagnose",
    ],
    "on ARM64 the second driver is checked": [
      { ...arm64Machine, ...forArm, ...armDrivers },
      pair,
      "diagnose",
    ],
    "on x64 the first driver is checked": [{ ...forArm, ...armDrivers }, pair, "diagnose"],
    ...storiesOf(
      statements,
      (what) => what,
      (change) => [officeMachine(change), office, "diagnose"],
    ),
    "an LPR queue with an IPv6 address is asked for its device too": [
      officeMachine(setNetwork({ Ipp: { [ipv6]: { Attributes: attributes } } })),
      deployable({ protocol: "lpr", lpr_queue: "lp", address: "fd00::9" }),
      "diagnose",
    ],
  });
});
