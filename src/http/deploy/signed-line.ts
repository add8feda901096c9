import type { App } from "../../app.ts";
import type { LinkOwner } from "../../domain/access/link.ts";
import { signedLine } from "../../html/deploy/signing.ts";
import type { Html } from "../../html/html.ts";
import { canChange, type PageContext } from "../../html/layout.ts";

/** How many of a record's scripts are signed. Undefined where nobody signs, or the record has no scripts. */
export async function signedLineOf(
  app: App,
  owner: LinkOwner,
  { visitor }: PageContext,
): Promise<Html | undefined> {
  const signed = await app.signing.count(owner);
  return signed && signed.total > 0 ? signedLine(signed, canChange(visitor)) : undefined;
}
