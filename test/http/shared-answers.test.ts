import assert from "node:assert/strict";
import { EventEmitter } from "node:events";
import type { IncomingMessage } from "node:http";
import { test } from "node:test";
import { readConfig } from "../../src/config.ts";
import { type Identity, unauthenticated } from "../../src/domain/access/access.ts";
import type { Reply } from "../../src/http/answers/reply.ts";
import { recordIdentity, recordOrigin } from "../../src/http/sender.ts";
import { SharedAnswers } from "../../src/http/shared-answers.ts";
import { startApp } from "../support/app.ts";
import { until } from "../support/until.ts";

const reply: Reply = { kind: "redirect", location: "/" };

function requestOf(identity: Identity = unauthenticated, headers = {}): IncomingMessage {
  const request = { socket: new EventEmitter(), method: "GET", url: "/printers", headers };
  const message = request as unknown as IncomingMessage;
  recordOrigin({ config: readConfig({}), random: Buffer.alloc }, message);
  recordIdentity(message, { identity });
  return message;
}

/** Answers that are made when the test says so. */
function slowAnswers() {
  const answers = new SharedAnswers();
  const runs: { readonly signal: AbortSignal; readonly finish: () => void }[] = [];
  const get = (request: IncomingMessage, version = 1) =>
    answers.get(
      request,
      version,
      (signal) =>
        new Promise<Reply>((resolve, reject) => {
          runs.push({ signal, finish: () => resolve(reply) });
          signal.addEventListener("abort", () => reject(signal.reason));
        }),
    );
  return { runs, get };
}

test("equal requests share one run, and one that comes after its end begins another", async () => {
  const { runs, get } = slowAnswers();

  const shared = [get(requestOf()), get(requestOf()), get(requestOf())];
  runs[0]?.finish();

  assert.deepEqual(await Promise.all(shared), [reply, reply, reply]);
  assert.equal(runs.length, 1);
  void get(requestOf());
  assert.equal(runs.length, 2);
});

test("another sender, another header and a change of the records each get a run of their own", () => {
  const { runs, get } = slowAnswers();
  const person = { kind: "person", name: "anna", role: "viewer" } as const;

  for (const [request, version] of [
    [requestOf(), 1],
    [requestOf(person), 1],
    [requestOf({ ...person, name: "bert" }), 1],
    [requestOf({ ...person, role: "admin" }), 1],
    [requestOf(person, { "hx-request": "true" }), 1],
    [requestOf(), 2],
  ] as const)
    void get(request, version);

  assert.equal(runs.length, 6);
});

test("a client that leaves stops nothing for those that stay, and the last one stops the run", async () => {
  const { runs, get } = slowAnswers();
  const [first, second, third] = [requestOf(), requestOf(), requestOf()];

  const stays = get(second);
  void get(first);
  first.socket.emit("close");
  const isAborted = runs[0]?.signal.aborted;
  runs[0]?.finish();
  const answered = await stays;
  const alone = get(third);
  third.socket.emit("close");

  assert.deepEqual([isAborted, answered], [false, reply]);
  assert.equal(runs[1]?.signal.aborted, true);
  await assert.rejects(alone, /the client left/);
});

test("equal requests for a publish script share its making, each with its own audit line, and it stops when all have left", async (t) => {
  const { app, requests, fetch, addPrinter, post } = await startApp(t);
  await post("/clients", { name: "Kunde" });
  await addPrinter({ client_id: "1" });
  const { overview, store } = app;
  const read = overview.read.bind(overview);
  let open = () => {};
  const opened = () => {
    const gate = new Promise<void>((resolve) => {
      open = resolve;
    });
    return t.mock.method(overview, "read", () => gate.then(read));
  };
  const renders = t.mock.method(store, "recordNumbers");
  const downloads = t.mock.method(store.audit, "record");

  const reads = opened();
  const both = [fetch("/publish"), fetch("/publish")];
  await until(() => reads.mock.callCount() > 0);
  open();
  const texts = await Promise.all(both.map(async (answer) => (await answer).text()));
  const shared = [renders.mock.callCount(), downloads.mock.callCount()];
  const again = opened();
  const aborts = t.mock.method(AbortController.prototype, "abort");
  const leaving = new AbortController();
  const left = [1, 2].map(() => fetch("/publish", { signal: leaving.signal }));
  await until(() => again.mock.callCount() > 0);
  leaving.abort();
  await Promise.allSettled(left);
  await until(() => aborts.mock.calls.some((call) => String(call.arguments[0]).includes("the client left")));
  open();
  await until(() => requests.filter(({ status }) => status === 499).length === 2);

  assert.equal(texts[0], texts[1]);
  assert.deepEqual(shared, [1, 2]);
  assert.equal(renders.mock.callCount(), 1);
});
