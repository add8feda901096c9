import assert from "node:assert/strict";
import { test } from "node:test";
import {
  anyone,
  type Identity,
  mayUse,
  nameOf,
  type Rule,
  roles,
  unauthenticated,
} from "../../src/domain/access/access.ts";

const person = (role: (typeof roles)[number]): Identity => ({ kind: "person", name: "Jo", role });
const rules: readonly Rule[] = ["open", "person", ...roles];

function allowed(identity: Identity): Rule[] {
  return rules.filter((rule) => mayUse(identity, rule));
}

test("each role includes the lower ones", () => {
  assert.deepEqual(allowed(person("viewer")), ["open", "person", "viewer"]);
  assert.deepEqual(allowed(person("operator")), ["open", "person", "viewer", "operator"]);
  assert.deepEqual(allowed(person("admin")), ["open", "person", "viewer", "operator", "admin"]);
});

test("without sign-in everyone may do everything; with it, unauthenticated senders may use open routes only", () => {
  assert.deepEqual(allowed(anyone), rules);
  assert.deepEqual(allowed(unauthenticated), ["open"]);
});

test("a token for everything has the role of a viewer, and a token of a client or printer has no role", () => {
  const token = (scope: Extract<Identity, { kind: "token" }>["scope"]) =>
    ({ kind: "token", id: 1, name: "Datto", scope, expires_at: 0 }) as const;

  assert.deepEqual(allowed(token({ kind: "read" })), ["open", "viewer"]);
  assert.deepEqual(allowed(token({ kind: "client", id: 1 })), ["open"]);
  assert.deepEqual(allowed(token({ kind: "printer", id: 1 })), ["open"]);
  assert.deepEqual(allowed({ kind: "link", name: "printer 1", endDay: 1 }), ["open"]);
});

test("the audit log's names tell a program from a person of the same name", () => {
  assert.equal(nameOf(person("viewer")), "Jo");
  assert.equal(
    nameOf({ kind: "token", id: 1, name: "Jo", scope: { kind: "read" }, expires_at: 0 }),
    "token Jo",
  );
});
