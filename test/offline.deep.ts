import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { bundle, temporaryFolder } from "./support/app.ts";
import { driverZip } from "./support/drivers/driver-zip.ts";

/** Runs a program in a network of its own, which has only the loopback interface and no route. */
function runOffline(folder: string, ...command: string[]) {
  const args = ["-rn", "sh", "-c", 'ip link set lo up && exec "$@"', "sh", ...command];
  const env = { PATH: `${process.env.PATH}:/usr/sbin`, PORT: "0", DATA_DIR: join(folder, "data") };
  return spawnSync("unshare", args, { cwd: folder, encoding: "utf8", env, maxBuffer: 1 << 28 });
}

const withoutNamespaces =
  runOffline(".", "true").status === 0 ? false : "no network namespace can be made here (unshare, ip)";

/**
 * Hosts in the bundle. Nothing of Platen opens a connection to them: they name formats and licences, are examples in texts,
 * or are in `publish.ps1` and `sign.ps1`, which run on the operator's PC.
 */
const knownHosts = new Set([
  ...["localhost", "127.0.0.1", "10.0.0.9", "printer", "platen", "platen.lan", "platen.example"],
  ...["id.example", "login.example.com", "example.com", "time.example", "authelia"],
  ...["www.w3.org", "schemas.microsoft.com", "cyclonedx.org", "sqlite.org", "mathiasbynens.be", "github.com"],
  ...["login.microsoftonline.com", "login.microsoftonline.us", "login.partner.microsoftonline.cn"],
  ...[
    "graph.microsoft.com",
    "graph.microsoft.us",
    "dod-graph.microsoft.us",
    "microsoftgraph.chinacloudapi.cn",
  ],
  ...["timestamp.digicert.com", "169.254.169.254", "accounts.google.com"],
]);

test("every page and package works in a network without a route, and no page loads anything from outside", {
  skip: withoutNamespaces,
}, async (t) => {
  const folder = await temporaryFolder(t);
  const zip = join(folder, "driver.zip");
  writeFileSync(zip, driverZip());

  const walk = runOffline(
    folder,
    process.execPath,
    join(process.cwd(), "test/support/walk.mjs"),
    bundle,
    zip,
  );
  const { pages, statuses, output } = JSON.parse(walk.stdout || "{}") as {
    pages: Record<string, string>;
    statuses: Record<string, number>;
    output: string;
  };

  assert.equal(walk.status, 0, walk.stderr);
  assert.ok(Object.keys(pages).length > 60, String(Object.keys(pages).length));
  for (const format of ["mdm", "rmm"]) assert.equal(statuses[`/printers/1/packages/${format}`], 200);
  const failed = Object.entries(statuses).filter(([, status]) => status >= 500);
  assert.deepEqual(failed, []);
  assert.doesNotMatch(output, /error [0-9a-f]{8}|EAI_AGAIN|ENOTFOUND|ENETUNREACH/);
  const loaded = Object.entries(pages).flatMap(([path, text]) =>
    [
      ...text.matchAll(
        /(?:\s(?:src|action|formaction|hx-get|hx-post|data)="|url\(["']?|@import ["'])(?:https?:)?\/\/[^"')]*/g,
      ),
    ].map(([address]) => `${path}: ${address}`),
  );
  assert.deepEqual(loaded, []);
});

test("the bundle names no host but those that are known", () => {
  const text = readFileSync(bundle, "latin1");

  const hosts = [...text.matchAll(/\b(?:https?|wss?):\/\/([\w-]+(?:\.[\w-]+)*)/g)].map(
    ([, host = ""]) => host,
  );

  assert.ok(hosts.length > 20);
  assert.deepEqual(
    [...new Set(hosts)].filter((host) => !knownHosts.has(host)),
    [],
  );
});
