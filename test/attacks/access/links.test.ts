import assert from "node:assert/strict";
import type { IncomingMessage } from "node:http";
import { test } from "node:test";
import { unauthenticated } from "../../../src/domain/access/access.ts";
import { makeLink } from "../../../src/domain/access/link.ts";
import { requestLine } from "../../../src/http/answers/errors.ts";
import { startGuarded } from "../../support/access/guarded.ts";
import { navigation } from "../../support/app.ts";
import { driverZip } from "../../support/drivers/driver-zip.ts";

const page = { accept: "text/html" };

/** A service with sign-in, two printers with a driver each, and links to the first printer. */
async function startLinked(t: Parameters<typeof startGuarded>[0], clock?: () => number) {
  const guarded = await startGuarded(t, clock === undefined ? {} : { clock });
  const { admin, service } = guarded;
  await admin.addPrinter();
  const other = await admin.addDriver(driverZip({ extra: [{ name: "other.txt", bytes: "x" }] }));
  await admin.addPrinter({ name: "Other", driver_id: String(other) });
  const link = (kind: "printer" | "driver", address: string, isFiles = false) =>
    service.app.links.make({ owner: { kind, id: 1 }, address, isFiles }, { days: 7, by: unauthenticated })
      .address;
  return {
    ...guarded,
    script: link("printer", "/printers/1/scripts/install"),
    apart: link("printer", "/printers/1/packages/rmm?driver=apart"),
    files: link("driver", "/drivers/1/files", true),
  };
}

/** The statuses of GET and HEAD by address. */
async function statusesOf(
  fetch: (path: string, init?: RequestInit) => Promise<Response>,
  paths: readonly string[],
) {
  const statuses: string[] = [];
  for (const path of paths) {
    const [get, head] = [await fetch(path), await fetch(path, { method: "HEAD" })];
    statuses.push(`${get.status} ${head.status} ${path.slice(0, 60)}`);
  }
  return statuses;
}

test("a link opens no other path, query, printer or driver", async (t) => {
  const { service, script, apart, files } = await startLinked(t);
  const value = (address: string) => /link=(.*)$/.exec(address)?.[1] ?? "";
  const attempts = [
    `/printers/2/scripts/install?link=${value(script)}`,
    `/printers/1/scripts/detect?link=${value(script)}`,
    `/printers/1/packages/rmm?link=${value(script)}`,
    `/printers/1/packages/rmm?link=${value(apart)}`,
    `/printers/1/packages/mdm?driver=apart&link=${value(apart)}`,
    `/printers/1/packages/rmm?driver=apart&driver=apart&link=${value(apart)}`,
    `/printers/1/scripts/install?all=1&link=${value(script)}`,
    `${script}&all=1`,
    `${script}&link=${value(script)}`,
    `/clients/1/scripts/install?link=${value(script)}`,
    `/drivers/2/files?link=${value(files)}`,
    `/drivers/1/scripts/install?link=${value(files)}`,
    `/printers/1/scripts/%69nstall?link=${value(script)}`,
    `/printers/%31/scripts/install?link=${value(script)}`,
    `/printers/2/../1/packages/rmm?link=${value(script)}`,
  ];

  const statuses = await statusesOf(service.fetch, attempts);
  const right = await statusesOf(service.fetch, [
    script,
    apart,
    files,
    `/printers/2/../1/scripts/install?link=${value(script)}`,
  ]);

  assert.deepEqual(
    statuses,
    attempts.map((path) => `403 403 ${path.slice(0, 60)}`),
  );
  assert.deepEqual(
    right.map((line) => line.slice(0, 7)),
    ["200 200", "200 200", "200 200", "200 200"],
  );
});

test("a link with a changed character or another key's signature opens nothing", async (t) => {
  const { service, script } = await startLinked(t);
  const start = script.indexOf("link=") + "link=".length;
  const changed = Array.from({ length: script.length - start }, (_, i) => {
    const at = start + i;
    return script.slice(0, at) + (script[at] === "a" ? "b" : "a") + script.slice(at + 1);
  });
  const target = {
    owner: { kind: "printer", id: 1 } as const,
    address: "/printers/1/scripts/install",
    version: "0",
  };
  const foreign = makeLink(new Uint8Array(32), target, { endDay: 40_000 });
  const odd = [
    "",
    ".",
    "a.b",
    "0".repeat(5000),
    `${foreign}=`,
    `1e9..${"A".repeat(22)}`,
    `1e9.a1p1.${"A".repeat(22)}`,
    `1e9.p1a1.${"A".repeat(22)}`,
    `1e9.a0.${"A".repeat(22)}`,
    `-1.${"A".repeat(22)}`,
    foreign,
  ];

  const statuses = [];
  for (const address of changed) statuses.push((await service.fetch(address)).status);
  for (const text of odd)
    statuses.push(
      (await service.fetch(`/printers/1/scripts/install?link=${encodeURIComponent(text)}`)).status,
    );

  assert.deepEqual([...new Set(statuses)], [403]);
});

test("a link changes nothing and opens no page, and an ended one is answered with a remedy", async (t) => {
  let now = Date.UTC(2026, 10, 21, 12);
  const { service, script } = await startLinked(t, () => now);
  const value = /link=.*/.exec(script)?.[0] ?? "";

  const changes = await Promise.all(
    ["POST", "DELETE", "PUT"].map(async (method) => (await service.fetch(script, { method })).status),
  );
  const pages = await Promise.all(
    ["/printers/1", "/printers", "/", "/tokens", "/printers/1/edit"].map(
      async (path) => (await service.fetch(`${path}?${value}`, { headers: page })).status,
    ),
  );
  now += 9 * 24 * 60 * 60_000;
  const ended = await service.fetch(script, { headers: page });

  assert.deepEqual([...new Set(changes)], [401]);
  assert.deepEqual(
    [...new Set(pages)].every((status) => [303, 401].includes(status)),
    true,
  );
  assert.deepEqual([ended.status, ended.headers.get("location")], [403, null]);
  assert.match(await ended.text(), /This link expired on 2026-11-29/);
});

test("a request with a link ignores sessions and tokens, and its answer sets no cookie", async (t) => {
  const { admin, script, addToken, bearer } = await startLinked(t);
  const wrong = script.replace(/.$/, (last) => (last === "A" ? "B" : "A"));
  const { fetch } = bearer(await addToken("read"));

  const statuses = [await admin.fetch(wrong), await fetch(wrong), await admin.fetch(script)];

  assert.deepEqual(
    statuses.map(({ status }) => status),
    [403, 403, 200],
  );
  for (const answer of statuses) assert.equal(answer.headers.get("set-cookie"), null);
  assert.equal(statuses[2]?.headers.get("cache-control"), "private, no-cache");
});

test("a link to a deleted record does not open a later one, and revoked links stay revoked after a restore", async (t) => {
  const { service, admin, script, files } = await startLinked(t);
  await admin.post("/printers/1/links/end", {});
  const removed = await admin.post("/printers/1/delete", {}, navigation);

  const statusAfterDeletion = (await service.fetch(script)).status;
  const next = await admin.addPrinter({ name: "Next", driver_id: "1" });
  const moved = script.replace("/printers/1/", `/printers/${next}/`);
  const other = (await service.fetch(moved)).status;
  const deletion = /undo=(\d+)/.exec(removed.headers.get("location") ?? "")?.[1] ?? "1";
  await admin.post(`/deletions/${deletion}/undo`, {});
  const back = [(await admin.fetch("/printers/1")).status, (await service.fetch(script)).status];
  await admin.post("/drivers/1/links/end", {});
  const driver = (await service.fetch(files)).status;

  assert.deepEqual([statusAfterDeletion, other, ...back, driver], [403, 403, 200, 403, 403]);
});

test("a link's value is never logged, in any spelling of its parameter", async (t) => {
  const { files } = await startLinked(t);
  const value = files.slice(files.indexOf("link=") + 5);
  const paths = [
    files,
    files.replace("link=", "l%69nk=").replace(".", "%2E"),
    `/nothing?x=1&link=${value}`,
    `/printers?link=x&link=${value}`,
  ];

  const lines = paths.map((url) => requestLine({ method: "GET", url } as IncomingMessage));

  assert.deepEqual(lines, [
    "GET /drivers/1/files?link=…",
    "GET /drivers/1/files?link=…",
    "GET /nothing?link=…",
    "GET /printers?link=…",
  ]);
});
