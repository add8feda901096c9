import { deployable, type Machine } from "./powershell.ts";
import { markerOf, markerPath, papyrusDriver, queue, tcpPort } from "./simulated-machine.ts";

// A machine without defects, and functions that change it.

/** SIDs of two logged-on users: one of a domain, one of Entra. */
export const loggedOnUsers = ["S-1-5-21-1-2-3-1001", "S-1-12-1-4-5-6-777"] as const;

const deployed = deployable({ snmp: "on", location: "Room 1", replaces: "Old" });

/** The printer that is diagnosed. */
export const office = {
  ...deployed,
  printer: { ...deployed.printer, replaces: ["Old", "\\\\srv\\Gang", "address:10.9.9.9"] },
};

type CompleteMachine = Machine & Required<Pick<Machine, "Queues" | "Ports" | "Registry">>;
type Values = Record<string, unknown>;
export type Change = (machine: CompleteMachine) => void;

const healthy: CompleteMachine = {
  Users: [...loggedOnUsers],
  Queues: [{ ...queue("Office", "IP_10.0.0.9"), Location: "Room 1" }],
  Ports: [{ ...tcpPort("IP_10.0.0.9"), SNMPEnabled: true, SNMPCommunity: "public", SNMPIndex: 1 }],
  Drivers: [papyrusDriver()],
  Registry: { [markerPath]: markerOf(office) },
};

/** The machine after an installation of `office`, with changes. */
export function officeMachine(...changes: readonly Change[]): Machine {
  const copy = structuredClone(healthy);
  for (const change of changes) change(copy);
  return copy;
}

export const setMachineValues =
  (values: Values): Change =>
  (machine) =>
    void Object.assign(machine, values);
export const setQueueValues =
  (values: Values): Change =>
  (machine) =>
    void Object.assign(machine.Queues[0] ?? {}, values);
export const setPortValues =
  (values: Values): Change =>
  (machine) =>
    void Object.assign(machine.Ports[0] ?? {}, values);
/** Adds a queue, and its port unless it exists. */
export const addQueue =
  (name: string, port: Values): Change =>
  (machine) => {
    machine.Queues.push(queue(name, String(port.Name)));
    if (!machine.Ports.some(({ Name }) => Name === port.Name)) machine.Ports.push(port);
  };
export const setRegistryKey =
  (path: string, values: Values): Change =>
  (machine) => {
    machine.Registry[path] = values;
  };
export const combine =
  (...changes: readonly Change[]): Change =>
  (machine) => {
    for (const change of changes) change(machine);
  };

/** Sets the answers of devices; those not given are right. */
export const setNetwork = (part: Values): Change =>
  setMachineValues({ Network: { Names: {}, Tcp: {}, Ipp: {}, Snmp: {}, ...part } });
export const setTcpState = (state: string) => setNetwork({ Tcp: { "10.0.0.9:9100": state } });
export const setSnmpState = (State: string, DeviceStatus = 2) =>
  setNetwork({ Snmp: { "10.0.0.9": { State, DeviceStatus } } });
/** The device of `office` answers IPP too, although its queue does not use it. */
export const setIppAttributes = (Attributes: Values) =>
  setNetwork({ Ipp: { "http://10.0.0.9:631/ipp/print": { Attributes } } });

/** An event of the print log. @param Minutes its age */
export const printEvent = (Id: number, Minutes: number, ...Values: unknown[]) => ({
  Id,
  Minutes,
  Level: Id === 307 ? 4 : 2,
  Values,
});
export const setPrintLog = (...Events: readonly unknown[]) =>
  setMachineValues({ PrintLog: { IsEnabled: true, Events } });
