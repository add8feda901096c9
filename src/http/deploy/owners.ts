import { needsSignIn } from "../../config.ts";
import type { Identity } from "../../domain/access/access.ts";
import type { LinkOwner, LinkSource } from "../../domain/access/link.ts";
import type { Links } from "../../services/access/links.ts";
import type { Store } from "../../store/store.ts";
import type { RequestContext } from "../router.ts";
import { senderOf } from "../sender.ts";

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
 * The URL from which a script downloads something. With sign-in it is a link, because machines cannot sign in.
 * @param service the address of the service
 * @param source the printer or client whose script contains the URL; undefined if it is the target itself, or a driver
 */
export function fetchUrl(
  { app: { config, links }, request, by = senderOf(request).identity }: ScriptContext,
  service: string,
  target: Parameters<Links["make"]>[0],
  source: LinkSource | undefined,
): string {
  if (!needsSignIn(config)) return service + target.address;
  return service + links.make(target, { days: config.linkDays, by, source }).address;
}
