import type { AffectedPrinter } from "../../domain/drivers/driver-effects.ts";
import { type Html, html } from "../html.ts";
import { paths } from "../paths.ts";
import { count } from "../text.ts";

/** Printers by name, each a link with its client; beyond so many only their number. */
export function printerNames(printers: readonly AffectedPrinter[], shown: number): Html {
  const names = printers.slice(0, shown).map(({ id, name, client }, i) => {
    const of = client !== undefined && html` (<bdi>${client}</bdi>)`;
    return html`${i > 0 && ", "}<a href="${paths.printer(id)}"><bdi>${name}</bdi></a>${of}`;
  });
  const rest = printers.length - names.length;
  return html`${names}${rest > 0 && ` and ${count(rest)} more`}`;
}
