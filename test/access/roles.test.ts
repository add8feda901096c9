import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import {
  anyone,
  type Identity,
  mayUse,
  type Role,
  type Rule,
  roles as ranks,
  unauthenticated,
} from "../../src/domain/access/access.ts";
import type { Link } from "../../src/domain/access/link.ts";
import { routes } from "../../src/http/routes.ts";
import { signInAdmin, startClosed } from "../support/access/people.ts";
import { pathOf, type RouteCase, routeCases } from "../support/access/route-cases.ts";
import {
  type PreparedSenders,
  prepareSenders,
  type SenderKind,
  senderKinds,
  startPrepared,
} from "../support/access/sender-kinds.ts";
import type { TestApp } from "../support/app.ts";
import { deepTest, isDeep, rounds, selectCases } from "../support/depth.ts";
import { stateOf } from "../support/durability/whole-state.ts";
import { makeOnce } from "../support/filled.ts";

interface Case extends RouteCase {
  readonly method: string;
  readonly path: string;
}

const cases: readonly Case[] = routes.map(({ method, path }) => {
  const found = routeCases[`${method} ${path}`];
  if (found === undefined)
    throw new Error(`test/support/access/route-cases.ts does not say who may ${method} ${path}`);
  return { ...found, method, path };
});

const isSafe = ({ method }: Case) => method === "GET";

/** The rules that each role satisfies. */
const roles: Partial<Record<SenderKind, readonly string[]>> = {
  viewer: ["person", "viewer"],
  operator: ["person", "viewer", "operator", "signing", "uploading"],
  admin: ["person", "viewer", "operator", "admin", "signing", "uploading"],
  "a token that reads": ["viewer"],
  "a token that signs": ["signing"],
  "a token that uploads": ["uploading"],
};

/** The route scopes that a token of one client or printer, or a link, can open. */
const scopes: Partial<Record<SenderKind, readonly (string | undefined)[]>> = {
  "a token of the client": ["printer", "client", "files"],
  "a token of the printer": ["printer", "files"],
  "the link of this path": ["printer", "client", "driver", "files"],
};

function isAllowed(who: SenderKind, { rule, scope }: Case): boolean {
  return rule === "open" || roles[who]?.includes(rule) === true || scopes[who]?.includes(scope) === true;
}

interface Started {
  readonly app: TestApp & { wait(): void };
  readonly senders: PreparedSenders;
}

/** Starts the service with senders that are prepared once for all tests of this file. */
async function start(t: TestContext): Promise<Started> {
  const { folder, value: senders } = await makeOnce(t, prepareSenders);
  return { senders, app: await startPrepared(t, folder) };
}

const people = ["nobody", "viewer", "operator", "admin"] as const;

/** Pairs senders with the cases that satisfy the condition; in the quick tier the first person of each case. */
function pairs(isWanted: (who: SenderKind, testCase: Case) => boolean): [SenderKind, Case][] {
  return cases.flatMap((testCase) => {
    const wanted = (isDeep ? senderKinds : people).filter((who) => isWanted(who, testCase));
    return wanted.slice(0, isDeep ? wanted.length : 1).map((who): [SenderKind, Case] => [who, testCase]);
  });
}

/** Whether Platen knows the sender. */
const isForbidden = (who: SenderKind) =>
  /^(?:viewer|operator|a token (?:of|that (?:reads|signs|uploads)))/.test(who);

/** The status of a refusal: 403 for a known sender, and 401 for others. */
function refusalStatus(who: SenderKind, { scope }: Case): number {
  if (isForbidden(who)) return 403;
  const hasBadLink = who === "the link of another path" || who === "a link that has expired";
  return hasBadLink && scope !== undefined ? 403 : 401;
}

function statusFor(who: SenderKind, testCase: Case): number {
  if (!isAllowed(who, testCase)) return refusalStatus(who, testCase);
  return testCase.statuses?.[who] ?? testCase.status;
}

/** Sends a request as a program does, with the fields of the route's form. */
async function ask(
  { app, senders }: Started,
  who: SenderKind,
  testCase: Case,
  { method = testCase.method, headers = {} }: { method?: string; headers?: Record<string, string> } = {},
): Promise<Response> {
  const { path, headers: credentials } = senders.requestAs(who, pathOf(testCase.path, senders.backup));
  const query = testCase.query === undefined ? "" : `${path.includes("?") ? "&" : "?"}${testCase.query}`;
  const init = { method, headers: { accept: "*/*", ...credentials, ...headers } };
  return app.fetch(path + query, isSafe(testCase) ? init : { ...init, body: bodyOf(testCase) });
}

function bodyOf({ file, fields }: Case): FormData | URLSearchParams {
  if (file === undefined) return new URLSearchParams(fields);
  const form = new FormData();
  form.set("file", new Blob([new Uint8Array(file)]), "driver.zip");
  return form;
}

const person = (role: Role): Identity => ({ kind: "person", name: "Jo", role });
const token = (scope: Extract<Identity, { kind: "token" }>["scope"]): Identity => {
  return { kind: "token", id: 1, name: "Datto", scope, expires_at: 0 };
};
const rules: readonly Rule[] = ["open", "person", ...ranks, "signing", "uploading"];

const anyLink: Link = {
  ...{ id: 1, maker: { kind: "none", id: 0, name: "" } },
  ...{ path: "/printers/1/publish", isInScript: false, endDay: 1, created_at: 0 },
};

test("each role includes the lower ones, and tokens and links have fewer rights than a viewer", () => {
  const table: readonly [Identity, readonly Rule[]][] = [
    [unauthenticated, ["open"]],
    [person("viewer"), ["open", "person", "viewer"]],
    [person("operator"), ["open", "person", "viewer", "operator", "signing", "uploading"]],
    [person("admin"), rules],
    [anyone, rules],
    [token({ kind: "read" }), ["open", "viewer"]],
    [token({ kind: "sign" }), ["open", "signing"]],
    [token({ kind: "upload" }), ["open", "uploading"]],
    [token({ kind: "client", id: 1 }), ["open"]],
    [token({ kind: "printer", id: 1 }), ["open"]],
    [{ kind: "link", name: "printer 1", endDay: 1, link: anyLink }, ["open"]],
  ];

  for (const [identity, allowed] of table)
    assert.deepEqual(rules.filter((rule) => mayUse(identity, rule)).sort(), [...allowed].sort());
});

test("the cases cover every route with its rule and scope, and nothing else", () => {
  const found = routes.map(({ method, path, rule, scope }) => `${method} ${path}: ${rule} ${scope}`);

  const wanted = Object.entries(routeCases).map(([name, { rule, scope }]) => `${name}: ${rule} ${scope}`);
  assert.deepEqual(found.toSorted(), wanted.toSorted());
  for (const { path, pattern } of routes) assert.match(pathOf(path, "x"), pattern);
});

/** Sends the requests of a case. @returns a line for each answer with an unexpected status */
async function wronglyAnswered(started: Started, who: SenderKind, testCase: Case): Promise<string[]> {
  const wrong: string[] = [];
  for (const method of isSafe(testCase) ? ["GET", "HEAD"] : [testCase.method]) {
    // Wrong tokens slow their sender down, which other tests cover.
    started.app.wait();
    const answer = await ask(started, who, testCase, { method });
    await answer.arrayBuffer();
    const expected = statusFor(who, testCase);
    if (answer.status !== expected)
      wrong.push(`${who}: ${method} ${testCase.path}: ${answer.status}, not ${expected}`);
  }
  return wrong;
}

deepTest("a sender without a route's right is refused and changes nothing; others can read it", async (t) => {
  const started = await start(t);
  const state = async () => `${await stateOf(started.app.dataDir)}`;
  const before = await state();
  const refused = pairs((who, testCase) => !isAllowed(who, testCase));
  const read = pairs((who, testCase) => isSafe(testCase) && isAllowed(who, testCase));
  const wrong: string[] = [];

  for (const [who, testCase] of refused) {
    wrong.push(...(await wronglyAnswered(started, who, testCase)));
    if (!isSafe(testCase) && (await state()) !== before)
      wrong.push(`${who}: ${testCase.method} ${testCase.path} changed something`);
  }
  const after = await state();
  for (const [who, testCase] of read) wrong.push(...(await wronglyAnswered(started, who, testCase)));

  assert.deepEqual(wrong, []);
  assert.equal(after, before);
  assert.ok(refused.length > 800 && read.length > 150, `${refused.length} ${read.length}`);
});

test("an allowed change takes effect and has the expected status", async (t) => {
  const changes = pairs((who, testCase) => !isSafe(testCase) && isAllowed(who, testCase));
  const tested = selectCases(changes, 4);

  for (const [who, testCase] of tested) {
    const started = await start(t);
    const before = `${await stateOf(started.app.dataDir)}`;
    assert.deepEqual(await wronglyAnswered(started, who, testCase), []);
    const isChanged = `${await stateOf(started.app.dataDir)}` !== before;
    const should = testCase.whyUnchanged === undefined && (testCase.changesFor?.includes(who) ?? true);
    assert.equal(isChanged, should, `${who}: ${testCase.method} ${testCase.path}`);
    await started.app.stop();
  }

  assert.ok(tested.length >= rounds(4, 100), `${tested.length}`);
});

/** How a program, a browser and a page script are refused: statuses, and links or redirects to the sign-in. */
async function refusalSummary(
  asking: (headers: Record<string, string>) => Promise<Response>,
): Promise<string> {
  const plain = await asking({ accept: "*/*" });
  const page = await asking({ accept: "text/html", "upgrade-insecure-requests": "1" });
  const script = await asking({ accept: "text/html", "hx-request": "true" });
  await plain.arrayBuffer();
  const shown = (await page.text()) && (await script.text());
  return JSON.stringify([
    [plain.status, page.status, script.status],
    plain.headers.has("www-authenticate"),
    page.headers.get("location")?.startsWith("/sign-in") ?? false,
    script.headers.get("hx-redirect")?.startsWith("/sign-in") ?? false,
    shown.includes("Nothing was saved") && shown.includes('href="/sign-in" target="_blank"'),
    script.headers.has("www-authenticate"),
  ]);
}

function expectedRefusal(who: SenderKind, testCase: Case): string {
  if (isForbidden(who)) return "[[403,403,403],false,false,false,false,false]";
  // The page keeps what was typed.
  if (who === "nobody" && !isSafe(testCase)) return "[[401,401,401],true,false,false,true,false]";
  return "[[401,303,401],true,true,true,false,false]";
}

test("a browser is led to the sign-in, a program is asked for a token, and a known sender is refused", async (t) => {
  const started = await start(t);

  for (const who of selectCases(["nobody", "a one-time password", "viewer", "operator"] as const, 2)) {
    const refused = cases.filter((candidate) => !isAllowed(who, candidate));
    for (const testCase of selectCases(refused, 8)) {
      const found = await refusalSummary((headers) => ask(started, who, testCase, { headers }));
      assert.equal(found, expectedRefusal(who, testCase), `${who}: ${testCase.method} ${testCase.path}`);
    }
  }
});

test("an unauthenticated sender cannot tell an existing address from a missing one, by any method", async (t) => {
  const app = await startClosed(t);
  const headers = { cookie: await signInAdmin(app) };
  await app.post("/printers", { name: "Office", address: "10.0.0.1" }, headers);
  const shapes = new Set<string>();

  for (const path of [
    "/printers/1",
    "/printers/99",
    "/nothing/at/all",
    "/accounts",
    "/printers/1/icon/delete",
  ])
    for (const method of ["GET", "HEAD", "POST", "DELETE", "PUT", "PATCH"]) {
      const answer = await app.fetch(path, { method, headers: { accept: "*/*" } });
      const text = method === "HEAD" || (await answer.text()).trim();
      shapes.add(`${answer.status} ${answer.headers.has("allow")} ${text}`);
    }

  const [told, ...others] = [...shapes].sort();
  assert.match(told ?? "", /^401 false Sign in first\. Scripts send a token: .* curl -u x:TOKEN\. .*$/);
  assert.deepEqual(others, ["401 false true"]);
});

const isDownload = /^\/(?:\w+\/)+(?:packages|scripts|archive|files)(?:\/|$)|^\/static\//;

/**
 * Follows all links from some pages. The quick tier only asks for the pages that these link to.
 * @returns the pages' texts by path; `403` for refused ones
 */
async function walk(
  { fetch }: TestApp,
  headers: Readonly<Record<string, string>>,
  starts: readonly string[],
): Promise<Map<string, string>> {
  const seen = new Map<string, string>();
  const waiting = [...starts];
  for (let path = waiting.shift(); path !== undefined; path = waiting.shift()) {
    if (seen.has(path)) continue;
    // For downloads only the status matters.
    const isFollowed = starts.includes(path) || (isDeep && !isDownload.test(path));
    const init = { method: isFollowed ? "GET" : "HEAD", headers: { ...headers, accept: "text/html" } };
    const text = await pageText(await fetch(path, init));
    seen.set(path, text);
    waiting.push(...linksIn(text));
  }
  return seen;
}

/** The paths that a page links to; in the quick tier those without a query. */
function linksIn(text: string): string[] {
  const paths = [...text.matchAll(/href="(\/[^"#]*)/g)].map(([, path = ""]) => path.replaceAll("&amp;", "&"));
  return isDeep ? paths : paths.filter((path) => !path.includes("?"));
}

async function pageText(answer: Response): Promise<string> {
  const text = await answer.text();
  if (answer.status === 403) return "403";
  return answer.headers.get("content-type")?.startsWith("text/html") === true ? text : "";
}

/** Forms and buttons of a page that a viewer cannot use. */
function unusableIn(text: string): string[] {
  const own = /^\/(?:sign-out|account\/password|account\/sessions\/(?:\d+\/)?end)$/;
  const forms = [...text.matchAll(/<form([^>]*)>/g)].map(([, attributes = ""]) => attributes);
  const posting = forms.filter((attributes) => /method="post"/.test(attributes));
  const foreign = posting.filter((attributes) => !own.test(/action="([^"]*)"/.exec(attributes)?.[1] ?? ""));
  return [...foreign, ...(text.match(/(?:hx-post|hx-delete|formaction)="[^"]*"/g) ?? [])];
}

const starts = [
  ...["/", "/account", "/search?q=office", "/printers?deleted=1", "/clients?undo=1", "/nothing", "/printers"],
  ...["/printers/4/packages/rmm", "/printers/1", "/printers/4", "/clients/1", "/drivers/1", "/drivers/3"],
];

for (const [who, first, shown] of [
  ["viewer", starts, ["/printers/1", "/clients/1", "/drivers/1", "/drivers/3", "/packages", "/account"]],
  ["operator", ["/", "/printers", "/printers/1", "/drivers/1"], ["/import", "/printers/1/edit"]],
  ["admin", ["/", "/accounts", "/audit"], ["/accounts/2", "/tokens", "/backups", "/audit", "/audit.csv"]],
] as const)
  test(`no page links to one that is refused to its reader, and no form is shown that they cannot use: ${who}`, async (t) => {
    const { senders, app } = await start(t);

    const seen = await walk(app, senders.requestAs(who, "/").headers, first);

    const refused = [...seen].filter(([, text]) => text === "403").map(([path]) => path);
    const unusable = [...seen].flatMap(([path, text]) => unusableIn(text).map((form) => [path, form]));
    assert.deepEqual(refused, []);
    if (who === "viewer") assert.deepEqual(unusable, []);
    for (const path of shown) assert.ok(seen.has(path), path);
  });
