import { badRequest, Refusal } from "./answers.ts";
import { win32, win32Only } from "./app-fields.ts";
import type { Fields } from "./schema.ts";

/** One page of a list, with the URL of the next page. @param size the most items of a page */
export function page(
  items: readonly Fields[],
  query: URLSearchParams,
  address: string,
  size: number,
): Fields {
  const from = Number(query.get("$skiptoken") ?? "0");
  const top = Number(query.get("$top") ?? size);
  if (!Number.isInteger(top) || top < 1 || top > 999) throw badRequest("The query option $top is invalid.");
  if (!Number.isInteger(from) || from < 0) throw badRequest("The query option $skiptoken is invalid.");
  const to = from + Math.min(top, size);
  const next = new URLSearchParams(query);
  next.set("$skiptoken", String(to));
  const link = to < items.length ? { "@odata.nextLink": `${address}?${next}` } : {};
  return {
    "@odata.context": `${address.split("/beta/")[0]}/beta/$metadata`,
    ...link,
    value: items.slice(from, to),
  };
}

/** @throws a refusal of options that are not among `known` */
export function checkOptions(query: URLSearchParams, known: readonly string[]): void {
  for (const name of query.keys())
    if (!known.includes(name)) throw badRequest(`The query option '${name}' is not supported here.`);
}

/** Supports `isof('microsoft.graph.win32LobApp')`, `contains(notes,'…')`, and both with `and`. @throws a refusal of others */
export function parseFilter(filter: string | null): (app: Fields) => boolean {
  if (filter === null) return () => true;
  const tests: ((app: Fields) => boolean)[] = [];
  let rest = filter;
  for (;;) {
    const [test, length] = parseTerm(rest);
    tests.push(test);
    rest = rest.slice(length);
    if (rest === "") return (app) => tests.every((matches) => matches(app));
    if (!rest.startsWith(" and ")) throw badFilter(filter);
    rest = rest.slice(5);
  }
}

const isWin32 = "isof('microsoft.graph.win32LobApp')";

function parseTerm(text: string): [test: (app: Fields) => boolean, length: number] {
  if (text.startsWith(isWin32)) return [(app) => app["@odata.type"] === win32, isWin32.length];
  const [whole, quoted] = /^contains\(notes,'((?:[^']|'')*)'\)/.exec(text) ?? [];
  if (whole === undefined || quoted === undefined) throw badFilter(text);
  const part = quoted.replaceAll("''", "'").toLowerCase();
  return [
    (app) =>
      String(app.notes ?? "")
        .toLowerCase()
        .includes(part),
    whole.length,
  ];
}

function badFilter(text: string): Refusal {
  return new Refusal(400, "BadRequest", `Invalid filter clause: ${text}`);
}

/** @returns a function that picks the properties in `$select`. @throws a refusal of unknown properties */
export function parseSelect(select: string | null): (app: Fields) => Fields {
  if (select === null) return (app) => app;
  const names = select.split(",");
  const unknown = names.find(
    (name) => !/^[a-zA-Z]+$/.test(name) || (win32Only as readonly string[]).includes(name),
  );
  if (unknown !== undefined)
    throw new Refusal(
      400,
      "BadRequest",
      `Parsing OData Select and Expand failed: Could not find a property named '${unknown}' on type 'microsoft.graph.mobileApp'.`,
    );
  return (app) =>
    Object.fromEntries(
      ["@odata.type", "id", ...names].filter((name) => name in app).map((name) => [name, app[name]]),
    );
}
