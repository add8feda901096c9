import assert from "node:assert/strict";
import { test } from "node:test";
import {
  anyone,
  type Identity,
  mayUse,
  type Role,
  type Rule,
  roles,
  unauthenticated,
} from "../../src/domain/access/access.ts";

const person = (role: Role): Identity => ({ kind: "person", name: "Jo", role });
const token = (scope: Extract<Identity, { kind: "token" }>["scope"]): Identity => {
  return { kind: "token", id: 1, name: "Datto", scope, expires_at: 0 };
};
const rules: readonly Rule[] = ["open", "person", ...roles, "signing"];

test("each role includes the lower ones, and tokens and links have fewer rights than a viewer", () => {
  const table: readonly [Identity, readonly Rule[]][] = [
    [unauthenticated, ["open"]],
    [person("viewer"), ["open", "person", "viewer"]],
    [person("operator"), ["open", "person", "viewer", "operator", "signing"]],
    [person("admin"), rules],
    [anyone, rules],
    [token({ kind: "read" }), ["open", "viewer"]],
    [token({ kind: "sign" }), ["open", "signing"]],
    [token({ kind: "client", id: 1 }), ["open"]],
    [token({ kind: "printer", id: 1 }), ["open"]],
    [{ kind: "link", name: "printer 1", endDay: 1 }, ["open"]],
  ];

  for (const [identity, allowed] of table)
    assert.deepEqual(rules.filter((rule) => mayUse(identity, rule)).sort(), [...allowed].sort());
});
