import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { type TestContext, test } from "node:test";
import { pathToFileURL } from "node:url";
import readPages from "../../docs/README.md";
import { startGuarded } from "../support/access/guarded.ts";
import { startApp, type TestApp, temporaryFolder } from "../support/app.ts";

/** The links and the texts that a search of the help finds, best first. */
async function found(app: TestApp, query: string): Promise<{ path: string; text: string }[]> {
  const page = await (await app.fetch(`/help?q=${encodeURIComponent(query)}`)).text();
  const items = page.matchAll(/<li><p><a href="(\/help\/[^"]+)">(.*?)<\/li>/gs);
  return [...items].map(([, path = "", text = ""]) => ({ path, text: text.replace(/<[^>]*>/g, " ") }));
}

test("the help has every page of docs/, its list links each of them, and all links lead to a section", async (t) => {
  const app = await startApp(t);
  const files = readdirSync("docs").filter((name) => name.endsWith(".md") && name !== "README.md");

  const index = await (await app.fetch("/help")).text();
  const pages = await Promise.all(
    files.map(async (name) => {
      const path = `/help/${name.slice(0, -".md".length)}`;
      const answer = await app.fetch(path);
      return { path, status: answer.status, text: await answer.text() };
    }),
  );

  const ids = new Set(
    pages.flatMap(({ path, text }) => [path, ...anchorsOf(text).map((id) => `${path}#${id}`)]),
  );
  assert.ok(files.length > 10);
  for (const { path, status, text } of pages) {
    const links = [...text.matchAll(/href="((?:\/help\/[\w-]+)?#[\w-]+|\/help\/[\w-]+)"/g)].map(
      ([, to = ""]) => (to.startsWith("#") ? path + to : to),
    );
    assert.equal(status, 200, path);
    assert.ok(index.includes(`href="${path}"`), path);
    assert.deepEqual(
      links.filter((to) => !ids.has(to) && !to.endsWith("#main")),
      [],
      path,
    );
    assert.doesNotMatch(text, /(?:src|href|action)="https?:| style="|<script>|\[object|undefined/, path);
  }
});

function anchorsOf(page: string): string[] {
  return [...page.matchAll(/<section id="([^"]+)">/g)].map(([, id = ""]) => id);
}

test("all links from the pages of the service into the help lead to a page and section", () => {
  const [, ...pages] = readPages();
  const targets = pages.flatMap(({ name, sections }) => [name, ...sections.map(({ id }) => `${name}#${id}`)]);
  const sources = readdirSync("src/html", { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts"))
    .map((name) => readFileSync(join("src/html", name), "utf8"));

  const links = sources.flatMap((source) => [
    ...[...source.matchAll(/paths\.help\(\s*"([^"]+)"/g)].map(([, to]) => to),
    ...[...source.matchAll(/helpLinks\(\s*(\[[^)]+)\)/g)].flatMap(([, pairs = ""]) =>
      [...pairs.matchAll(/",\s*"([^"]+)"/g)].map(([, to]) => to),
    ),
  ]);

  assert.ok(links.length > 20);
  assert.deepEqual(
    links.filter((to = "") => !targets.includes(to) && to !== "licences"),
    [],
  );
});

test("a finding, a refusal and the footer without sign-in link the help", async (t) => {
  const app = await startApp(t, { host: "0.0.0.0" });
  await app.post("/printers", { name: "Office", address: "10.0.0.9" });
  const html = { accept: "text/html" };

  const large = await app.post(
    "/clients",
    { name: "x".repeat(300_000) },
    { ...html, "sec-fetch-mode": "navigate" },
  );
  const form = await (await app.fetch("/printers/1/edit")).text();
  const backups = await (await app.fetch("/backups")).text();

  assert.equal(large.status, 413);
  assert.match(await large.text(), /href="\/help\/limits"/);
  assert.match(
    form,
    /<p class="hint">Help: <a href="\/help\/driverless" target="_blank" rel="noopener">IPP<\/a>, /,
  );
  assert.match(form, /<footer class="foot">.*href="\/help\/signing-in#turn-sign-in-on"/s);
  assert.match(backups, /href="\/help\/backup"/);
});

test("the help has the words, tables and code of docs/", async (t) => {
  const app = await startApp(t);

  const text = await (await app.fetch("/help/rmm")).text();

  assert.match(text, /<h1>RMM tools<\/h1>/);
  assert.match(text, /<section id="exit-codes"><h2>Exit codes<\/h2><table>/);
  assert.match(
    text,
    /<td data-label="exit code">1603<\/td><td data-label="meaning">failed; the last line says why<\/td>/,
  );
  assert.match(text, /<pre><code>powershell\.exe -NoProfile [^<]*-File \.\\install\.ps1<\/code><\/pre>/);
  assert.match(text, /<a href="\/help\/intune#only-in-its-subnets">subnets<\/a>/);
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

test("a search without a hit says so, and shows the words as text", async (t) => {
  const app = await startApp(t);

  const nothing = await (await app.fetch("/help?q=zzyzx+%3Cqqqq%3E")).text();
  const empty = await (await app.fetch("/help?q=+")).text();
  const long = await app.fetch(`/help?q=${"printer+".repeat(1000)}`);

  assert.match(nothing, /No results\./);
  assert.match(nothing, /value="zzyzx &lt;qqqq&gt;"/);
  assert.match(empty, /Getting started/);
  assert.equal(long.status, 200);
});

test("a search of all records shows the first sections of the help, and links to the others", async (t) => {
  const app = await startApp(t);

  const found = await (await app.fetch("/search?q=subnets+%26+more")).text();
  const nothing = await (await app.fetch("/search?q=qqqq")).text();

  assert.match(found, /No client, driver or printer matches/);
  assert.match(found, /<h2>Help<\/h2><ul>(?:<li><p><a href="\/help\/[\s\S]*?<\/li>){3}<\/ul>/);
  assert.match(found, /<a href="\/help\?q=subnets%20%26%20more">Search the help<\/a>/);
  assert.doesNotMatch(nothing, /<h2>Help/);
});

test("the help's list names the version, and a page has the licences of all parts", async (t) => {
  const app = await startApp(t);
  const { version } = JSON.parse(readFileSync("package.json", "utf8"));

  const [index, licences] = await Promise.all(
    ["/help", "/help/licences"].map(async (path) => (await app.fetch(path)).text()),
  );

  assert.ok(index?.includes(`Platen ${version}, MIT licence. <a href="/help/licences">`));
  for (const part of ["Platen", "busboy", "fflate", "saxes", "sql.js", "SQLite", "htmx"])
    assert.ok(licences?.includes(part), part);
  assert.match(licences ?? "", /Permission is hereby granted, free of charge/);
});

test("a page of the help answers HEAD, and an unknown one 404 with a link to the help", async (t) => {
  const app = await startApp(t);

  const head = await app.fetch("/help/drivers", { method: "HEAD" });
  const unknown = await Promise.all(
    ["/help/nothing", "/help/__proto__", "/help/..%2fdrivers", "/help/drivers.md"].map((path) =>
      app.fetch(path, { headers: { accept: "text/html" } }),
    ),
  );

  assert.deepEqual([head.status, await head.text()], [200, ""]);
  assert.deepEqual(
    unknown.map(({ status }) => status),
    [404, 404, 404, 404],
  );
  assert.match((await unknown[0]?.text()) ?? "", /href="\/help"/);
});

test("where sign-in is on, a viewer reads the help, and others are sent to the sign-in page", async (t) => {
  const { service, viewer } = await startGuarded(t);

  const page = await viewer.fetch("/help");
  const stranger = await service.fetch("/help/security", { headers: { accept: "text/html" } });
  const signIn = await (await service.fetch("/sign-in")).text();

  assert.match(await page.text(), /<a href="\/help" aria-current="page">Help<\/a>/);
  assert.notEqual(stranger.status, 200);
  assert.doesNotMatch(signIn, /href="\/help/);
});

/** Builds the help from other documents. @returns what the build prints as its error */
async function buildErrors(t: TestContext, documents: Readonly<Record<string, string>>): Promise<string> {
  const cwd = await temporaryFolder(t);
  mkdirSync(join(cwd, "docs"));
  for (const [name, text] of Object.entries(documents)) writeFileSync(join(cwd, "docs", name), text);
  const program = `import { helpModule } from ${JSON.stringify(pathToFileURL(resolve("help.mjs")))}; helpModule();`;
  return spawnSync(process.execPath, ["--input-type=module", "-e", program], { cwd, encoding: "utf8" })
    .stderr;
}

test("the build refuses a link to a missing section and a link out of the help, and names both ends", async (t) => {
  const index = "# Help\n\n- [One](one.md)\n";

  const [right, section, file] = await Promise.all(
    ["[here](#part)", "[there](one.md#gone)", "[why](decisions/0001-one-file.md)"].map((link) =>
      buildErrors(t, { "README.md": index, "one.md": `# One\n\n## Part\n\n${link}\n` }),
    ),
  );

  assert.equal(right, "");
  assert.match(section ?? "", /docs\/one\.md links to one#gone/);
  assert.match(
    file ?? "",
    /docs\/one\.md links to decisions\/0001-one-file\.md, which is no page of the help/,
  );
});

test("a search of the help reads sixty words of a query", async (t) => {
  const app = await startApp(t);
  const unknown = (count: number) => Array.from({ length: count }, (_, i) => `qq${i}`).join(" ");

  const [within, beyond] = [
    await found(app, `${unknown(59)} subnets`),
    await found(app, `${unknown(60)} subnets`),
  ];

  assert.ok(within.length > 0);
  assert.deepEqual(beyond, []);
});
