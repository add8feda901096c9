import assert from "node:assert/strict";
import { test } from "node:test";
import { appFields, callGraph, createApp } from "../support/graph/client.ts";
import { startGraph } from "../support/graph/server.ts";

test("a request chosen by its number fails before or after its effect", async (t) => {
  const tenant = (await startGraph(t)).tenant("shop");
  tenant.fault({ at: 1, status: 429, retryAfter: 7 });
  tenant.fault({ at: 2, status: 503, when: "after" });

  const first = await callGraph(tenant, "POST", "", appFields());
  const appsAfterFirst = tenant.apps().length;
  const second = await callGraph(tenant, "POST", "", appFields());
  const third = await callGraph(tenant, "GET", "");

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

test("requests chosen by method and path fail the given number of times", async (t) => {
  const tenant = (await startGraph(t)).tenant("shop");
  tenant.fault({ method: "POST", path: /mobileApps$/, times: 2, status: 500 });

  const list = await callGraph(tenant, "GET", "");
  const created: number[] = [];
  for (let i = 0; i < 3; i++) created.push((await callGraph(tenant, "POST", "", appFields())).status);

  assert.equal(list.status, 200);
  assert.deepEqual(created, [500, 500, 201]);
  assert.equal(tenant.faults.left, 0);
});

test("a connection is reset before or after the effect of its request", async (t) => {
  const tenant = (await startGraph(t)).tenant("shop");
  tenant.fault({ reset: true });
  tenant.fault({ reset: true, when: "after" });

  await assert.rejects(callGraph(tenant, "POST", "", appFields()));
  const appsAfterFirst = tenant.apps().length;
  await assert.rejects(callGraph(tenant, "POST", "", appFields()));

  assert.equal(appsAfterFirst, 0);
  assert.equal(tenant.apps().length, 1);
  assert.deepEqual(
    tenant.requests.map(({ status }) => status),
    [0, 0],
  );
});

test("an answer can be delayed", async (t) => {
  const tenant = (await startGraph(t)).tenant("shop");
  tenant.fault({ delayMs: 150 });
  const began = performance.now();

  const { status } = await callGraph(tenant, "GET", "");

  assert.equal(status, 200);
  assert.ok(performance.now() - began >= 140);
});

for (const [when, apps] of [
  ["before", 1],
  ["after", 2],
] as const)
  test(`all requests fail from a chosen one on, ${when} its effect, until the faults are cleared`, async (t) => {
    const tenant = (await startGraph(t)).tenant("shop");
    await createApp(tenant);
    tenant.stopAt(2, when);

    const answers = [await callGraph(tenant, "GET", ""), await callGraph(tenant, "POST", "", appFields())];
    answers.push(await callGraph(tenant, "POST", "", appFields()));
    tenant.clearFaults();
    answers.push(await callGraph(tenant, "GET", ""));

    assert.deepEqual(
      answers.map(({ status }) => status),
      [200, 400, 400, 200],
    );
    assert.match(answers[1]?.error ?? "", /^SimulatedStop: /);
    assert.equal(tenant.apps().length, apps);
  });

test("onRequest gets a request before its effect", async (t) => {
  const tenant = (await startGraph(t)).tenant("shop");
  const seen: string[] = [];
  tenant.onRequest = ({ method, area, number, body }) => {
    seen.push(`${number} ${area} ${method} ${typeof body} ${tenant.apps().length}`);
  };

  await createApp(tenant);
  await callGraph(tenant, "GET", "");

  assert.deepEqual(seen, ["1 graph POST object 0", "2 graph GET undefined 1"]);
});

test("tenants are separate, and an unknown tenant is not found", async (t) => {
  const graph = await startGraph(t);
  const [one, two] = [graph.tenant("one"), graph.tenant("two")];
  await createApp(one);

  const { status } = await fetch(`${one.graphUrl.replace("/one", "/three")}/beta/`);

  assert.equal(status, 404);
  assert.deepEqual(two.apps(), []);
  assert.throws(() => graph.tenant("one"), /one cannot be a new tenant's name/);
});
