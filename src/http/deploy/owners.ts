import { needsSignIn } from "../../config.ts";
import type { Identity } from "../../domain/access/access.ts";
import type { LinkOwner } from "../../domain/access/link.ts";
import type { Store } from "../../store/store.ts";
import type { RequestContext } from "../router.ts";
import { recheckSender, senderOf } from "../sender.ts";

/** For each kind of record with links: the section of its pages, and how to get the name of a record. */
export const owners = {
  printer: {
    section: "Printers",
    nameOf: ({ printers }: Store, id: number) => printers.get(id).printer.name,
  },
  client: { section: "Clients", nameOf: ({ clients }: Store, id: number) => clients.get(id).name },
  driver: { section: "Drivers", nameOf: driverName },
} as const;

/** The same name as in `auditedTables`. @throws UserError "not-found" */
function driverName({ drivers }: Store, id: number): string {
  const { name, driver_desc, file_name } = drivers.get(id);
  return name || driver_desc || file_name;
}

/** A printer, client or driver as the audit log names it. @throws UserError "not-found" */
export function recordOf(store: Store, owner: LinkOwner) {
  return { ...owner, name: owners[owner.kind].nameOf(store, owner.id) };
}

/** A request for a script, or for a page with its SHA-256. */
export interface ScriptContext extends RequestContext {
  /** Who will download the script, if it is not the sender of this request. */
  readonly by?: Identity | undefined;
}

/**
 * Returns a function that makes the URLs in a script. With sign-in they are links, because machines cannot sign in.
 * @param service the address of the service
 * @param path of the script
 */
export async function urlsIn(
  { app: { config, links }, request, by = senderOf(request).identity }: ScriptContext,
  service: string,
  path: string,
): Promise<(address: string) => string> {
  if (!needsSignIn(config)) return (address) => service + address;
  await recheckSender(request);
  const linked = await links.inScript({ path, days: config.linkDays, by });
  return (address) => service + linked(address);
}
