import { isNameOfLog } from "../../domain/account.ts";
import type { AuditedEvent } from "../../domain/audit.ts";
import { networkOf, siteOf } from "../../domain/site.ts";

/** Whose share an event takes. */
export interface Share {
  readonly name: string;
  /** Whether anybody could be it. */
  readonly isStranger: boolean;
}

/** People have a share by their names; whoever anybody can be, and programs, also by where they are. */
export function shareOf({ event, who, from }: AuditedEvent): Share {
  const site = siteOf(from);
  const network = networkOf(site) ?? site;
  // The name is one that was typed.
  if (event === "sign-in-failed" || who === "nobody" || who === "anyone")
    return { name: network, isStranger: true };
  return { name: isNameOfLog(who) ? `${who} ${network}` : who, isStranger: false };
}

/**
 * What is counted together. Of sign-ins that fail the site alone: whoever tries a thousand names gets one line a minute all
 * the same.
 */
export function keyOf({ event, who, from, record, what, by, digest, printers }: AuditedEvent): string {
  const site = siteOf(from);
  if (event === "sign-in-failed") return JSON.stringify([event, site]);
  const of = [record?.kind, record?.id, what, by, digest, printers?.length, printers?.[0]];
  return JSON.stringify([event, who, site, ...of]);
}
