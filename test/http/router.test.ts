import assert from "node:assert/strict";
import { test } from "node:test";
import { textReply } from "../../src/http/answers/reply.ts";
import {
  type Context,
  findRoute,
  get,
  type RequestContext,
  type Route,
  runRoute,
} from "../../src/http/router.ts";
import { routes } from "../../src/http/routes.ts";

/** Empty, because the handlers here read only the path's parameters. */
const base = {} as RequestContext;

/** The context that a route's handler gets for a path. */
async function contextFor(route: Route, path: string): Promise<object> {
  let given: object = {};
  const handler = (context: object) => {
    given = context;
    return textReply(200, "");
  };
  const found = findRoute([{ ...route, handler }], route.method, path);
  assert.equal(found.kind, "route", path);
  if (found.kind === "route") await runRoute(found, base);
  return given;
}

/** A path of each route, with `part` as the value of each parameter. */
function pathsOf(some: readonly Route[], part: string): [Route, string][] {
  return some.map((route) => [route, route.path.replace(/:\w+/g, part)]);
}

test("routes with :id pass it as an integer, others pass none, and other texts than integers are not found", async () => {
  const withId = routes.filter(({ paramNames: names }) => names.includes("id"));
  const withoutId = routes.filter(({ paramNames: names }) => !names.includes("id"));
  const wrong = ["0", "-1", "01", "1.5", "x", "1e3", "9".repeat(16)].flatMap((part) => pathsOf(withId, part));

  for (const [route, path] of pathsOf(withoutId, "7")) assert.ok(!("id" in (await contextFor(route, path))));
  for (const [route, path] of pathsOf(withId, "7"))
    assert.equal(((await contextFor(route, path)) as { id?: unknown }).id, 7);
  for (const [route, path] of wrong)
    await assert.rejects(contextFor(route, path), { code: "not-found" }, path);
  assert.ok(withId.length >= 20 && withoutId.length > 10);
});

test("a handler can read only the parameters of its route's pattern", async () => {
  const named = get("/printers/:id/scripts/:kind", "viewer", ({ id, params }) =>
    textReply(200, `${id} ${params.kind}`),
  );
  const takesId = ({ id }: Context<"id">) => textReply(200, String(id));

  // @ts-expect-error: the pattern has no :id
  get("/printers", "viewer", ({ id }) => textReply(200, String(id)));
  // @ts-expect-error: the handler needs :id, which the pattern does not have
  get("/static/:name", "open", takesId);
  // @ts-expect-error: the pattern has no :format
  get("/printers/:id", "viewer", ({ params }) => textReply(200, params.format));
  const some = [named, get("/printers/:id", "viewer", takesId)];
  const found = findRoute(some, "GET", "/printers/7/scripts/detect");
  const reply = found.kind === "route" ? await runRoute(found, base) : undefined;

  assert.equal(reply?.kind === "text" && reply.body, "7 detect\n");
});
