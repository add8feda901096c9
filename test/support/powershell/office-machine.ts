import { deployable, type Machine, type Simulation } from "./powershell.ts";
import { papyrus, queue } from "./simulated-machine.ts";

// A machine on which everything is right, and what may be wrong with it.

/** Two people who are logged on: one of a domain, one of Entra. */
export const people = ["S-1-5-21-1-2-3-1001", "S-1-12-1-4-5-6-777"] as const;

const made = deployable({ snmp: "on", location: "Room 1", replaces: "Old" });

/** What is diagnosed. */
export const office = {
  ...made,
  printer: { ...made.printer, replaces: ["Old", "\\\\srv\\Gang", "address:10.9.9.9"] },
};

type Whole = Machine & Required<Pick<Machine, "Queues" | "Ports" | "Registry">>;
export type Change = (machine: Whole) => void;

/** The machine after an installation of `office`. */
export async function healthyMachine(windows: Simulation): Promise<Whole> {
  const { machine } = await windows.installed({ Users: [...people] }, office);
  const { Queues, Ports, Registry } = machine;
  return { Queues, Ports, Registry, Drivers: [papyrus()], Users: [...people] };
}

export function changed(machine: Whole, ...changes: readonly Change[]): Machine {
  const copy = structuredClone(machine);
  for (const change of changes) change(copy);
  return copy;
}

type Values = Record<string, unknown>;

export const has =
  (values: Values): Change =>
  (machine) =>
    void Object.assign(machine, values);
export const ofQueue =
  (values: Values): Change =>
  (machine) =>
    void Object.assign(machine.Queues[0] ?? {}, values);
export const ofPort =
  (values: Values): Change =>
  (machine) =>
    void Object.assign(machine.Ports.find(({ Name }) => Name === "IP_10.0.0.9") ?? {}, values);
/** A queue more, on a port that is there or is added. */
export const alsoQueue =
  (name: string, port: Values): Change =>
  (machine) => {
    machine.Queues.push(queue(name, String(port.Name)));
    if (!machine.Ports.some(({ Name }) => Name === port.Name)) machine.Ports.push(port);
  };
export const inRegistry =
  (path: string, values: Values): Change =>
  (machine) => {
    machine.Registry[path] = values;
  };
export const both =
  (...changes: readonly Change[]): Change =>
  (machine) => {
    for (const change of changes) change(machine);
  };

/** What devices answer: everything else is as it should be. */
export const network = (part: Values): Change =>
  has({ Network: { Names: {}, Tcp: {}, Ipp: {}, Snmp: {}, ...part } });
export const tcpIs = (state: string) => network({ Tcp: { "10.0.0.9:9100": state } });
export const snmpIs = (State: string, DeviceStatus = 2) =>
  network({ Snmp: { "10.0.0.9": { State, DeviceStatus, PrinterStatus: 1 } } });
/** What the device of `office` tells of itself by IPP, although its queue does not print so. */
export const ippTells = (Attributes: Values) =>
  network({ Ipp: { "http://10.0.0.9:631/ipp/print": { Attributes } } });

/** An event of the print log, some minutes ago. */
export const event = (Id: number, Minutes: number, ...Values: unknown[]) => ({
  Id,
  Minutes,
  Level: Id === 307 ? 4 : 2,
  Values,
});
export const logged = (...Events: readonly unknown[]) => has({ PrintLog: { IsEnabled: true, Events } });
