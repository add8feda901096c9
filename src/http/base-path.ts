import type { IncomingMessage } from "node:http";
import type { Config } from "../config.ts";

// `PUBLIC_URL` may have a path, such as /platen. Inside, all paths are without it: it is removed from each request, whether
// or not a proxy has removed it already, and added to each answer.

/** The path of `PUBLIC_URL`, without a slash at the end: `/platen`, or empty. */
export function basePath({ publicUrl }: Pick<Config, "publicUrl">): string {
  return publicUrl === undefined ? "" : new URL(publicUrl).pathname.replace(/\/$/, "");
}

/** Removes the base path from a request's address, and from the addresses of Platen's pages in its headers. */
export function removeBasePath(request: IncomingMessage, base: string): void {
  if (base === "") return;
  request.url = withoutBase(request.url ?? "/", base);
  for (const name of ["referer", "hx-current-url"] as const) {
    const value = request.headers[name];
    if (typeof value !== "string") continue;
    const path = withoutBase(value, base);
    // Another page of this host is none of Platen's.
    if (path === value) delete request.headers[name];
    else request.headers[name] = path;
  }
}

/** @param address a path, or a whole URL */
function withoutBase(address: string, base: string): string {
  const start = /^https?:\/\/[^/?#]*/i.exec(address)?.[0].length ?? 0;
  const rest = address.slice(start);
  if (!rest.startsWith(base) || !/^(?:[/?#]|$)/.test(rest.slice(base.length))) return address;
  const path = rest.slice(base.length);
  return `${address.slice(0, start)}${path.startsWith("/") ? path : `/${path}`}`;
}

/** Attributes with a path of Platen's. The `html` tag escapes quotes, so text from outside never looks like one. */
const pathAttribute = /\b((?:form)?action|href|src|hx-get|hx-post)="(?=\/)/g;

/** Adds the base path to the paths in markup. */
export function addBasePath(markup: string, base: string): string {
  return base === "" ? markup : markup.replace(pathAttribute, `$1="${base}`);
}

/** The address of one of Platen's pages for `Location` and htmx's headers. Other values stay as they are. */
export function publicPath(value: string, base: string): string {
  return value.startsWith("/") ? base + value : value;
}
