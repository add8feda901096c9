import assert from "node:assert/strict";
import { test } from "node:test";
import { appFields, ask, createdApp } from "../support/graph/client.ts";
import { startGraph } from "../support/graph/server.ts";

test("a request chosen by its number fails, before its effect or after it", async (t) => {
  const tenant = (await startGraph(t)).tenant("shop");
  tenant.fault({ at: 1, status: 429, retryAfter: 7 });
  tenant.fault({ at: 2, status: 503, when: "after" });

  const first = await ask(tenant, "POST", "", appFields());
  const appsAfterFirst = tenant.apps().length;
  const second = await ask(tenant, "POST", "", appFields());
  const third = await ask(tenant, "GET", "");

  assert.deepEqual([first.status, second.status, third.status], [429, 503, 200]);
  assert.equal(first.headers.get("retry-after"), "7");
  assert.match(first.error, /^TooManyRequests: /);
  assert.equal(appsAfterFirst, 0);
  assert.equal(tenant.apps().length, 1);
  assert.deepEqual(
    tenant.requests.map(({ hasEffect }) => hasEffect),
    [false, true, true],
  );
});

test("a request chosen by what it is fails as often as wanted", async (t) => {
  const tenant = (await startGraph(t)).tenant("shop");
  tenant.fault({ method: "POST", path: /mobileApps$/, times: 2, status: 500 });

  const list = await ask(tenant, "GET", "");
  const created: number[] = [];
  for (let i = 0; i < 3; i++) created.push((await ask(tenant, "POST", "", appFields())).status);

  assert.equal(list.status, 200);
  assert.deepEqual(created, [500, 500, 201]);
  assert.equal(tenant.faults.left, 0);
});

test("a connection breaks, with the effect or without", async (t) => {
  const tenant = (await startGraph(t)).tenant("shop");
  tenant.fault({ reset: true });
  tenant.fault({ reset: true, when: "after" });

  await assert.rejects(ask(tenant, "POST", "", appFields()));
  const appsAfterFirst = tenant.apps().length;
  await assert.rejects(ask(tenant, "POST", "", appFields()));

  assert.equal(appsAfterFirst, 0);
  assert.equal(tenant.apps().length, 1);
  assert.deepEqual(
    tenant.requests.map(({ status }) => status),
    [0, 0],
  );
});

test("an answer may come late", async (t) => {
  const tenant = (await startGraph(t)).tenant("shop");
  tenant.fault({ delayMs: 150 });
  const began = performance.now();

  const { status } = await ask(tenant, "GET", "");

  assert.equal(status, 200);
  assert.ok(performance.now() - began >= 140);
});

for (const [when, apps] of [
  ["before", 1],
  ["after", 2],
] as const)
  test(`everything stops at a chosen request, ${when} its effect, until it goes on`, async (t) => {
    const tenant = (await startGraph(t)).tenant("shop");
    await createdApp(tenant);
    tenant.stopAt(2, when);

    const answers = [await ask(tenant, "GET", ""), await ask(tenant, "POST", "", appFields())];
    answers.push(await ask(tenant, "POST", "", appFields()));
    tenant.goOn();
    answers.push(await ask(tenant, "GET", ""));

    assert.deepEqual(
      answers.map(({ status }) => status),
      [200, 400, 400, 200],
    );
    assert.match(answers[1]?.error ?? "", /^SimulatedStop: /);
    assert.equal(tenant.apps().length, apps);
  });

test("a hook sees a request before its effect", async (t) => {
  const tenant = (await startGraph(t)).tenant("shop");
  const seen: string[] = [];
  tenant.onRequest = ({ method, area, number, body }) => {
    seen.push(`${number} ${area} ${method} ${typeof body} ${tenant.apps().length}`);
  };

  await createdApp(tenant);
  await ask(tenant, "GET", "");

  assert.deepEqual(seen, ["1 graph POST object 0", "2 graph GET undefined 1"]);
});

test("tenants have nothing of each other, and addresses of nobody are told apart", async (t) => {
  const graph = await startGraph(t);
  const [one, two] = [graph.tenant("one"), graph.tenant("two")];
  await createdApp(one);

  const { status } = await fetch(`${one.graphUrl.replace("/one", "/three")}/beta/`);

  assert.equal(status, 404);
  assert.deepEqual(two.apps(), []);
  assert.throws(() => graph.tenant("one"), /one cannot be a new tenant's name/);
});
