import { carpenter, type DemoClient, dentist, lawOffice, school } from "./clients.ts";
import type { DriverKey } from "./drivers.ts";
import { accountants, auditors, bakery, clinic, workshop } from "./more-clients.ts";

export const clients: readonly DemoClient[] = [
  dentist,
  lawOffice,
  carpenter,
  school,
  accountants,
  bakery,
  auditors,
  clinic,
];

/** A printer's form values. */
export interface DemoPrinter {
  /** The client's name; undefined for none. */
  readonly client: string | undefined;
  readonly driver: DriverKey | undefined;
  readonly fields: Readonly<Record<string, string>>;
}

/** The form fields that an option in a table line sets. */
const options: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  duplex: { duplex: "long_edge" },
  mono: { color: "mono" },
  color: { color: "color" },
  a3: { paper_size: "A3" },
  a4: { paper_size: "A4" },
  a5: { paper_size: "A5" },
  snmp: { snmp: "on" },
  shared: { shared: "on" },
  default: { set_default: "on" },
  lpr: { protocol: "lpr", lpr_queue: "lp", port_number: "515" },
  replaces: { replaces: "Old copier\nOld copier (copy 1)" },
};

/** Changes to printers after their deployment, by name. */
export const laterChanges: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "Kopierer 2. OG": { address: "10.14.2.90", port_name: "IP_10.14.2.90" },
  "Devis et factures": { duplex: "one_sided" },
  "Consult room 2": { paper_size: "A5" },
};

/** All 120 printers, in order of creation: the last printer of each client comes at the end. */
export function demoPrinters(): DemoPrinter[] {
  const groups = [{ ...workshop, name: undefined }, ...clients].map(printersOf);
  return [...groups.flatMap((group) => group.slice(0, -1)), ...groups.flatMap((group) => group.slice(-1))];
}

function printersOf(client: Pick<DemoClient, "network" | "printers"> & { name: string | undefined }) {
  const lines = client.printers.trim().split("\n");
  return lines.map((line, i): DemoPrinter => {
    const [name = "", location = "", deployed = "", optionText = ""] = line
      .split("|")
      .map((part) => part.trim());
    const [driver = "", driver_desc = ""] = deployed.split(":");
    const words = optionText.split(" ").filter(Boolean);
    const end = words.find((word) => word.startsWith(".")) ?? `.${11 + i}`;
    const chosen = words.map((word) => options[word] ?? {});
    const fields = Object.assign(
      { name, location, driver_desc, address: client.network + end },
      ...chosen,
    ) as Record<string, string>;
    return { client: client.name, driver: driver === "-" ? undefined : (driver as DriverKey), fields };
  });
}
