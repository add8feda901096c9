import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { type TestContext, test } from "node:test";
import { pathToFileURL } from "node:url";
import readPages from "../../docs/README.md";
import { startGuarded } from "../support/access/guarded.ts";
import { startApp, type TestApp, temporaryFolder } from "../support/app.ts";
import { fetchAll, statusesOf, textOf, textsOf } from "../support/deploy/answers.ts";

/** The links and the texts that a search of the help finds, best first. `joined` has nothing in place of tags. */
async function found(app: TestApp, query: string) {
  const page = await textOf(app.fetch(`/help?q=${encodeURIComponent(query)}`));
  const items = page.matchAll(/<li><p><a href="(\/help\/[^"]+)">(.*?)<\/li>/gs);
  return [...items].map(([, path = "", item = ""]) => ({
    path,
    text: item.replace(/<[^>]*>/g, " "),
    joined: item.replace(/<[^>]*>/g, "").replaceAll("&#39;", "'"),
  }));
}

function anchorsOf(page: string): string[] {
  return [...page.matchAll(/<section id="([^"]+)">/g)].map(([, id = ""]) => id);
}

/** The texts of the files below a folder whose names match. */
function sourcesIn(folder: string, names: RegExp): string[] {
  const found = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => names.test(name));
  return found.map((name) => readFileSync(join(folder, name), "utf8"));
}

test("the help has every page of docs/, its list links each of them, and all links lead to a section", async (t) => {
  const app = await startApp(t);
  const files = readdirSync("docs").filter((name) => name.endsWith(".md") && name !== "README.md");
  const paths = files.map((name) => `/help/${name.slice(0, -".md".length)}`);

  const index = await textOf(app.fetch("/help"));
  const answers = await fetchAll(app, paths);
  const texts = await Promise.all(answers.map(textOf));

  const pages = texts.map((text, i) => ({ path: paths[i] ?? "", text }));
  const ids = pages.flatMap(({ path, text }) => [path, ...anchorsOf(text).map((id) => `${path}#${id}`)]);
  assert.ok(files.length > 10);
  assert.deepEqual(new Set(statusesOf(answers)), new Set([200]));
  for (const { path, text } of pages) {
    const links = [...text.matchAll(/href="((?:\/help\/[\w-]+)?#[\w-]+|\/help\/[\w-]+)"/g)].map(
      ([, to = ""]) => (to.startsWith("#") ? path + to : to),
    );
    const broken = links.filter((to) => !ids.includes(to) && !to.endsWith("#main"));
    assert.ok(index.includes(`href="${path}"`), path);
    assert.deepEqual(broken, [], path);
    assert.doesNotMatch(text, /(?:src|href|action)="https?:| style="|<script>|\[object|undefined/, path);
  }
});

test("all links from the pages of the service into the help lead to a page and section", () => {
  const [, ...pages] = readPages();
  const targets = pages.flatMap(({ name, sections }) => [name, ...sections.map(({ id }) => `${name}#${id}`)]);

  const links = sourcesIn("src/html", /\.ts$/).flatMap((source) => [
    ...[...source.matchAll(/paths\.help\(\s*"([^"]+)"/g)].map(([, to]) => to),
    ...[...source.matchAll(/helpLinks\(\s*(\[[^)]+)\)/g)].flatMap(([, pairs = ""]) =>
      [...pairs.matchAll(/",\s*"([^"]+)"/g)].map(([, to]) => to),
    ),
  ]);

  const unknown = links.filter((to = "") => !targets.includes(to) && to !== "licences");
  assert.ok(links.length > 20);
  assert.deepEqual(unknown, []);
});

test("a finding, a refusal and the footer without sign-in link the help", async (t) => {
  const app = await startApp(t, { host: "0.0.0.0" });
  await app.post("/printers", { name: "Office", address: "10.0.0.9" });
  const browser = { accept: "text/html", "sec-fetch-mode": "navigate" };

  const large = await app.post("/clients", { name: "x".repeat(300_000) }, browser);
  const form = await textOf(app.fetch("/printers/1/edit"));
  const backups = await textOf(app.fetch("/backups"));

  assert.equal(large.status, 413);
  assert.match(await large.text(), /href="\/help\/limits"/);
  assert.match(
    form,
    /<p class="hint">Help: <a href="\/help\/driverless" target="_blank" rel="noopener">IPP<\/a>, /,
  );
  assert.match(form, /<footer class="foot">.*href="\/help\/signing-in#turn-sign-in-on"/s);
  assert.match(backups, /href="\/help\/backup"/);
});

test("the help has the words, tables and code of docs/, the version, and the licences of all parts", async (t) => {
  const app = await startApp(t);
  const { version } = JSON.parse(readFileSync("package.json", "utf8"));

  const [text = "", index = "", licences = ""] = await textsOf(app, ["/help/rmm", "/help", "/help/licences"]);

  assert.match(text, /<h1>RMM tools<\/h1>/);
  assert.match(text, /<section id="exit-codes"><h2>Exit codes<\/h2><table>/);
  assert.match(
    text,
    /<td data-label="exit code">1603<\/td><td data-label="meaning">failed; the last line says why<\/td>/,
  );
  assert.match(text, /<pre><code>powershell\.exe -NoProfile [^<]*-File \.\\install\.ps1<\/code><\/pre>/);
  assert.match(text, /<a href="\/help\/intune#only-in-its-subnets">subnets<\/a>/);
  assert.ok(index.includes(`Platen ${version}, MIT licence. <a href="/help/licences">`));
  for (const part of ["Platen", "busboy", "fflate", "saxes", "sql.js", "SQLite", "htmx"])
    assert.ok(licences.includes(part), part);
  assert.match(licences, /Permission is hereby granted, free of charge/);
});

test("a section's plain text is searched, and a hit leads to the section and shows its best line", async (t) => {
  const app = await startApp(t);

  const [first] = await found(app, "Platen answers 421 host name");
  const [code] = await found(app, "exit code 1618");
  const [plural] = await found(app, "SUBNETS intune");

  assert.match(first?.path ?? "", /^\/help\/operating#host-names-421$/);
  assert.match(
    first?.text ?? "",
    /^Operating Platen: Host names: 421 .*If Platen answers 421, it does not know the host name/,
  );
  assert.match(code?.text ?? "", /1618/);
  assert.equal(plural?.path, "/help/intune#only-in-its-subnets");
});

test("a search without a hit says so, and shows the words as text; sixty words of a query are read", async (t) => {
  const app = await startApp(t);
  const unknown = (count: number) => Array.from({ length: count }, (_, i) => `qq${i}`).join(" ");

  const [nothing = "", empty = ""] = await textsOf(app, ["/help?q=zzyzx+%3Cqqqq%3E", "/help?q=+"]);
  const long = await app.fetch(`/help?q=${"printer+".repeat(1000)}`);
  const within = await found(app, `${unknown(59)} subnets`);
  const beyond = await found(app, `${unknown(60)} subnets`);

  assert.match(nothing, /No results\./);
  assert.match(nothing, /value="zzyzx &lt;qqqq&gt;"/);
  assert.match(empty, /Getting started/);
  assert.equal(long.status, 200);
  assert.ok(within.length > 0);
  assert.deepEqual(beyond, []);
});

test("a search of all records shows the first sections of the help, and links to the others", async (t) => {
  const app = await startApp(t);

  const [found = "", nothing = ""] = await textsOf(app, ["/search?q=subnets+%26+more", "/search?q=qqqq"]);

  assert.match(found, /No client, driver or printer matches/);
  assert.match(found, /<h2>Help<\/h2><ul>(?:<li><p><a href="\/help\/[\s\S]*?<\/li>){3}<\/ul>/);
  assert.match(found, /<a href="\/help\?q=subnets%20%26%20more">Search the help<\/a>/);
  assert.doesNotMatch(nothing, /<h2>Help/);
});

test("a page of the help answers HEAD, and an unknown one 404 with a link to the help", async (t) => {
  const app = await startApp(t);
  const ask = (path: string) => app.fetch(path, { headers: { accept: "text/html" } });

  const head = await app.fetch("/help/drivers", { method: "HEAD" });
  const unknown = await Promise.all(
    ["/help/nothing", "/help/__proto__", "/help/..%2fdrivers", "/help/drivers.md"].map(ask),
  );

  assert.deepEqual([head.status, await head.text()], [200, ""]);
  assert.deepEqual(statusesOf(unknown), [404, 404, 404, 404]);
  assert.match((await unknown[0]?.text()) ?? "", /href="\/help"/);
});

test("where sign-in is on, a viewer reads the help, and others are sent to the sign-in page", async (t) => {
  const { service, viewer } = await startGuarded(t);

  const page = await textOf(viewer.fetch("/help"));
  const stranger = await service.fetch("/help/security", { headers: { accept: "text/html" } });
  const signIn = await textOf(service.fetch("/sign-in"));

  assert.match(page, /<a href="\/help" aria-current="page">Help<\/a>/);
  assert.notEqual(stranger.status, 200);
  assert.doesNotMatch(signIn, /href="\/help/);
});

/** Builds the help from a page with a link. @returns what the build prints as its error */
async function buildErrors(t: TestContext, link: string): Promise<string> {
  const cwd = await temporaryFolder(t);
  mkdirSync(join(cwd, "docs"));
  writeFileSync(join(cwd, "docs", "README.md"), "# Help\n\n- [One](one.md)\n");
  writeFileSync(join(cwd, "docs", "one.md"), `# One\n\n## Part\n\n${link}\n`);
  const program = `import { helpModule } from ${JSON.stringify(pathToFileURL(resolve("help.mjs")))}; helpModule();`;
  return spawnSync(process.execPath, ["--input-type=module", "-e", program], { cwd, encoding: "utf8" })
    .stderr;
}

test("the build refuses a link to a missing section and a link out of the help, and names both ends", async (t) => {
  const right = await buildErrors(t, "[here](#part)");
  const section = await buildErrors(t, "[there](one.md#gone)");
  const file = await buildErrors(t, "[why](decisions/0001-one-file.md)");

  assert.equal(right, "");
  assert.match(section, /docs\/one\.md links to one#gone/);
  assert.match(file, /docs\/one\.md links to decisions\/0001-one-file\.md, which is no page of the help/);
});

/** The messages that docs/errors.md explains: the first cell of each row. `…` stands for the parts that vary. */
const explained = [...readFileSync("docs/errors.md", "utf8").matchAll(/^\| `([^`]+)`/gm)].map(
  ([, message = ""]) => message,
);

/** Whether a source has the constant parts of a message, in their order and close together. */
function hasMessage(source: string, message: string): boolean {
  const parts = message.split("…").map((part) => part.trim().replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  return new RegExp(parts.join("[^\\n]{1,200}?")).test(source);
}

test("the sources have every message that docs/errors.md explains", () => {
  const sources = sourcesIn("src", /\.(?:ts|ps1)$/);

  const unknown = explained.filter((message) => !sources.some((source) => hasMessage(source, message)));

  assert.ok(explained.length > 30);
  assert.deepEqual(unknown, []);
});

test("the search finds the explanation of a pasted message, whatever its names and numbers are", async (t) => {
  const app = await startApp(t);
  const wrong: string[] = [];

  for (const message of explained) {
    const varied = message.replaceAll("…", "„Empfang 3“ 10.20.30.40");
    const [first] = await found(app, `Failed: Büro 12: ${varied} (0x80070bcb)`);
    const [start = ""] = message.split("…").filter((part) => part.length > 3);
    if (!first?.path.startsWith("/help/errors#") || !first.joined.includes(start.trim())) wrong.push(message);
  }

  assert.deepEqual(wrong, []);
});
