import assert from "node:assert/strict";
import { test } from "node:test";
import { graphFields } from "../../src/pkg/formats/graph-app.ts";

const facts = {
  name: "Office",
  description: "Printer Office",
  publisher: "Papyrus",
  version: "1.2.3.4",
  owner: "",
  machines: ["amd64", "arm64"],
  minimumWindows: "Windows 10 1607",
} as const;

const printer = { kind: "printer" } as const;

test("a name that is too long for Intune is shortened without splitting a character", () => {
  const short = graphFields({ ...facts, name: "a".repeat(256) }, printer, "a.intunewin");
  const long = graphFields({ ...facts, name: `${"a".repeat(254)}😀b` }, printer, "a.intunewin");

  assert.equal(short?.displayName, "a".repeat(256));
  assert.equal(long?.displayName, `${"a".repeat(254)}…`);
});

test("architectures and the oldest Windows have Graph's names", () => {
  const fields = graphFields({ ...facts, minimumWindows: "Windows 11 21H2" }, printer, "a.intunewin");

  assert.equal(fields?.allowedArchitectures, "x64,arm64");
  assert.equal(fields?.minimumSupportedWindowsRelease, "Windows11_21H2");
});

test("a deployment for no machine is no app, and a missing publisher is called unknown", () => {
  const none = graphFields({ ...facts, machines: [] }, printer, "a.intunewin");
  const unnamed = graphFields({ ...facts, publisher: undefined }, printer, "a.intunewin");
  const mixed = graphFields({ ...facts, publisher: undefined }, { kind: "client" }, "a.intunewin");

  assert.deepEqual(
    [none, unnamed?.publisher, mixed?.publisher],
    [undefined, "Unknown manufacturer", "Several manufacturers"],
  );
});
