import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { addPerson, signInAdmin, startClosed } from "../support/access/people.ts";
import type { startApp } from "../support/app.ts";
import { driverZip } from "../support/drivers/driver-zip.ts";

/** The service with a record of each kind, and people of each role. */
async function startWithPeople(t: TestContext) {
  const app = await startClosed(t);
  const cookies = {
    viewer: await addPerson(app, "looks", "viewer"),
    operator: await addPerson(app, "works", "operator"),
    admin: await signInAdmin(app),
  };
  const operator = { cookie: cookies.operator };
  await app.post("/clients", { name: "Kunde" }, operator);
  await app.upload("/drivers/upload", driverZip(), "driver.zip", operator);
  await app.upload("/drivers/upload", driverZip({ catalog: null, version: "9.0.0.0" }), "b.zip", operator);
  await app.post(
    "/printers",
    { name: "Office", address: "10.0.0.9", driver_id: "1", client_id: "1" },
    operator,
  );
  await app.post("/printers", { name: "No driver", client_id: "1" }, operator);
  const models = { models: ["Papyrus A", "Papyrus B"], version: "5.0.0.0" };
  await app.upload("/drivers/upload", driverZip(models), "c.zip", operator);
  await app.post("/printers", { name: "No model", address: "10.0.0.8", driver_id: "3" }, operator);
  await app.post("/clients", { name: "Gone" }, operator);
  await app.post("/clients/2/delete", {}, operator);
  return { app, cookies };
}

const isDownload = /^\/(?:\w+\/)+(?:packages|scripts|archive|files)(?:\/|$)|^\/static\//;

/** Follows all links from some pages. @returns the pages' texts by path; `403` for refused ones */
async function walk(
  { fetch }: Awaited<ReturnType<typeof startApp>>,
  cookie: string,
  starts: readonly string[],
): Promise<Map<string, string>> {
  const seen = new Map<string, string>();
  const waiting = [...starts];
  for (let path = waiting.shift(); path !== undefined; path = waiting.shift()) {
    if (seen.has(path)) continue;
    // For downloads only the status matters.
    const method = isDownload.test(path) && !starts.includes(path) ? "HEAD" : "GET";
    const text = await pageText(await fetch(path, { method, headers: { cookie, accept: "text/html" } }));
    seen.set(path, text);
    for (const [, href = ""] of text.matchAll(/href="(\/[^"#]*)/g))
      waiting.push(href.replaceAll("&amp;", "&"));
  }
  return seen;
}

async function pageText(answer: Response): Promise<string> {
  const text = await answer.text();
  if (answer.status === 403) return "403";
  return answer.headers.get("content-type")?.startsWith("text/html") === true ? text : "";
}

const starts = [
  "/",
  "/account",
  "/search?q=office",
  "/printers?deleted=1",
  "/clients?undo=1",
  "/nothing",
  "/printers/2/packages/rmm",
];

/** Forms and buttons of a page that a viewer cannot use. */
function unusableIn(text: string): string[] {
  const own = /^\/(?:sign-out|account\/password|account\/sessions\/(?:\d+\/)?end)$/;
  const forms = [...text.matchAll(/<form([^>]*)>/g)].map(([, attributes = ""]) => attributes);
  const posting = forms.filter((attributes) => /method="post"/.test(attributes));
  const foreign = posting.filter((attributes) => !own.test(/action="([^"]*)"/.exec(attributes)?.[1] ?? ""));
  const sending = [...text.matchAll(/(?:hx-post|hx-delete|formaction)="[^"]*"/g)].map(([found]) => found);
  return [...foreign, ...sending];
}

test("a viewer's pages have no forms except for their own account, and no links to refused pages", async (t) => {
  const { app, cookies } = await startWithPeople(t);

  const seen = await walk(app, cookies.viewer, starts);

  const wrong = [...seen].flatMap(([path, text]) =>
    text === "403" ? [`${path} is linked to`] : unusableIn(text).map((what) => `${path}: ${what}`),
  );
  assert.deepEqual(wrong, []);
  for (const path of ["/printers/1", "/clients/1", "/drivers/1", "/drivers/2", "/packages", "/account"])
    assert.ok(seen.has(path), path);
});

test("an operator's pages have no links to refused pages, and an administrator's lead to all their pages", async (t) => {
  const { app, cookies } = await startWithPeople(t);

  const operators = await walk(app, cookies.operator, starts);
  const admins = await walk(app, cookies.admin, ["/"]);

  const turnedAway = [...operators].filter(([, text]) => text === "403").map(([path]) => path);
  assert.deepEqual(turnedAway, []);
  assert.ok(operators.has("/import") && operators.has("/printers/1/edit"));
  for (const path of ["/accounts", "/accounts/2", "/tokens", "/backups", "/audit", "/audit.csv", "/account"])
    assert.ok(admins.has(path), path);
  assert.ok(![...admins.values()].includes("403"));
});
