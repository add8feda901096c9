import { count, counted, firstOf } from "../domain/text.ts";
import { type Html, html } from "./html.ts";

export { count, counted, firstOf };

const twoDigits = (number: number) => String(number).padStart(2, "0");

const months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/** A sentence whose “quoted names” cannot change the direction of the text around them. */
export function isolated(sentence: string): Html {
  const parts = sentence.split(/“([^“”]*)”/);
  return html`${parts.map((part, i) => (i % 2 === 0 ? part : html`“<bdi>${part}</bdi>”`))}`;
}

/** `a, b and 3 more`, of markup. @param more how many others are only counted */
export function htmlList(items: readonly Html[], more = 0): Html {
  return html`${items.map((item, i) => html`${i > 0 && ", "}${item}`)}${more > 0 && ` and ${count(more)} more`}`;
}

/** `21 Nov 2026, 14:05` in the server's time zone. @param time UTC, milliseconds since 1970 */
export function time(time: number): Html {
  const date = new Date(time);
  const clock = `${twoDigits(date.getHours())}:${twoDigits(date.getMinutes())}`;
  return html`<time datetime="${date.toISOString()}">${dayText(date)}, ${clock}</time>`;
}

/** `21 Nov 2026`, the day of `time`. */
export function day(time: number): Html {
  const date = new Date(time);
  const iso = `${date.getFullYear()}-${twoDigits(date.getMonth() + 1)}-${twoDigits(date.getDate())}`;
  return html`<time datetime="${iso}">${dayText(date)}</time>`;
}

function dayText(date: Date): string {
  return `${date.getDate()} ${months[date.getMonth()]} ${date.getFullYear()}`;
}

/** The server's time zone, like `UTC` or `Europe/Berlin`: the variable `TZ`, else the system's. */
export function timeZone(): string {
  return Intl.DateTimeFormat().resolvedOptions().timeZone;
}

/** `21 Nov 2026` for an INF's `11/21/2026`, in a `time` element. Other text is returned unchanged. */
export function infDate(date: string): Html {
  const [month = 0, day, year] = date.split(/[/-]/).map(Number);
  const name = months[month - 1];
  if (name === undefined || !day || !year) return html`${date}`;
  return html`<time datetime="${year}-${twoDigits(month)}-${twoDigits(day)}">${day} ${name} ${year}</time>`;
}

/** `21.9 MB`. */
export function bytes(size: number): string {
  const units = ["bytes", "KB", "MB", "GB"];
  let value = size;
  let unit = 0;
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit++;
  }
  return `${unit === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${units[unit]}`;
}

/** Lists single characters: `x y and z` for `xyz`. */
export function listed(characters: string): string {
  return `${[...characters.slice(0, -1)].join(" ")} and ${characters.slice(-1)}`;
}
