import assert from "node:assert/strict";
import type { IncomingMessage } from "node:http";
import { test } from "node:test";
import { readConfig } from "../../src/config.ts";
import { type ErrorCode, UserError } from "../../src/domain/errors.ts";
import { html } from "../../src/html/html.ts";
import { answerForm, type FormAnswers, type Result, trySave, tryUpload } from "../../src/http/answer-form.ts";
import { statusOf } from "../../src/http/answers/errors.ts";
import { recordOrigin } from "../../src/http/sender.ts";
import { navigation } from "../support/app.ts";

const script = { "hx-request": "true" };

/** A request as far as `answerForm` reads it. */
function requestWith(headers: Record<string, string>): IncomingMessage {
  const request = { headers, socket: {} } as unknown as IncomingMessage;
  recordOrigin({ config: readConfig({}), random: Buffer.alloc }, request);
  return request;
}

test("every error code has one status", () => {
  const statuses: Record<ErrorCode, number> = {
    ...{ malformed: 400, unauthorized: 401, forbidden: 403, "not-found": 404, conflict: 409, stale: 409 },
    ...{ "too-large": 413, misdirected: 421, invalid: 422, "too-often": 429, busy: 503, full: 507 },
  };

  for (const [code, status] of Object.entries(statuses))
    assert.equal(statusOf(new UserError(code as ErrorCode, "why")), status, code);
});

test("a form is answered with a page or a fragment, only that answer is made, and without a page its error is thrown", async () => {
  const error = new UserError("conflict", "taken", { name: "taken" });
  const [saved, refused]: Result<number>[] = [{ value: 7 }, { error }];
  const made: string[] = [];
  const record = <T>(what: string, answer: T) => {
    made.push(what);
    return answer;
  };
  const answers: FormAnswers<number> = {
    redirect: (id) => record("redirect", `/things/${id}`),
    page: ({ message }) => record("page", html`page: ${message}`),
    fragment: (result) => record("fragment", html`fragment: ${result.value} ${result.error?.message}`),
  };
  const ask = async (headers: Record<string, string>, outcome = saved as Result<number>) => {
    const reply = await answerForm(requestWith(headers), outcome, answers);
    return reply.kind === "text"
      ? `${reply.status} ${reply.body}`
      : reply.kind === "redirect" && reply.location;
  };

  const replies = [
    await ask(navigation),
    await ask({ "sec-fetch-mode": "navigate" }, refused),
    await ask(script),
    await ask({ ...navigation, ...script }, refused),
    await ask({}),
  ];
  const { redirect, fragment: part } = answers;
  const pageless = answerForm(requestWith(navigation), { error }, { redirect, fragment: part });

  await assert.rejects(pageless, error);
  assert.deepEqual(made, ["redirect", "page", "fragment", "fragment", "fragment"]);
  const fragment = "200 fragment: 7 ";
  assert.deepEqual(replies, ["/things/7", "409 page: taken", fragment, "409 fragment:  taken", fragment]);
});

test("a form shows errors about its fields, an upload those about its file, and other errors are thrown", async () => {
  const field = new UserError("conflict", "taken", { name: "taken" });
  const file = new UserError("too-large", "too large");
  const failing = (error: Error) => () => Promise.reject(error);

  const shown = [await trySave(failing(field)), await tryUpload(failing(file))];

  assert.deepEqual([shown[0]?.error, shown[1]?.error], [field, file]);
  assert.deepEqual(await trySave(async () => 7), { value: 7 });
  for (const error of [new UserError("busy", "later"), new UserError("not-found", "gone"), new Error("x")]) {
    await assert.rejects(trySave(failing(error)), error);
    await assert.rejects(tryUpload(failing(error)), error);
  }
});
