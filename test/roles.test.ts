import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { type Role, roles } from "../src/domain/access.ts";
import { routes } from "../src/http/routes.ts";
import { driverZip } from "./support/driver-zip.ts";
import { addAccount, addPerson, signIn, signInAdmin, startClosed } from "./support/people.ts";

type Who = "nobody" | "one-time" | Role;

/** The service with a record of each kind, and everybody who can ask it. */
async function startWithEverybody(t: TestContext) {
  const app = await startClosed(t);
  const admin = await signInAdmin(app);
  const cookies: Record<Who, string> = {
    nobody: "",
    "one-time": await signIn(app, "new", await addAccount(app, "new", "operator")),
    viewer: await addPerson(app, "looks", "viewer"),
    operator: await addPerson(app, "works", "operator"),
    admin,
  };
  const operator = { cookie: cookies.operator };
  await app.post("/clients", { name: "Kunde" }, operator);
  await app.upload("/drivers/upload", driverZip(), "driver.zip", operator);
  await app.post(
    "/printers",
    { name: "Office", address: "10.0.0.9", driver_id: "1", client_id: "1" },
    operator,
  );
  return { app, cookies };
}

/** A path of each route, with records that are there where it names one. */
const paths = routes.map(({ method, pattern, rule, names }) => {
  const values: Record<string, string> = { id: "1", kind: "install", format: "rmm", name: "none" };
  let path = pattern.source.slice(1, -1).replaceAll("\\/", "/").replaceAll("\\.", ".");
  for (const name of names) path = path.replace("([^/]+)", values[name] ?? "1");
  // Nobody's own session.
  return { method, path: path.replace("/sessions/1/", "/sessions/99/"), rule };
});

function isEnough(who: Who, rule: string): boolean {
  if (rule === "open") return true;
  if (who === "nobody" || who === "one-time") return false;
  return roles.indexOf(who) >= roles.indexOf(rule);
}

test("the walk through the routes has all of them, with paths that are theirs", () => {
  assert.ok(paths.length > 60, `${paths.length}`);
  for (const [i, { path }] of paths.entries()) assert.match(path, routes[i]?.pattern ?? /^$/);
});

type Ask = (headers: Record<string, string>) => Promise<Response>;

/** How a program, a browser and a script of ours are turned away: statuses, and what leads on. */
async function turnedAway(ask: Ask): Promise<string> {
  const plain = await ask({ accept: "*/*" });
  const page = await ask({ accept: "text/html", "upgrade-insecure-requests": "1" });
  const script = await ask({ accept: "text/html", "hx-request": "true" });
  return JSON.stringify([
    [plain.status, page.status, script.status],
    plain.headers.has("www-authenticate"),
    page.headers.get("location")?.startsWith("/sign-in") ?? false,
    script.headers.get("hx-redirect")?.startsWith("/sign-in") ?? false,
    script.headers.has("www-authenticate"),
  ]);
}

for (const who of ["nobody", "one-time", "viewer", "operator"] as const) {
  test(`${who} is turned away from every route that is not theirs, and nothing is changed`, async (t) => {
    const { app, cookies } = await startWithEverybody(t);
    const version = app.app.store.version();
    const isKnown = who === "viewer" || who === "operator";
    const expected = isKnown
      ? "[[403,403,403],false,false,false,false]"
      : "[[401,303,401],true,true,true,false]";
    const refused = paths.filter(({ rule }) => !isEnough(who, rule));
    const asked = refused.flatMap((route) =>
      route.method === "GET" ? [route, { ...route, method: "HEAD" }] : [route],
    );
    const wrong: string[] = [];

    for (const { method, path } of asked) {
      const found = await turnedAway(async (headers) => {
        const answer = await app.fetch(path, { method, headers: { cookie: cookies[who], ...headers } });
        await answer.arrayBuffer();
        return answer;
      });
      if (found !== expected) wrong.push(`${method} ${path}: ${found}`);
    }

    assert.deepEqual(wrong, []);
    assert.ok(asked.length > 9, `${asked.length}`);
    assert.equal(app.app.store.version(), version);
  });
}

test("who has the role is turned away from no route", async (t) => {
  const wrong: string[] = [];

  for (const who of ["nobody", "viewer", "operator", "admin"] as const) {
    const { app, cookies } = await startWithEverybody(t);
    const allowed = paths.filter(({ path, rule }) => isEnough(who, rule) && path !== "/sign-out");
    for (const { method, path } of allowed.sort((a, b) => a.method.localeCompare(b.method)).reverse()) {
      const headers = { cookie: cookies[who], accept: "*/*" };
      const answer = await app.fetch(path, { method, headers });
      await answer.arrayBuffer();
      // An account that is the administrator's is refused for what it is.
      const isAdmins = path.startsWith("/accounts/1");
      if ([401, 403].includes(answer.status) && !isAdmins)
        wrong.push(`${who} ${method} ${path}: ${answer.status}`);
    }
  }

  assert.deepEqual(wrong, []);
});

test("to nobody an address that is there looks as one that is not, whatever the method", async (t) => {
  const { app } = await startWithEverybody(t);
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

  assert.deepEqual([...shapes].sort(), ["401 false Sign in first.", "401 false true"]);
});

/** What of a page a viewer could not use. */
function uselessIn(text: string): string[] {
  const own = /^\/(?:sign-out|account\/password|account\/sessions\/(?:\d+\/)?end)$/;
  const forms = [...text.matchAll(/<form([^>]*)>/g)].map(([, attributes = ""]) => attributes);
  const posting = forms.filter((attributes) => /method="post"/.test(attributes));
  const foreign = posting.filter((attributes) => !own.test(/action="([^"]*)"/.exec(attributes)?.[1] ?? ""));
  const sending = [...text.matchAll(/(?:hx-post|hx-delete|formaction)="[^"]*"/g)].map(([found]) => found);
  return [...foreign, ...sending];
}

test("a viewer finds no form but for their own account, and no link that turns them away", async (t) => {
  const { app, cookies } = await startWithEverybody(t);
  const operator = { cookie: cookies.operator };
  await app.upload("/drivers/upload", driverZip({ catalog: null, version: "9.0.0.0" }), "b.zip", operator);
  await app.post("/printers", { name: "No driver", client_id: "1" }, operator);
  const seen = new Set<string>();
  const waiting = [
    "/",
    "/account",
    "/search?q=office",
    "/printers?deleted=1",
    "/nothing",
    "/printers/2/packages/rmm",
  ];
  const wrong: string[] = [];

  for (let path = waiting.shift(); path !== undefined; path = waiting.shift()) {
    if (seen.has(path)) continue;
    seen.add(path);
    const answer = await app.fetch(path, { headers: { cookie: cookies.viewer, accept: "text/html" } });
    if (answer.status === 403) wrong.push(`${path} is linked to`);
    const isPage = answer.headers.get("content-type")?.startsWith("text/html");
    const text = await answer.text();
    if (!isPage) continue;
    wrong.push(...uselessIn(text).map((what) => `${path}: ${what}`));
    for (const [, href = ""] of text.matchAll(/href="(\/[^"#]*)/g))
      waiting.push(href.replaceAll("&amp;", "&"));
  }

  assert.deepEqual(wrong, []);
  for (const path of ["/printers/1", "/clients/1", "/drivers/1", "/drivers/2", "/packages", "/account"])
    assert.ok(seen.has(path), path);
});

test("an operator finds no link to what is the administrator's", async (t) => {
  const { app, cookies } = await startWithEverybody(t);
  const pages = ["/", "/printers", "/printers/1", "/clients/1", "/drivers/1", "/import", "/account"];
  const read = (path: string, who: Role) =>
    app.fetch(path, { headers: { cookie: cookies[who] } }).then((answer) => answer.text());

  for (const path of pages) {
    assert.doesNotMatch(await read(path, "operator"), /href="\/accounts/, path);
    assert.match(await read(path, "admin"), /href="\/accounts/, path);
  }
});
