import type { ListedLink } from "../../domain/access/link.ts";
import { dayMs } from "../../domain/text.ts";
import { type Html, html } from "../html.ts";
import { badge } from "../layout.ts";
import { paths } from "../paths.ts";
import { time } from "../text.ts";

/** A table of links, each with a button that ends it. @param from the page to return to; by default the record's */
export function linkTable(links: readonly ListedLink[], from = ""): Html {
  const rows = links.map(
    ({ id, path, isInScript, endDay, maker, problem }) => html`<tr>
      <td><code>${path}</code>${isInScript && html`<br><span class="soft">inside the downloaded script</span>`}</td>
      <td data-label="By"><bdi>${maker.name}</bdi>${problem && html` ${badge("warn", problem)}`}</td>
      <td data-label="Valid until">${time(endDay * dayMs)}</td>
      <td><form class="inline" method="post" action="${paths.linkEnd(id)}${from && `?from=${from}`}"><button>End<span
        class="visually-hidden"> the link to ${path}</span></button></form></td></tr>`,
  );
  return html`<table><thead><tr><th scope="col">Link to</th><th scope="col">By</th><th scope="col">Valid until</th>
    <th scope="col"><span class="visually-hidden">End</span></th></tr></thead><tbody>${rows}</tbody></table>`;
}
