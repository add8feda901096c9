import assert from "node:assert/strict";
import { test } from "node:test";
import {
  anyone,
  type Identity,
  mayUse,
  nameOf,
  nobody,
  type Rule,
  roles,
} from "../../src/domain/access/access.ts";

const person = (role: (typeof roles)[number]): Identity => ({ kind: "person", name: "Jo", role });
const rules: readonly Rule[] = ["open", "person", ...roles];

/** The rules that somebody may use. */
function allowed(identity: Identity): Rule[] {
  return rules.filter((rule) => mayUse(identity, rule));
}

test("each role may do what the ones below it may", () => {
  assert.deepEqual(allowed(person("viewer")), ["open", "person", "viewer"]);
  assert.deepEqual(allowed(person("operator")), ["open", "person", "viewer", "operator"]);
  assert.deepEqual(allowed(person("admin")), ["open", "person", "viewer", "operator", "admin"]);
});

test("without sign-in everybody may do everything, with it nobody but who is known", () => {
  assert.deepEqual(allowed(anyone), rules);
  assert.deepEqual(allowed(nobody), ["open"]);
});

test("a token that may read looks as a viewer does, and one of a client or printer has no role", () => {
  const token = (scope: Extract<Identity, { kind: "token" }>["scope"]) =>
    ({ kind: "token", id: 1, name: "Datto", scope, expires_at: 0 }) as const;

  assert.deepEqual(allowed(token({ kind: "read" })), ["open", "viewer"]);
  assert.deepEqual(allowed(token({ kind: "client", id: 1 })), ["open"]);
  assert.deepEqual(allowed(token({ kind: "printer", id: 1 })), ["open"]);
  assert.deepEqual(allowed({ kind: "link", name: "printer 1", endDay: 1 }), ["open"]);
});

test("a program is told apart from a person of the same name", () => {
  assert.equal(nameOf(person("viewer")), "Jo");
  assert.equal(
    nameOf({ kind: "token", id: 1, name: "Jo", scope: { kind: "read" }, expires_at: 0 }),
    "token Jo",
  );
});
