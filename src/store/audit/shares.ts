import { isNameOfLog } from "../../domain/account.ts";
import type { AuditedEvent } from "../../domain/audit.ts";
import { networkOf, siteOf } from "../../domain/site.ts";

/** Whose share an event takes. */
export interface Share {
  readonly name: string;
  /** Anybody could be a stranger, from as many networks as they like. */
  readonly of: "person" | "program" | "stranger";
}

/** People and programs have a share by their names, wherever they are; whoever anybody can be, by where they are. */
export function shareOf({ event, who, from }: AuditedEvent): Share {
  const site = siteOf(from);
  // The name is one that was typed.
  if (event === "sign-in-failed" || who === "nobody" || who === "anyone")
    return { name: networkOf(site) ?? site, of: "stranger" };
  return { name: who, of: isNameOfLog(who) ? "program" : "person" };
}

/** What is counted together: nothing but the bytes and the addresses of one site are put together. */
export function keyOf({ event, who, from, record, what, by, digest, printers }: AuditedEvent): string {
  const of = [record?.kind, record?.id, what, by, digest, printers?.length, printers?.[0]];
  return JSON.stringify([event, who, siteOf(from), ...of]);
}
