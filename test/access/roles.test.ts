import assert from "node:assert/strict";
import { cpSync } from "node:fs";
import { type TestContext, test } from "node:test";
import { routes } from "../../src/http/routes.ts";
import {
  everybody,
  type Prepared,
  prepareEverybody,
  startPrepared,
  type Who,
} from "../support/access/everybody.ts";
import { signInAdmin, startClosed } from "../support/access/people.ts";
import { pathOf, patternOf, type RouteCase, routeCases } from "../support/access/route-cases.ts";
import type { TestApp } from "../support/app.ts";
import { isDeep, rounds, some } from "../support/depth.ts";
import { stateOf } from "../support/durability/whole-state.ts";
import { madeOnce } from "../support/filled.ts";

interface Case extends RouteCase {
  readonly method: string;
  readonly pattern: string;
}

const tabled = routes.map((route) => ({ route, name: `${route.method} ${patternOf(route)}` }));
const cases: readonly Case[] = tabled.map(({ route, name }) => {
  const found = routeCases[name];
  if (found === undefined) throw new Error(`test/support/access/route-cases.ts does not say who may ${name}`);
  return { ...found, method: route.method, pattern: patternOf(route) };
});

const isSafe = ({ method }: Case) => method === "GET";

/** What each role may, the lower ones' too. */
const roles: Partial<Record<Who, readonly string[]>> = {
  viewer: ["person", "viewer"],
  operator: ["person", "viewer", "operator"],
  admin: ["person", "viewer", "operator", "admin"],
  "a token that reads": ["viewer"],
};

/** What a token of one client or printer, or a link, reaches. */
const reaches: Partial<Record<Who, readonly (string | undefined)[]>> = {
  "a token of the client": ["printer", "client", "files"],
  "a token of the printer": ["printer", "files"],
  "the link of this path": ["printer", "client", "driver", "files"],
};

function may(who: Who, { rule, reach }: Case): boolean {
  return rule === "open" || roles[who]?.includes(rule) === true || reaches[who]?.includes(reach) === true;
}

/** Everybody, prepared once for all tests of this file. */
async function prepareOnce(t: TestContext): Promise<Prepared> {
  const { folder, value } = await madeOnce(t, keepEverybody);
  return { ...value, dataDir: folder };
}

async function keepEverybody(t: TestContext, folder: string): Promise<Prepared> {
  const prepared = await prepareEverybody(t);
  cpSync(prepared.dataDir, folder, { recursive: true });
  return prepared;
}

/** Who asks: in the quick tier one of each role, and one who may reach a part. */
const asking = isDeep ? everybody : (["nobody", "viewer", "operator", "a token of the printer"] as const);

/** Everybody with each case that they may use, or may not. */
function pairs(isWanted: (who: Who, asked: Case) => boolean): [Who, Case][] {
  return asking.flatMap((who) =>
    cases.filter((one) => isWanted(who, one)).map((one): [Who, Case] => [who, one]),
  );
}

/** In the quick tier one of both: of each page and its head, some people ask for the one and some for the other. */
function methodsOf(who: Who, asked: Case): readonly string[] {
  if (!isSafe(asked)) return [asked.method];
  const turn = (everybody.indexOf(who) + cases.indexOf(asked)) % 2;
  return isDeep ? ["GET", "HEAD"] : [turn === 0 ? "GET" : "HEAD"];
}

const forbidden: readonly Who[] = [
  "viewer",
  "operator",
  "a token that reads",
  "a token of the client",
  "a token of the printer",
  "a token of another client",
];

/** The status for who may not: who is known is told so, everybody else is asked who they are. */
function refusal(who: Who, { reach }: Case): number {
  if (forbidden.includes(who)) return 403;
  const hasBadLink = who === "the link of another path" || who === "a link that has expired";
  return hasBadLink && reach !== undefined ? 403 : 401;
}

function statusFor(who: Who, asked: Case): number {
  if (!may(who, asked)) return refusal(who, asked);
  return asked.statuses?.[who] ?? asked.status;
}

/** Asks as a program does, with what a form would send. */
async function ask(
  { fetch }: TestApp,
  prepared: Prepared,
  who: Who,
  asked: Case,
  { method = asked.method, headers = {} }: { method?: string; headers?: Record<string, string> } = {},
): Promise<Response> {
  const { path, headers: brought } = prepared.bring(who, pathOf(asked.pattern, prepared.backup));
  const query = asked.query === undefined ? "" : `${path.includes("?") ? "&" : "?"}${asked.query}`;
  const init = { method, headers: { accept: "*/*", ...brought, ...headers } };
  return fetch(path + query, isSafe(asked) ? init : { ...init, body: bodyOf(asked) });
}

function bodyOf({ file, fields }: Case): FormData | URLSearchParams {
  if (file === undefined) return new URLSearchParams(fields);
  const form = new FormData();
  form.set("file", new Blob([new Uint8Array(file)]), "driver.zip");
  return form;
}

async function statusOf(answer: Promise<Response>): Promise<number> {
  const found = await answer;
  await found.arrayBuffer();
  return found.status;
}

test("every route of the table is walked, and nothing that is none", () => {
  const names = tabled.map(({ name }) => name);

  assert.deepEqual(Object.keys(routeCases).toSorted(), names.toSorted());
  for (const { route } of tabled) assert.match(pathOf(patternOf(route), "x"), route.pattern);
});

/** Asks for each of them, also for its head; what is answered with another status than it should be. */
async function wronglyAnswered(
  app: TestApp & { wait(): void },
  prepared: Prepared,
  asked: readonly [Who, Case][],
  seeAfter: (who: Who, one: Case) => Promise<string[]> = async () => [],
): Promise<string[]> {
  const wrong: string[] = [];
  for (const [who, one] of asked) {
    for (const method of methodsOf(who, one)) {
      // Who guesses tokens is slowed, which is tested by itself.
      app.wait();
      const status = await statusOf(ask(app, prepared, who, one, { method }));
      const expected = statusFor(who, one);
      if (status !== expected) wrong.push(`${who}: ${method} ${one.pattern}: ${status}, not ${expected}`);
    }
    wrong.push(...(await seeAfter(who, one)));
  }
  return wrong;
}

test("who may not use a route is turned away from it, whoever it is and whatever they bring, and nothing is changed", async (t) => {
  const prepared = await prepareOnce(t);
  const app = await startPrepared(t, prepared);
  const before = await stateOf(app.dataDir);
  const asked = pairs((who, one) => !may(who, one));

  // The quick tier looks once, after all of them.
  const wrong = await wronglyAnswered(app, prepared, asked, async (who, one) => {
    const isSame = !isDeep || isSafe(one) || `${await stateOf(app.dataDir)}` === `${before}`;
    return isSame ? [] : [`${who}: ${one.method} ${one.pattern} changed something`];
  });
  const after = await stateOf(app.dataDir);

  assert.deepEqual(wrong, []);
  assert.deepEqual(after, before);
  assert.ok(asked.length > rounds(200, 800), `${asked.length}`);
});

test("who may look at something is shown it, whoever it is", async (t) => {
  const prepared = await prepareOnce(t);
  const app = await startPrepared(t, prepared);
  const asked = pairs((who, one) => isSafe(one) && may(who, one));

  const wrong = await wronglyAnswered(app, prepared, asked);

  assert.deepEqual(wrong, []);
  assert.ok(asked.length > rounds(40, 150), `${asked.length}`);
});

test("what somebody may change is changed by it, and is answered as it should be", async (t) => {
  const prepared = await prepareOnce(t);
  const asked = some(
    pairs((who, one) => !isSafe(one) && may(who, one)),
    8,
  );
  const wrong: string[] = [];

  for (const [who, one] of asked) {
    const app = await startPrepared(t, prepared);
    const before = `${await stateOf(app.dataDir)}`;
    wrong.push(...(await wronglyAnswered(app, prepared, [[who, one]])));
    const isChanged = `${await stateOf(app.dataDir)}` !== before;
    const should = one.idle === undefined && (one.changesFor?.includes(who) ?? true);
    if (isChanged !== should) wrong.push(`${who}: ${one.method} ${one.pattern}: changed ${isChanged}`);
    await app.stop();
  }

  assert.deepEqual(wrong, []);
  assert.ok(asked.length >= rounds(8, 100), `${asked.length}`);
});

/** How a program, a browser and a script of ours are turned away: statuses, and what leads on. */
async function turnedAway(asking: (headers: Record<string, string>) => Promise<Response>): Promise<string> {
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
    shown.includes("nothing was saved") && shown.includes('href="/sign-in" target="_blank"'),
    script.headers.has("www-authenticate"),
  ]);
}

function expectedAway(who: Who, one: Case): string {
  if (forbidden.includes(who)) return "[[403,403,403],false,false,false,false,false]";
  // What is typed stays where it is.
  if (who === "nobody" && !isSafe(one)) return "[[401,401,401],true,false,false,true,false]";
  return "[[401,303,401],true,true,true,false,false]";
}

test("a browser is led to where people sign in, a program is asked for a token, and who is known is told no", async (t) => {
  const prepared = await prepareOnce(t);
  const app = await startPrepared(t, prepared);
  const wrong: string[] = [];

  for (const who of some(["nobody", "a one-time password", "viewer", "operator"] as const, 2)) {
    const refused = cases.filter((candidate) => !may(who, candidate));
    for (const one of some(refused, 16)) {
      const found = await turnedAway((headers) => ask(app, prepared, who, one, { headers }));
      if (found !== expectedAway(who, one)) wrong.push(`${who}: ${one.method} ${one.pattern}: ${found}`);
    }
  }

  assert.deepEqual(wrong, []);
});

test("to nobody an address that is there looks as one that is not, whatever the method", async (t) => {
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
  ]) {
    for (const method of ["GET", "HEAD", "POST", "DELETE", "PUT", "PATCH"]) {
      const answer = await app.fetch(path, { method, headers: { accept: "*/*" } });
      shapes.add(
        `${answer.status} ${answer.headers.has("allow")} ${method === "HEAD" || (await answer.text()).trim()}`,
      );
    }
  }

  const [told, ...others] = [...shapes].sort();
  assert.match(told ?? "", /^401 false Sign in first\. Programs send a token, .* curl -u x:TOKEN\.$/);
  assert.deepEqual(others, ["401 false true"]);
});
