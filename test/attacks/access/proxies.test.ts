import assert from "node:assert/strict";
import type { IncomingMessage } from "node:http";
import { test } from "node:test";
import { originOf } from "../../../src/http/sender.ts";
import { startClosed } from "../../support/access/people.ts";
import { groupedProxies, namingProxies, proxiesOf } from "../../support/access/proxies.ts";
import { startApp } from "../../support/app.ts";
import { deepTest } from "../../support/depth.ts";
import { connectRaw, exchange, statusOf } from "../../support/raw.ts";
import { leastTime } from "../../support/times.ts";

/** Sends a GET with further header lines. @returns the answer's text */
async function get(url: string, lines: readonly string[], path = "/printers"): Promise<string> {
  const head = [`GET ${path} HTTP/1.1`, "Host: localhost", "Connection: close", ...lines, "", ""];
  return exchange(url, Buffer.from(head.join("\r\n"), "latin1"));
}

test("a user header from an untrusted sender is refused with 400", async (t) => {
  const proxies = groupedProxies();
  const elsewhere = namingProxies({ TRUSTED_PROXIES: "10.9.9.9" });
  const [trusting, other] = [await startApp(t, { proxies }), await startApp(t, { proxies: elsewhere })];

  const named = await get(other.url, ["Remote-User: admin"]);
  const empty = await get(other.url, ["remote-user:"]);
  const open = await get(other.url, ["Remote-User: admin"], "/health");
  const claimed = await get(other.url, ["Remote-User: admin", "X-Forwarded-For: 10.9.9.9"]);
  const mapped = await get(trusting.url, ["Remote-User: jo", "Remote-Groups: techs"]);

  assert.deepEqual([named, empty, open, claimed].map(statusOf), [400, 400, 400, 400]);
  assert.match(named, /Only trusted proxies may send the header remote-user/);
  assert.equal(statusOf(mapped), 200);
});

test("a user header that is doubled, empty, folded, too long or has control characters is refused", async (t) => {
  const { url } = await startApp(t, { proxies: groupedProxies() });
  const groups = "Remote-Groups: platen-admins";
  const attempts: readonly (readonly string[])[] = [
    ["Remote-User: jo", "Remote-User: admin", groups],
    ["Remote-User:", groups],
    ["Remote-User: jo", groups, groups],
    [`Remote-User: ${"a".repeat(121)}`, groups],
    [`Remote-User: jo`, `Remote-Groups: ${"a,".repeat(4500)}`],
    ["Remote-User: a\u0085b", groups],
    ["Remote-User: a\tb", groups],
    [`Remote-User: ${Buffer.from("a\u202eb").toString("latin1")}`, groups],
    ["Remote-User: a\xffb", groups],
  ];

  const answers = [];
  for (const lines of attempts) answers.push(statusOf(await get(url, lines)));
  const groupsAlone = statusOf(await get(url, [groups]));
  // Some proxies treat a name with an underscore as the same header; Platen ignores it.
  const underscore = statusOf(await get(url, ["Remote_User: admin", "REMOTE_GROUPS: platen-admins"]));

  assert.deepEqual(
    answers,
    attempts.map(() => 400),
  );
  assert.deepEqual([groupsAlone, underscore], [401, 401]);
});

test("a group's name is not split at separators that its proxy does not use", async (t) => {
  const { url } = await startApp(t, { proxies: groupedProxies() });
  const statuses: number[] = [];

  for (const groups of [
    "a|b,platen-admins",
    "a;b,platen-admins",
    "a,platen-admins|b",
    "a;platen-admins|b",
    "platen-admins x",
    "Platen-Admins",
    "*",
    " ; ,|, ",
  ])
    statuses.push(statusOf(await get(url, ["Remote-User: jo", `Remote-Groups: ${groups}`])));

  assert.deepEqual(new Set(statuses), new Set([403]));
});

test("a chain of addresses is read from its end, up to the first address that is no trusted proxy", () => {
  const proxies = proxiesOf({ TRUSTED_PROXIES: "10.0.0.0/8,fd00::/8" });
  const from = (remoteAddress: string, chain?: string) => {
    const headers = chain === undefined ? {} : { "x-forwarded-for": chain };
    return originOf({ socket: { remoteAddress }, headers } as unknown as IncomingMessage, proxies).address;
  };
  const long = `${"1.1.1.1, ".repeat(5000)}192.0.2.1`;

  assert.equal(from("192.0.2.7", "8.8.8.8"), "192.0.2.7");
  assert.equal(from("::ffff:10.0.0.1", "192.0.2.1"), "192.0.2.1");
  assert.equal(from("10.0.0.1", "8.8.8.8, 192.0.2.1"), "192.0.2.1");
  assert.equal(from("10.0.0.1", "8.8.8.8, 192.0.2.1, 10.0.0.2,fd00::1"), "192.0.2.1");
  assert.equal(from("10.0.0.1", "10.0.0.3, 10.0.0.2"), "10.0.0.3");
  assert.equal(from("10.0.0.1", "192.0.2.1:4711"), "192.0.2.1");
  assert.equal(from("10.0.0.1", "[2001:DB8::7]:4711"), "2001:db8::7");
  assert.equal(from("10.0.0.1", "8.8.8.8, unknown"), "10.0.0.1");
  assert.equal(from("10.0.0.1", "8.8.8.8, <script>, 10.0.0.2"), "10.0.0.2");
  assert.equal(from("10.0.0.1", ",,,"), "10.0.0.1");
  assert.equal(from("10.0.0.1", `fe80::1%${"a".repeat(9000)}`), "10.0.0.1");
  assert.equal(from("10.0.0.1", long), "192.0.2.1");
  assert.equal(from("10.0.0.1"), "10.0.0.1");
});

test("of several forwarded hosts and schemes, those of the nearest proxy count", () => {
  const proxies = proxiesOf({ TRUSTED_PROXIES: "10.0.0.0/8" });
  const headers = {
    "x-forwarded-host": "made-up.example, platen.example",
    "x-forwarded-proto": "http, https",
  };
  const request = { socket: { remoteAddress: "10.0.0.1" }, headers } as unknown as IncomingMessage;

  const { host, scheme } = originOf(request, proxies);

  assert.deepEqual([host, scheme], ["platen.example", "https"]);
});

deepTest("a long chain that names trusted proxies alone costs next to nothing", async () => {
  const proxies = proxiesOf({ TRUSTED_PROXIES: "10.0.0.0/8" });
  const headers = { "x-forwarded-for": "10.1.1.1,".repeat(100_000) };
  const request = { socket: { remoteAddress: "10.0.0.1" }, headers } as unknown as IncomingMessage;

  const { address } = originOf(request, proxies);

  assert.equal(address, "10.0.0.1");
  assert.ok((await leastTime(() => originOf(request, proxies))) < 50);
});

test("quotas apply to each client behind a proxy, and the proxy may use all connections", async (t) => {
  const limits = { connections: 4, pages: 2 };
  const service = await startApp(t, { proxies: proxiesOf(), limits });
  const alone = await startApp(t, { limits });

  const behind = await Promise.all(Array.from({ length: 4 }, () => connectRaw(service.url)));
  const direct = await Promise.all(Array.from({ length: 4 }, () => connectRaw(alone.url)));
  const refused = await Promise.all(direct.slice(2).map(({ closed }) => closed));
  for (const { socket } of behind) socket.write("GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n");
  const served = await Promise.all(behind.map(({ until }) => until(/200 OK/)));
  for (const { socket } of [...behind, ...direct]) socket.destroy();

  assert.deepEqual(refused.map(statusOf), [503, 503]);
  assert.deepEqual(served.map(statusOf), [200, 200, 200, 200]);
});

test("a page of another site cannot use a forwarded host to look like Platen's own", async (t) => {
  const service = await startApp(t, { proxies: proxiesOf({ TRUSTED_PROXIES: "10.9.9.9" }) });
  const behind = await startApp(t, { proxies: proxiesOf() });
  const headers = { origin: "http://evil.example.com", "x-forwarded-host": "evil.example.com" };

  const direct = await service.post("/clients", { name: "A" }, headers);
  const forwarded = await behind.post("/clients", { name: "A" }, headers);

  assert.deepEqual([direct.status, forwarded.status], [403, 421]);
});

test("a name that only looks like an account's is another one, and the log's own names are refused", async (t) => {
  const service = await startApp(t, { proxies: groupedProxies() });
  const { accounts } = service.app.store;
  await accounts.setDisabled(await accounts.add("karl", "operator"), true);
  const ask = async (name: string) => {
    const lines = [`Remote-User: ${Buffer.from(name).toString("latin1")}`, "Remote-Groups: techs"];
    return statusOf(await get(service.url, lines));
  };

  const same = await Promise.all(["karl", "Karl", "KARL"].map(ask));
  // With a small capital, a full-width letter, and a Cyrillic letter.
  const looksAlike = await Promise.all(["ᴋarl", "ｋarl", "k\u0430rl"].map(ask));
  const kept = await Promise.all(
    ["token Datto", "link printer 1", "anyone", "Platen", "Several", "an unknown  name"].map(ask),
  );

  assert.deepEqual(same, [403, 403, 403]);
  assert.deepEqual(looksAlike, [200, 200, 200]);
  assert.deepEqual(new Set(kept), new Set([400]));
});

test("no proxy user is the administrator, and names in other alphabets work", async (t) => {
  const service = await startClosed(t, { proxies: groupedProxies() });
  const ask = async (name: string) => {
    const lines = [`Remote-User: ${Buffer.from(name).toString("latin1")}`, "Remote-Groups: techs"];
    return statusOf(await get(service.url, lines));
  };

  const administrators = await Promise.all(["admin", "Admin"].map(ask));
  const others = await Promise.all(["Сара", "Νίκος", "Ирина Смирнова", "Işıl", "Անի"].map(ask));

  assert.deepEqual(new Set(administrators), new Set([403]));
  assert.deepEqual(new Set(others), new Set([200]));
});
