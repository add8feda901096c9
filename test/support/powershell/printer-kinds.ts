import type { Driver } from "../../../src/domain/drivers/driver.ts";
import {
  type Deployable,
  type Deployment,
  deploymentOf,
  withoutDrivers,
} from "../../../src/pkg/scripts/deployment.ts";
import { makeTicket } from "../printers/tickets.ts";
import { makeDriver, makePrinter } from "../records.ts";
import { windowsDeployable } from "./ipp-machine.ts";

const usual = {
  name: "Accounting - second floor - A3 colour",
  location: "Zürich, Bahnhofstrasse 1, second floor, beside the lift",
  comment: "Toner from the caretaker; calls to the service desk, 044 123 45 67",
  shared: "on",
  share_name: "Accounting-A3",
};

/** Settings that add their own lines to the script. */
const settings: readonly (readonly [name: string, fields: Record<string, string>])[] = [
  ["preferences", { duplex: "long_edge", color: "mono", collate: "on", paper_size: "A4" }],
  ["a PrintTicket", { print_ticket: makeTicket() }],
  ["users' own preferences", { reset_user_preferences: "on" }],
  ["the default printer", { set_default: "on" }],
  ["connections", { replaces: "\\\\printserver.example.org\\Accounting" }],
  ["addresses", { replaces: "address:10.20.30.40" }],
  ["subnets", { subnets: "10.20.30.0/24\n10.20.31.0/24\nfd00:20:30::/48" }],
];

/** Every combination of the settings: their names, and the printer's fields. */
export const settingChoices = Array.from({ length: 2 ** settings.length }, (_, bits) => {
  const chosen = settings.filter((_, i) => bits & (1 << i));
  const replaces = ["Old queue", ...chosen.flatMap(([, { replaces }]) => replaces ?? [])].join("\n");
  const fields = Object.assign({}, usual, ...chosen.map(([, fields]) => fields), { replaces });
  return { names: chosen.map(([name]) => name), fields: fields as Record<string, string> };
});

const uploaded = makeDriver({
  trust_publisher: true,
  name: "Papyrus Universal PCL6",
  inf: { path: "Driver/x64/PCL6/papyrus.inf", descriptions: ["Papyrus MX-5070 Series PCL6 Class"] },
});
const forArm64: Driver = { ...uploaded, id: 2, sha256: "b".repeat(64) };
const url = (id: number) => ({
  url: `https://platen.example.org:8443/drivers/${id}/files?link=fw0.t99999p99999.${"x".repeat(22)}`,
  sha256: "c".repeat(64),
});
const downloads = new Map([1, 2].map((id) => [id, url(id)]));

function withUploaded(fields: Record<string, string>, arm64Driver: Driver | undefined): Deployable {
  return { printer: makePrinter({ snmp: "on", ...fields }), driver: uploaded, arm64Driver };
}

const lpr = { protocol: "lpr", port_number: "515", lpr_queue: "accounting" };

/** Each kind of printer, by how its scripts are delivered. */
export const printerKinds: Readonly<Record<string, (fields: Record<string, string>) => Deployment>> = {
  "in a package": (fields) => deploymentOf(withUploaded(fields, undefined)),
  "fetched alone": (fields) => deploymentOf(withUploaded(fields, undefined), downloads),
  "over LPR": (fields) => deploymentOf(withUploaded({ ...lpr, ...fields }, undefined), downloads),
  "with a second driver for ARM64": (fields) => deploymentOf(withUploaded(fields, forArm64), downloads),
  "with its driver apart": (fields) => withoutDrivers(deploymentOf(withUploaded(fields, forArm64))),
  "with Windows' own driver": (fields) =>
    deploymentOf(windowsDeployable(fields, "Microsoft PCL6 Class Driver")),
  "with an IPP queue": (fields) => deploymentOf(windowsDeployable({ ipp_tls: "on", ...fields })),
};
