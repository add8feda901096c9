// Makes the service's help from docs/: a module with the markup of every section, so that nothing parses Markdown at run time.
import { readFileSync } from "node:fs";
import { Marked } from "marked";

/** @typedef {import("marked").Token} Token @typedef {import("marked").Tokens.Heading} Heading */

const index = "docs/README.md";

/** The files that the module is made of: the index, and the pages that it links. */
export function helpFiles() {
  const pages = [...readFileSync(index, "utf8").matchAll(/\]\(([\w-]+)\.md\)/g)];
  return [index, ...pages.map(([, name]) => `docs/${name}.md`)];
}

/** The source of a module whose default export returns the index and the pages, in the order of the index. */
export function helpModule() {
  const files = helpFiles();
  const names = files.map(nameOf);
  const pages = files.map((file) => pageOf(file, names));
  checkLinks(pages);
  const sources = pages.map(
    ({ name, title, sections }) =>
      `{ name: ${JSON.stringify(name)}, title: ${JSON.stringify(title)}, sections: [${sections.map(sectionSource)}] }`,
  );
  return `import { html } from "./src/html/html.ts";\nexport default () => [${sources.join(",\n")}];\n`;
}

/** The index is the page without a name. @param {string} file */
function nameOf(file) {
  return file === index ? "" : file.slice("docs/".length, -".md".length);
}

/** @typedef {{ id: string, level: number, heading: string, body: string }} Section */
/** @typedef {{ name: string, title: string, sections: Section[] }} Page */

/**
 * @param {string} file
 * @param {readonly string[]} names of all pages
 * @returns {Page}
 */
function pageOf(file, names) {
  const marked = new Marked({ renderer: rendererFor(nameOf(file), names) });
  const [first, ...rest] = marked.lexer(readFileSync(file, "utf8"));
  if (first?.type !== "heading") throw new Error(`${file} does not begin with its title.`);
  /** @type {{ title?: Heading, tokens: Token[] }[]} */
  const parts = [{ tokens: [] }];
  for (const token of rest) {
    if (token.type === "heading") parts.push({ title: /** @type {Heading} */ (token), tokens: [] });
    else parts.at(-1)?.tokens.push(token);
  }
  /** @type {Section[]} */
  const sections = parts.map(({ title, tokens }) => ({
    id: title === undefined ? "" : slug(plain(title.tokens)),
    level: title?.depth ?? 0,
    heading: title === undefined ? "" : marked.Parser.parseInline(title.tokens, marked.defaults),
    body: marked.parser(tokens).trim(),
  }));
  const filled = sections.filter(({ heading, body }) => heading !== "" || body !== "");
  return { name: nameOf(file), title: plain(first.tokens ?? []), sections: filled };
}

/**
 * Pages may link only each other: the service has no other file of the repository, and no page links another host. It
 * leaves pictures out, because they show its own pages.
 * @param {string} page
 * @param {readonly string[]} names
 * @returns {import("marked").RendererObject}
 */
function rendererFor(page, names) {
  return {
    link({ href, tokens }) {
      const [, name = page, anchor = ""] = /^(?:([\w-]+)\.md)?(#[\w-]+)?$/.exec(href) ?? [href, href];
      if (!names.includes(name))
        throw new Error(`docs/${page}.md links to ${href}, which is no page of the help.`);
      return `<a href="/help/${name}${anchor}">${this.parser.parseInline(tokens)}</a>`;
    },
    html: () => "",
    image: () => "",
    code: ({ text }) => `<pre><code>${escaped(text)}</code></pre>\n`,
    table({ header, rows }) {
      const labels = header.map(({ tokens }) => escaped(plain(tokens)));
      const heads = header.map(({ tokens }) =>
        tokens.length === 0 ? "<td></td>" : `<th scope="col">${this.parser.parseInline(tokens)}</th>`,
      );
      const row = (/** @type {import("marked").Tokens.TableCell[]} */ cells) =>
        cells.map(({ tokens }, i) => `<td data-label="${labels[i]}">${this.parser.parseInline(tokens)}</td>`);
      const body = rows.map((cells) => `<tr>${row(cells).join("")}</tr>\n`);
      return `<table><thead><tr>${heads.join("")}</tr></thead>\n<tbody>\n${body.join("")}</tbody></table>\n`;
    },
  };
}

/** The text of a heading or cell without its markup. @param {Token[]} tokens @returns {string} */
function plain(tokens) {
  return tokens
    .map((token) =>
      "tokens" in token && token.tokens ? plain(token.tokens) : "text" in token ? token.text : "",
    )
    .join("");
}

/** The anchor that GitHub gives a heading. @param {string} heading */
function slug(heading) {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, "")
    .replaceAll(" ", "-");
}

/** @param {string} text */
function escaped(text) {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
}

/** @param {readonly Page[]} pages @throws Error naming the links to sections that do not exist */
function checkLinks(pages) {
  const targets = pages.flatMap(({ name, sections }) => [name, ...sections.map(({ id }) => `${name}#${id}`)]);
  const links = pages.flatMap(({ name, sections }) =>
    [
      ...sections
        .map(({ body }) => body)
        .join("")
        .matchAll(/href="\/help\/([\w-]*)(#[\w-]+)?"/g),
    ].map(([, to, anchor = ""]) => ({ from: name, to: `${to}${anchor}` })),
  );
  const broken = links.filter(({ to }) => !targets.includes(to));
  if (broken.length > 0)
    throw new Error(broken.map(({ from, to }) => `docs/${from || "README"}.md links to ${to}`).join(", "));
}

/** @param {Section} section */
function sectionSource({ id, level, heading, body }) {
  const template = (/** @type {string} */ text) => `html\`${text.replace(/[\\`]|\$\{/g, "\\$&")}\``;
  return `{ id: ${JSON.stringify(id)}, level: ${level}, heading: ${template(heading)}, body: ${template(body)} }`;
}
