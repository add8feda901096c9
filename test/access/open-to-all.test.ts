import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { isOpenToAll, lacksAdmin, readConfig } from "../../src/config.ts";
import { adminPassword, startClosed } from "../support/access/people.ts";
import { proxySettings } from "../support/access/proxies.ts";
import { startApp, temporaryFolder } from "../support/app.ts";
import { serve } from "../support/service.ts";
import { until } from "../support/until.ts";

const line = /Sign-in is turned off\. Anyone who reaches this page can run code as SYSTEM on your PCs/;

test("every page warns that everyone can change Platen, where other machines can connect without sign-in", async (t) => {
  const open = await startApp(t, { host: undefined });
  const own = await startApp(t, { host: "127.0.0.1" });
  const closed = await startClosed(t, { host: undefined });
  const textOf = async ({ fetch }: typeof open, path: string) =>
    (await fetch(path, { headers: { accept: "text/html" } })).text();

  for (const path of ["/", "/printers", "/import", "/search?q=a", "/nothing"]) {
    assert.match(await textOf(open, path), line, path);
    assert.doesNotMatch(await textOf(own, path), line, path);
  }
  assert.doesNotMatch(await textOf(closed, "/sign-in"), line);
});

/** The service's output from start to end. */
async function outputWith(t: TestContext, environment: Record<string, string>): Promise<string> {
  const service = await serve(t, await temporaryFolder(t), environment);
  await fetch(`${service.url}/health`);
  service.process.kill("SIGTERM");
  // This line follows the warning in the same stream.
  await until(() => service.output().includes("SIGTERM: finishing"));
  await service.exited;
  return service.output();
}

const proxy = { TRUSTED_PROXIES: "127.0.0.1", REMOTE_USER_HEADER: "Remote-User" };

test("the log warns once at the start that sign-in is off, with the setting to use", async (t) => {
  const output = await outputWith(t, { HOST: "0.0.0.0" });
  const isOpen = (environment: Record<string, string>) => isOpenToAll(readConfig(environment));

  assert.equal(output.split(/warning: sign-in is off: .*Set ADMIN_PASSWORD_FILE/).length, 2, output);
  assert.doesNotMatch(output, /nobody is administrator/);
  const closed = { HOST: "0.0.0.0", ADMIN_PASSWORD: adminPassword };
  assert.deepEqual([{ HOST: "0.0.0.0" }, { HOST: "localhost" }, closed].map(isOpen), [true, false, false]);
});

test("the log reports at the start that the settings name no administrator, and what to set", async (t) => {
  const output = await outputWith(t, { HOST: "0.0.0.0", ...proxy });
  const isLacking = (environment: Record<string, string>) => lacksAdmin(readConfig(environment));

  const groups = "set REMOTE_GROUPS_HEADER with REMOTE_GROUPS=admin=GROUP,….*, or ADMIN_PASSWORD_FILE\n";
  assert.match(output, new RegExp(`warning: nobody is administrator: .* ${groups}`));
  assert.doesNotMatch(output, /sign-in is off/);
  const secret = { OIDC_CLIENT_ID: "platen", OIDC_CLIENT_SECRET: "secret-of-platen" };
  const client = { ...secret, OIDC_ISSUER: "https://id.example" };
  const named = [
    { ...proxy, REMOTE_GROUPS: "admin=*" },
    { ...proxy, ADMIN_PASSWORD: adminPassword },
    { ...client, OIDC_ROLES: "admin=admins", PUBLIC_URL: "https://platen.example" },
  ];
  assert.deepEqual([proxy, proxySettings, ...named].map(isLacking), [true, false, false, false, false]);
});
