import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { auditMatcher, parseAuditFilter } from "../../src/domain/audit/audit-filter.ts";
import { readCsv } from "../../src/domain/csv.ts";
import { parseClient } from "../../src/domain/printers/client.ts";
import { midnight } from "../../src/services/audit/audit-search.ts";
import { runAs } from "../../src/store/actor.ts";
import { verifyAudit } from "../../src/store/audit/verify.ts";
import { startApp, type TestApp } from "../support/app.ts";
import { logEntries } from "../support/audit/audit.ts";
import { recordDownload } from "../support/audit/counted.ts";
import { textsOf } from "../support/deploy/answers.ts";
import { until } from "../support/until.ts";

/** The text of each entry on a page of the log. */
async function shownEntries(app: Pick<TestApp, "fetch">, query = ""): Promise<string[]> {
  const page = await (await app.fetch(`/audit${query}`)).text();
  const items = page.split('<p class="audit-head">').slice(1);
  const texts = items.map((item) => item.slice(0, item.indexOf("</p>")).replace(/<[^>]*>/g, " "));
  return texts.map((text) => text.replace(/\s+/g, " ").trim());
}

test("the log's page shows the newest entry first, and filters by user, event, record, day and words", async (t) => {
  let now = new Date(2026, 10, 21, 12).getTime();
  const app = await startApp(t, { clock: () => now });
  const { store } = app.app;
  await app.addPrinter();
  await app.post("/printers/1", { name: "Hall", address: "10.0.0.9", driver_id: "1" });
  now += 24 * 60 * 60_000;
  await runAs({ who: "Eve", from: "2001:db8::7" }, () => store.clients.add(parseClient({ name: "Contoso" })));
  store.audit.record("sign-in-failed", { actor: { who: "mallory", from: "192.0.2.9" } });

  const [first, ...rest] = await shownEntries(app);
  const counts = [
    ...["?who=eve 1", "?who=2001:DB8 1", "?event=changed 1", "?kind=printer&id=1 2", "?kind=printer&id=2 0"],
    ...["?kind=client 1", "?since=2026-11-22 2", "?until=2026-11-21 3", "?q=hall+OFFICE 1"],
    ...["?q=nothing-like-it 0", "?event=x&since=y 5", "?id=1 4", "?id=5 0"],
  ];

  assert.match(String(first), /^Sign-in failed 22 Nov 2026, 12:00 · mallory from 192\.0\.2\.9 · entry 5$/);
  assert.equal(rest.length, 4);
  for (const row of counts) {
    const [query = "", count] = row.split(" ");
    assert.equal(`${(await shownEntries(app, query)).length}`, count, row);
  }
});

test("a record's page links to its history, which includes downloads of packages with several printers", async (t) => {
  const app = await startApp(t);
  await app.addPrinter();
  await app.addPrinter({ driver_id: "1", name: "Second" });
  const printers = [1, 2].map((id) => ({ id, revision: "a" }));
  recordDownload(app, printers, "rmm");

  const pages = await textsOf(app, ["/printers/1", "/drivers/1"]);
  const entries = await shownEntries(app, "?kind=printer&id=2");

  assert.match(pages[0] ?? "", /href="\/audit\?kind=printer&amp;id=1">History</);
  assert.match(pages[1] ?? "", /href="\/audit\?kind=driver&amp;id=1">History</);
  assert.equal(entries.map((entry) => entry.split(" ")[0]).join(), "Downloaded,Created");
});

test("the pages of a long log show each entry once", async (t) => {
  const app = await startApp(t);
  const { audit } = app.app.store;
  for (let i = 0; i < 950; i++)
    audit.record("signed-in", { actor: { who: `account ${i}`, from: "10.0.0.1" } });
  await audit.flush();

  const seen: string[] = [];
  let path: string | undefined = "/audit";
  while (path !== undefined) {
    const page: string = await (await app.fetch(path)).text();
    seen.push(...[...page.matchAll(/entry (\d+)/g)].map(([, number = ""]) => number));
    path = /href="(\/audit\?before=[^"]+)">Older/.exec(page)?.[1];
  }

  for (const [i, number] of seen.entries()) assert.equal(number, `${950 - i}`);
  assert.equal(seen.length, 950);
});

test("an entry of a hundred kilobytes is shown between others and verified", async (t) => {
  const app = await startApp(t);
  await app.post("/clients", { name: "Before" });
  const printers = Array.from({ length: 6000 }, (_, i) => ({ id: i + 1, revision: "0123456789ab" }));
  recordDownload(app, printers, "rmm");
  await app.app.store.audit.flush();
  await app.post("/clients", { name: "After" });

  const entries = await shownEntries(app);
  await app.stop();
  const { count, broken } = await verifyAudit(app.dataDir);

  assert.deepEqual(
    entries.map((entry) => entry.split(" · ")[0]?.split(" ").slice(0, 4).join(" ")),
    ["Created , client After", "Downloaded RMM 21 Nov", "Created , client Before"],
  );
  assert.deepEqual([count, broken], [3, undefined]);
});

test("a filter that no entry can match is named and not used, odd queries are escaped, and unknown fields have names", async (t) => {
  const app = await startApp(t);
  await app.post("/clients", { name: "Contoso" });
  // A restored database that somebody altered can have such names among a printer's settings.
  const names = ["unheard_of", "constructor", "__proto__", "toString"];
  const details = { what: "any", fields: names.map((name) => ({ name, from: "a", to: "b" })) };
  app.app.store.audit.record("link-made", details);
  const odd = [
    ...["before=2026-11.999999999999999", "before=../../etc.5", "before=2026-11.-1", "before=9999-99.7"],
    ...["since=2026-99-99", "q=%00%22%5C", `q=${"a".repeat(5000)}`, "who=%3Cscript%3E"],
  ];
  const page = async (query: string) => {
    const answer = await app.fetch(`/audit?${query}`);
    return `${answer.status} ${await answer.text()}`;
  };

  const several = await page("event=gone&kind=client&id=x1&since=2026-02-30&until=2026-11-21");
  const right = await page("event=created&kind=client&id=1&since=2026-11-01&until=");

  assert.match(several, /role="alert">Ignored invalid filters: Event, ID, From date\.</);
  assert.match(several, /<bdi>Contoso<\/bdi>/);
  assert.doesNotMatch(right, /invalid filters/);
  assert.match(await page("event=revoked"), /<option value="revoked" selected>Revoked<\/option>/);
  const shown = await page("event=link-made");
  for (const name of names) assert.ok(shown.includes(`<li><code>${name}</code> <del>`), name);
  for (const query of odd) assert.match(await page(query), /^200 (?![\s\S]*value="<script>)/, query);
});

/** The rows of the log's CSV, newest first, by the names of their columns. */
async function csvRows({ fetch }: TestApp, query = ""): Promise<Record<string, string>[]> {
  const [head = [], ...rows] = [...readCsv(await (await fetch(`/audit.csv${query}`)).text(), ",")];
  return rows.map((row) => Object.fromEntries(head.map((name, i) => [name, row[i] ?? ""])));
}

test("the CSV has the printers of a download, and names with markup and formulas as plain text", async (t) => {
  const app = await startApp(t);
  await app.addPrinter();
  await (await app.fetch("/printers/1/scripts/detect")).text();
  await app.post("/clients", { name: '=HYPERLINK("http://x")', notes: "<img src=x onerror=alert(1)>" });

  await until(async () => (await logEntries(app, "downloaded")).length === 1);
  const [sent] = await csvRows(app, "?event=downloaded");
  const [client = {}] = await csvRows(app, "?kind=client");
  const page = await (await app.fetch("/audit")).text();

  assert.deepEqual([sent?.what, sent?.name], ["detect", "Office"]);
  assert.match(sent?.printers ?? "", /^1 \w{12}$/);
  assert.equal(Object.keys(client)[1], "time");
  assert.deepEqual(Object.values(client).slice(2, 9), [
    ...["anyone", "127.0.0.1", "created", "client", "1", `'=HYPERLINK("http://x")`],
    `name: =HYPERLINK("http://x")\nnotes: <img src=x onerror=alert(1)>`,
  ]);
  assert.doesNotMatch(page, /<img src=x/);
  assert.match(page, /&lt;img src=x/);
});

/** Sets the time zone until the test ends. */
function useBerlinTime(t: TestContext): void {
  const zone = process.env.TZ;
  process.env.TZ = "Europe/Berlin";
  t.after(() => {
    if (zone === undefined) delete process.env.TZ;
    else process.env.TZ = zone;
  });
}

/** The changed fields of the newest entry on the log's page, as text. */
async function newestFields(app: TestApp): Promise<string[]> {
  const [, entry = ""] = (await (await app.fetch("/audit")).text()).split('<p class="audit-head">');
  const items = entry.slice(0, entry.indexOf("</ul>")).split("<li>").slice(1);
  return items.map((item) => item.replace(/<[^>]*>/g, "").trim());
}

test("changes have the labels, choices and names of the forms, and packages the names of their buttons", async (t) => {
  const app = await startApp(t);
  for (const name of ["Contoso", "Fabrikam"]) await app.post("/clients", { name });
  const printer = { name: "Office", address: "10.0.0.9", driver_id: "1" };
  await app.addPrinter({ client_id: "1", duplex: "long_edge", set_default: "on" });
  await app.post("/drivers/1", { name: "Papyrus 1.2" });

  await app.post("/printers/1", { ...printer, client_id: "2", duplex: "one_sided", paper_size: "A4" });
  const fields = await newestFields(app);
  const [entry] = await shownEntries(app);
  await app.post("/printers/1", { name: "Office", address: "10.0.0.9", paper_size: "A4" });
  const removed = await newestFields(app);
  await (await app.fetch("/drivers/1/packages/mdm")).arrayBuffer();
  const downloads = await shownEntries(app, "?event=downloaded");
  const found = await shownEntries(app, "?q=Intune");

  assert.deepEqual(fields, [
    "Client: Contoso ID 1 → Fabrikam ID 2",
    "Default printer: yes → no",
    "Two-sided printing: Two-sided, long edge → One-sided",
    "Paper size: Driver default → A4",
  ]);
  assert.match(entry ?? "", /^Changed , printer Office ID 1 history/);
  assert.deepEqual(removed, [
    "Client: Fabrikam ID 2 → nothing",
    "Driver: Papyrus 1.2 ID 1 → nothing",
    "Two-sided printing: One-sided → Driver default",
  ]);
  assert.match(downloads[0] ?? "", /^Downloaded Intune , driver/);
  // A search for the button's name finds the format.
  assert.ok(found.length > 0);
  for (const text of found) assert.match(text, /^Download(?:ed| started) /);
});

test("the page names the time zone of its times", async (t) => {
  useBerlinTime(t);
  const app = await startApp(t, { clock: () => Date.UTC(2026, 6, 1, 22, 30) });
  await app.post("/clients", { name: "Contoso" });

  const page = await (await app.fetch("/audit")).text();

  assert.match(page, /Times and days are in the time zone Europe\/Berlin\./);
  assert.match(page, /<time datetime="2026-07-01T22:30:00\.000Z">2 Jul 2026, 00:30</);
});

test("a filter for revoked tokens finds no other deletion", () => {
  const found = (event: string, kind: "token" | "client") => {
    const record = { kind, id: 1, name: "A" };
    const entry = { seq: 1, at: 0, event: "deleted", who: "boss", from: "", record } as const;
    return auditMatcher(parseAuditFilter({ event }), midnight).matches(entry, "{}");
  };

  assert.deepEqual([found("revoked", "token"), found("revoked", "client")], [true, false]);
  assert.deepEqual([found("deleted", "token"), found("deleted", "client")], [true, true]);
});

test("a day on which the clocks go back is searched completely", (t) => {
  useBerlinTime(t);
  const at = Date.UTC(2026, 9, 25, 22, 30);
  const late = { seq: 1, at, event: "started", who: "platen", from: "" } as const;
  const found = (since: string, until: string) =>
    auditMatcher(parseAuditFilter({ since, until }), midnight).matches(late, "{}");

  const days = [found("2026-10-25", "2026-10-25"), found("2026-10-26", ""), found("", "2026-10-24")];
  assert.deepEqual([...days, found("", "2026-99-99")], [true, false, false, true]);
});
