import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import { test } from "node:test";
import { type ErrorCode, UserError } from "../../src/domain/errors.ts";
import { html } from "../../src/html/html.ts";
import { answerForm, type FormAnswers, type Result, trySave, tryUpload } from "../../src/http/answer-form.ts";
import { statusOf } from "../../src/http/answers/errors.ts";
import { navigation, startApp } from "../support/app.ts";
import { textOf } from "../support/deploy/answers.ts";

const script = { "hx-request": "true" };

/** A request as far as `answerForm` reads it. */
function requestWith(headers: Record<string, string>): IncomingMessage {
  return { headers, socket: {} } as unknown as IncomingMessage;
}

/** Answers that record which of them were made. */
function answersWith(made: string[]): FormAnswers<number> {
  return {
    redirect: (id) => {
      made.push("redirect");
      return `/things/${id}`;
    },
    page: ({ message }) => {
      made.push("page");
      return html`page: ${message}`;
    },
    fragment: ({ value, error }) => {
      made.push("fragment");
      return html`fragment: ${value} ${error?.message}`;
    },
  };
}

test("every error code has one status", () => {
  const statuses: Record<ErrorCode, number> = {
    ...{ malformed: 400, unauthorized: 401, forbidden: 403, "not-found": 404, conflict: 409, stale: 409 },
    ...{ "too-large": 413, misdirected: 421, invalid: 422, "too-often": 429, busy: 503, full: 507 },
  };

  for (const [code, status] of Object.entries(statuses))
    assert.equal(statusOf(new UserError(code as ErrorCode, "why")), status, code);
});

test("a form is answered with a page, a fragment or a line, and only that answer is made", async () => {
  const saved: Result<number> = { value: 7 };
  const refused: Result<number> = { error: new UserError("conflict", "taken", { name: "taken" }) };
  const made: string[] = [];
  const ask = async (headers: Record<string, string>, outcome: Result<number>) => {
    const reply = await answerForm(requestWith(headers), outcome, answersWith(made));
    return reply.kind === "text" ? [reply.status, reply.body] : reply.kind === "redirect" && reply.location;
  };

  const replies = [
    await ask(navigation, saved),
    await ask({ "sec-fetch-mode": "navigate" }, refused),
    await ask(script, saved),
    await ask({ ...navigation, ...script }, refused),
    await ask({}, saved),
  ];

  const fragment = [200, "fragment: 7 "];
  assert.deepEqual(made, ["redirect", "page", "fragment", "fragment", "fragment"]);
  assert.deepEqual(replies, [
    ...["/things/7", [409, "page: taken"], fragment],
    ...[[409, "fragment:  taken"], fragment],
  ]);
});

test("a refused form without a page is answered like any other error", async () => {
  const error = new UserError("too-large", "too large");
  const { redirect, fragment } = answersWith([]);

  const answer = answerForm(requestWith(navigation), { error }, { redirect, fragment });

  await assert.rejects(answer, error);
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

test("messages appear in the message area of every page", async (t) => {
  const { fetch, post } = await startApp(t);

  const texts = [await textOf(fetch("/")), await textOf(post("/clients", { name: "Alpha" }, script))];
  const failed = await fetch("/clients/9", { headers: script });

  for (const text of texts) assert.match(text, /<div id="message"/);
  assert.equal(failed.headers.get("hx-retarget"), "#message");
  assert.match(readFileSync("assets/scripts/dom.js", "utf8"), /\$\("#message"\)/);
});
