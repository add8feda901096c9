import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import type { SignInBehaviour } from "../support/graph/behaviour.ts";
import { readAnswer } from "../support/graph/client.ts";
import { startGraph } from "../support/graph/server.ts";
import type { Tenant } from "../support/graph/tenant.ts";

const client = "14d82eec-204b-4c2f-b7e8-296a70dab67e";
const scope = "https://graph.microsoft.com/DeviceManagementApps.ReadWrite.All";

async function post(tenant: Tenant, action: string, form: Record<string, string>) {
  const url = `${tenant.loginUrl}/organizations/oauth2/v2.0/${action}`;
  return await readAnswer(await fetch(url, { method: "POST", body: new URLSearchParams(form) }));
}

/** Starts a sign-in in a new tenant. @returns the answer to its start, and a function that polls for the token */
async function startSignIn(t: TestContext, signIn: Partial<SignInBehaviour>, wanted = scope) {
  const tenant = (await startGraph(t)).tenant("shop", { signIn });
  const start = await post(tenant, "devicecode", { client_id: client, scope: wanted });
  const grant_type = "urn:ietf:params:oauth:grant-type:device_code";
  const form = { grant_type, client_id: client, device_code: String(start.body.device_code) };
  return { tenant, start, poll: (changes = {}) => post(tenant, "token", { ...form, ...changes }) };
}

test("polls get their answers in order, and Graph accepts the token", async (t) => {
  const { tenant, start, poll } = await startSignIn(t, { answers: ["authorization_pending"] });

  const pending = await poll();
  const signedIn = await poll();
  const repeated = await poll();
  const headers = { authorization: `Bearer ${signedIn.body.access_token}` };
  const listed = await fetch(`${tenant.graphUrl}/beta/deviceAppManagement/mobileApps`, { headers });

  assert.match(String(start.body.message), /enter the code ABCD-1234/);
  assert.deepEqual([pending.status, pending.body.error], [400, "authorization_pending"]);
  assert.match(String(pending.body.error_description), /AADSTS70016.*\r\nTrace ID/);
  assert.equal(signedIn.status, 200);
  assert.equal(signedIn.body.refresh_token, undefined);
  assert.equal(listed.status, 200);
  assert.equal(repeated.body.error, "bad_verification_code");
});

test("a poll that comes too soon gets slow_down and lengthens the interval", async (t) => {
  const { tenant, poll } = await startSignIn(t, { interval: 1, answers: [] });

  const answers = [await poll(), await poll()];

  assert.deepEqual(
    answers.map(({ body }) => body.error),
    ["slow_down", "slow_down"],
  );
  assert.deepEqual([tenant.signIns.polls, tenant.signIns.tooFast], [2, 2]);
});

for (const answer of ["authorization_declined", "expired_token", "bad_verification_code"])
  test(`a sign-in can end with ${answer}`, async (t) => {
    const { poll } = await startSignIn(t, { answers: [answer] });

    const { status, body } = await poll();

    assert.deepEqual([status, body.error], [400, answer]);
  });

test("a code expires", async (t) => {
  const { poll } = await startSignIn(t, { expiresIn: 0, answers: [] });

  const { body } = await poll();

  assert.equal(body.error, "expired_token");
});

test("a refresh token is issued for offline_access and works once", async (t) => {
  const { tenant, poll } = await startSignIn(t, { answers: [] }, `${scope} offline_access`);
  const { body } = await poll();
  const form = { grant_type: "refresh_token", client_id: client, refresh_token: String(body.refresh_token) };

  const fresh = await post(tenant, "token", form);
  const repeated = await post(tenant, "token", form);

  assert.equal(fresh.status, 200);
  assert.notEqual(fresh.body.access_token, body.access_token);
  assert.deepEqual([repeated.status, repeated.body.error], [400, "invalid_grant"]);
});

test("a sign-in needs a client, the permission's scope and a known tenant", async (t) => {
  const graph = await startGraph(t);
  const tenant = graph.tenant("shop");
  const unknown = graph.tenant("unknown", {
    signIn: { refusal: "invalid_request AADSTS90002: No such tenant." },
  });

  const answers = [
    await post(tenant, "devicecode", { scope }),
    await post(tenant, "devicecode", { client_id: "platen", scope }),
    await post(tenant, "devicecode", { client_id: client, scope: "openid" }),
    await post(unknown, "devicecode", { client_id: client, scope }),
  ];

  assert.deepEqual(
    answers.map(({ body }) => body.error),
    ["invalid_request", "unauthorized_client", "invalid_scope", "invalid_request"],
  );
  assert.deepEqual(answers[3]?.body.error_codes, [90002]);
});
