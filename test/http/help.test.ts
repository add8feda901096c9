import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, test } from "node:test";
import { pathToFileURL } from "node:url";
import { navigation, startApp, type TestApp, temporaryFolder } from "../support/app.ts";
import { withoutBrowser } from "../support/browser.ts";
import { statusesOf, textOf, textsOf } from "../support/deploy/answers.ts";
import { deepTest, selectCases } from "../support/depth.ts";
import { openPage } from "../support/printers/shop-lists.ts";

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

/** The texts of the files below a folder whose names match. */
function sourcesIn(folder: string, names: RegExp): string[] {
  const found = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => names.test(name));
  return found.map((name) => readFileSync(join(folder, name), "utf8"));
}

test("the help has every page of docs/, its list links each of them, and all links of help and pages lead to a section", async (t) => {
  const app = await startApp(t);
  const files = readdirSync("docs").filter((name) => name.endsWith(".md") && name !== "README.md");
  const paths = files.map((name) => `/help/${name.slice(0, -".md".length)}`);
  const fromPages = sourcesIn("src/html", /\.ts$/).flatMap((source) => [
    ...source.matchAll(/paths\.help\(\s*"([^"]+)"/g),
    ...[...source.matchAll(/helpLinks\(\s*(\[[^)]+)\)/g)].flatMap(([, pairs = ""]) => [
      ...pairs.matchAll(/",\s*"([^"]+)"/g),
    ]),
  ]);

  const index = await textOf(app.fetch("/help"));
  const texts = await textsOf(app, paths);

  const ids = paths.flatMap((path, i) => {
    const anchors = [...(texts[i] ?? "").matchAll(/<section id="([^"]+)">/g)];
    return [path, ...anchors.map(([, id]) => `${path}#${id}`)];
  });
  const unknown = fromPages.filter(([, to]) => ![...ids, "/help/licences"].includes(`/help/${to}`));
  assert.ok(files.length > 10 && fromPages.length > 20);
  const targets = unknown.map(([, to]) => to);
  assert.deepEqual(targets, []);
  for (const [i, path] of paths.entries()) {
    const text = texts[i] ?? "";
    const links = [...text.matchAll(/href="((?:\/help\/[\w-]+)?#[\w-]+|\/help\/[\w-]+)"/g)];
    const targets = links.map(([, to = ""]) => (to.startsWith("#") ? path + to : to));
    assert.ok(index.includes(`href="${path}"`), path);
    assert.deepEqual(
      targets.filter((to) => !ids.includes(to) && !to.endsWith("#main")),
      [],
      path,
    );
    assert.doesNotMatch(text, /(?:src|href|action)="https?:| style="|<script>|\[object|undefined/, path);
  }
});

test("a finding, a refusal and the footer without sign-in link the help", async (t) => {
  const app = await startApp(t, { host: "0.0.0.0" });
  await app.post("/printers", { name: "Office", address: "10.0.0.9" });

  const large = await app.post("/clients", { name: "x".repeat(300_000) }, navigation);
  const [form = "", backups = ""] = await textsOf(app, ["/printers/1/edit", "/backups"]);

  const field =
    /<p class="hint">Help: <a href="\/help\/driverless" target="_blank" rel="noopener">IPP<\/a>, /;
  assert.equal(large.status, 413);
  assert.match(await large.text(), /href="\/help\/limits"/);
  assert.match(form, field);
  assert.match(form, /<footer class="foot">.*href="\/help\/signing-in#turn-sign-in-on"/s);
  assert.match(backups, /href="\/help\/backup"/);
});

test("the help has the words, tables and code of docs/, the version, and the licences of all parts", async (t) => {
  const app = await startApp(t);
  const { version } = JSON.parse(readFileSync("package.json", "utf8"));

  const [text = "", index = "", licences = ""] = await textsOf(app, ["/help/rmm", "/help", "/help/licences"]);

  assert.match(text, /<h1>RMM tools<\/h1>/);
  assert.match(text, /<section id="exit-codes"><h2>Exit codes<\/h2><table>/);
  assert.match(text, /<td data-label="exit code">1603<\/td><td data-label="meaning">failed; the last line/);
  assert.match(text, /<pre><code>powershell\.exe -NoProfile [^<]*-File \.\\install\.ps1<\/code><\/pre>/);
  assert.match(text, /<a href="\/help\/intune#only-in-its-subnets">subnets<\/a>/);
  assert.ok(index.includes(`Platen ${version}, MIT licence. <a href="/help/licences">`));
  for (const part of ["Platen", "busboy", "fflate", "saxes", "sql.js", "SQLite", "htmx"])
    assert.ok(licences.includes(part), part);
  assert.match(licences, /Permission is hereby granted, free of charge/);
});

test("a section's plain text is searched, and a hit leads to the section and shows its best line", async (t) => {
  const app = await startApp(t);
  const unknown = (count: number) => Array.from({ length: count }, (_, i) => `qq${i}`).join(" ");

  const [first] = await found(app, "Platen answers 421 host name");
  const [code] = await found(app, "exit code 1618");
  const [plural] = await found(app, "SUBNETS intune");
  const within = await found(app, `${unknown(59)} subnets`);
  const beyond = await found(app, `${unknown(60)} subnets`);
  const long = await app.fetch(`/help?q=${"printer+".repeat(1000)}`);

  const best = /^Operating Platen: Host names: 421 .*If Platen answers 421, it does not know the host name/;
  assert.match(first?.path ?? "", /^\/help\/operating#host-names-421$/);
  assert.match(first?.text ?? "", best);
  assert.match(code?.text ?? "", /1618/);
  assert.equal(plural?.path, "/help/intune#only-in-its-subnets");
  assert.ok(within.length > 0);
  assert.deepEqual([beyond, long.status], [[], 200], "sixty words of a query are read");
});

test("a search without a hit says so and shows the words as text; one of all records shows the first sections of the help", async (t) => {
  const app = await startApp(t);

  const [nothing = "", empty = ""] = await textsOf(app, ["/help?q=zzyzx+%3Cqqqq%3E", "/help?q=+"]);
  const [all = "", none = ""] = await textsOf(app, ["/search?q=subnets+%26+more", "/search?q=qqqq"]);

  assert.match(nothing, /No results\./);
  assert.match(nothing, /value="zzyzx &lt;qqqq&gt;"/);
  assert.match(empty, /Getting started/);
  assert.match(all, /No client, driver or printer matches/);
  assert.match(all, /<h2>Help<\/h2><ul>(?:<li><p><a href="\/help\/[\s\S]*?<\/li>){3}<\/ul>/);
  assert.match(all, /<a href="\/help\?q=subnets%20%26%20more">Search the help<\/a>/);
  assert.doesNotMatch(none, /<h2>Help/);
});

test("a page of the help answers HEAD, and an unknown one 404 with a link to the help", async (t) => {
  const app = await startApp(t);
  const unknown = ["/help/nothing", "/help/__proto__", "/help/..%2fdrivers", "/help/drivers.md"];

  const head = await app.fetch("/help/drivers", { method: "HEAD" });
  const answers = await Promise.all(unknown.map((path) => app.fetch(path, { headers: navigation })));

  assert.deepEqual([head.status, await head.text()], [200, ""]);
  assert.deepEqual(statusesOf(answers), [404, 404, 404, 404]);
  for (const answer of answers) assert.match(await answer.text(), /href="\/help"/);
});

test("the build refuses a link to a missing section and a link out of the help, and names both ends", async (t) => {
  const cwd = await temporaryFolder(t);
  mkdirSync(join(cwd, "docs"));
  writeFileSync(join(cwd, "docs", "README.md"), "# Help\n\n- [One](one.md)\n");
  const links = ["[here](#part)", "[there](one.md#gone)", "[why](decisions/0001-one-file.md)"];
  const program = `import { writeFileSync } from "node:fs";
    import { helpModule } from ${JSON.stringify(pathToFileURL(resolve("help.mjs")))};
    for (const link of ${JSON.stringify(links)}) {
      writeFileSync("docs/one.md", "# One\\n\\n## Part\\n\\n" + link + "\\n");
      try { helpModule(); console.log("built"); } catch (error) { console.log(error.message); }
    }`;

  const { stdout } = spawnSync(process.execPath, ["--input-type=module", "-e", program], { cwd });

  assert.deepEqual(String(stdout).trimEnd().split("\n"), [
    "built",
    "docs/one.md links to one#gone",
    "docs/one.md links to decisions/0001-one-file.md, which is no page of the help.",
  ]);
});

/** The messages that docs/errors.md explains: the first cell of each row. `…` stands for the parts that vary. */
const rows = readFileSync("docs/errors.md", "utf8").matchAll(/^\| `([^`]+)`/gm);
const explained = [...rows].map(([, message = ""]) => message);

/** Whether a source has the constant parts of a message, in their order and close together. */
function hasMessage(source: string, message: string): boolean {
  const parts = message.split("…").map((part) => part.trim());
  if (!parts.every((part) => source.includes(part))) return false;
  const escaped = parts.map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  return new RegExp(escaped.join("[^\\n]{1,200}?")).test(source);
}

test("the sources have every message that docs/errors.md explains", () => {
  const sources = [...sourcesIn("src", /\.(?:ts|ps1)$/), ...sourcesIn("assets/scripts", /\.js$/)];

  const unknown = explained.filter((message) => !sources.some((source) => hasMessage(source, message)));

  assert.ok(explained.length > 30);
  assert.deepEqual(unknown, []);
});

test("the search finds the explanation of a pasted message, whatever its names and numbers are", async (t) => {
  const app = await startApp(t);
  const wrong: string[] = [];

  for (const message of selectCases(explained, 20)) {
    const varied = message.replaceAll("…", "„Empfang 3“ 10.20.30.40");
    const [first] = await found(app, `Failed: Büro 12: ${varied} (0x80070bcb)`);
    const [start = ""] = message.split("…").filter((part) => part.length > 3);
    if (!first?.path.startsWith("/help/errors#") || !first.joined.includes(start.trim())) wrong.push(message);
  }

  assert.deepEqual(wrong, []);
});

describe("the help in a browser", { skip: withoutBrowser, timeout: 300_000 }, () => {
  deepTest(
    "without scripts, the keyboard leads from the search to a message; tables are cards",
    async (t) => {
      const service = await startApp(t);
      const options = { javaScriptEnabled: false, viewport: { width: 360, height: 740 } };
      const page = await openPage(t, service, "/help", options);
      const pasted = "Skipped: not at this site (Lobby belongs in 10.9.9.0/24)";

      await page.getByLabel("Search words or an error message").fill(pasted);
      await page.keyboard.press("Enter");
      const first = page.locator(".results a").first();
      assert.match((await first.textContent()) ?? "", /Only in its subnets/);
      await first.press("Enter");
      const target = page.locator(":target");
      const found = [await target.textContent(), await target.isVisible()];
      await page.goto(`${service.url}/help/rmm#exit-codes`);
      const cell = `document.querySelector("#exit-codes td:last-child")`;
      const label = await page.evaluate(`getComputedStyle(${cell}, "::before").content`);
      const isHeadVisible = await page.locator("#exit-codes thead").isVisible();

      assert.match(found.join(), /Skipped: not at this site[\s\S]*,true$/);
      assert.match(String(label), /^"meaning ?"$/);
      assert.equal(isHeadVisible, false);
    },
  );

  deepTest("a link to the help beside a field opens a tab, and the form keeps what was typed", async (t) => {
    const page = await openPage(t, await startApp(t), "/printers?new=1");
    await page.getByLabel("Name").first().fill("Half typed");

    await page.getByText("Old queues and uninstall").press("Enter");
    const opened = page.context().waitForEvent("page");
    await page.getByRole("link", { name: "What is removed" }).press("Enter");
    const help = await opened;
    const title = await help.locator(":target h2").textContent();
    await help.close();

    assert.equal(title, "Remove what the printer replaces");
    assert.equal(await page.getByLabel("Name").first().inputValue(), "Half typed");
  });
});
