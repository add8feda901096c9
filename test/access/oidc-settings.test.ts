import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { readSettings } from "../../src/config.ts";
import { startApp, temporaryFolder } from "../support/app.ts";

const right = {
  PUBLIC_URL: "https://platen.example",
  OIDC_ISSUER: "https://id.example/realms/office",
  OIDC_CLIENT_ID: "platen",
  OIDC_CLIENT_SECRET: "zyxwv-orbit",
  OIDC_ROLES: "admin=admins,operator=techs",
};

const wrong: readonly [Record<string, string | undefined>, RegExp][] = [
  [{ OIDC_ISSUER: "http://id.example/" }, /^OIDC_ISSUER is “http:.*must use https/],
  [{ OIDC_ISSUER: "id.example" }, /^OIDC_ISSUER is “id\.example”; it looks like/],
  [{ OIDC_ISSUER: "https://id.example/?a=b" }, /^OIDC_ISSUER is .*it looks like/],
  [{ OIDC_CLIENT_ID: undefined }, /^OIDC_ISSUER needs OIDC_CLIENT_ID\.$/],
  [{ PUBLIC_URL: undefined }, /^OIDC_ISSUER needs PUBLIC_URL\.$/],
  [{ OIDC_ROLES: undefined }, /^OIDC_ISSUER needs OIDC_ROLES\.$/],
  [{ OIDC_ROLES: "chief=techs" }, /^OIDC_ROLES has “chief=techs”/],
  [{ OIDC_ISSUER: undefined }, /^OIDC_CLIENT_ID, OIDC_CLIENT_SECRET, OIDC_ROLES: set OIDC_ISSUER, too/],
  [{ OIDC_CLIENT_SECRET: "" }, /^OIDC_CLIENT_SECRET is empty/],
  [{ OIDC_CLIENT_SECRET_FILE: "/run/x" }, /OIDC_CLIENT_SECRET_FILE are both set/],
  [
    { OIDC_ISSUER: "https://accounts.google.com", OIDC_ROLES: "viewer=*" },
    /^OIDC_ROLES has \*, but anybody can have an account at accounts\.google\.com/,
  ],
  [{ LOG_FORMAT: "xml" }, /^LOG_FORMAT is “xml”; it is text or json\.$/],
  [{ METRICS: "yes" }, /^METRICS is “yes”; it is on or off\.$/],
  [{ PUBLIC_URL: "https://h/a b" }, /^PUBLIC_URL is “https:\/\/h\/a b”/],
];

test("a wrong setting is refused with its name, and no message has the secret", () => {
  for (const [changed, message] of wrong) {
    const { problems } = readSettings({ ...right, ...changed });

    assert.equal(problems.length, 1, problems.join("\n"));
    assert.match(problems[0] ?? "", message);
    assert.doesNotMatch(problems.join(), /orbit/);
  }
});

test("an issuer over https, or over http on this machine, is accepted with its roles", () => {
  const issuers = ["https://id.example/realms/office", "http://127.0.0.1:9000/", "http://localhost:9000/"];

  const found = issuers.map((issuer) => readSettings({ ...right, OIDC_ISSUER: issuer }));

  assert.deepEqual(
    found.map(({ problems, config }) => [problems, config.oidc?.issuer.href]),
    issuers.map((issuer) => [[], issuer]),
  );
  const { oidc } = found[0]?.config ?? {};
  assert.equal(oidc?.secret?.reveal(), "zyxwv-orbit");
  assert.deepEqual(oidc.roles, [
    { role: "admin", group: "admins" },
    { role: "operator", group: "techs" },
  ]);
});

test("the client secret is read from its file, and a file that cannot be read stops the start", async (t) => {
  const folder = await temporaryFolder(t);
  const { OIDC_CLIENT_SECRET: _, ...others } = right;
  const configOf = (file: string) => readSettings({ ...others, OIDC_CLIENT_SECRET_FILE: file }).config;
  writeFileSync(join(folder, "secret"), "zyxwv-orbit\n");
  mkdirSync(join(folder, "data"));

  const { app } = await startApp(t, { ...configOf(join(folder, "secret")), dataDir: join(folder, "data") });
  const missing = startApp(t, configOf(join(folder, "none")));

  assert.equal(app.oidc?.provider, "id.example");
  await assert.rejects(missing, /OIDC_CLIENT_SECRET_FILE is .*none, which cannot be read \(ENOENT\)/);
});
