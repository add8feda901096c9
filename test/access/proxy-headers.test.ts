import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { readConfig } from "../../src/config.ts";
import { adminPassword, startClosed } from "../support/access/people.ts";
import { groupedProxies, namingProxies, proxiesOf } from "../support/access/proxies.ts";
import { startApp, temporaryFolder } from "../support/app.ts";
import { selectCases } from "../support/depth.ts";
import { exchange, postText, statusOf } from "../support/raw.ts";
import { serve } from "../support/service.ts";

const hasIpv6 =
  existsSync("/proc/net/if_inet6") && readFileSync("/proc/net/if_inet6", "utf8").includes(" lo");

/** Sends a GET with header lines. @returns the answer's text */
async function get(url: string, lines: readonly string[], path = "/printers"): Promise<string> {
  const head = [`GET ${path} HTTP/1.1`, "Connection: close", ...lines, "", ""];
  return exchange(url, Buffer.from(head.join("\r\n"), "latin1"));
}

const local = "Host: localhost";

/** The statuses of a technician's requests under these names, as UTF-8. */
const statusesAs = (url: string, names: readonly string[]) =>
  Promise.all(
    names.map(async (name) => {
      const user = `Remote-User: ${Buffer.from(name).toString("latin1")}`;
      return statusOf(await get(url, [local, user, "Remote-Groups: techs"]));
    }),
  );

test("a user header from an untrusted sender is refused with 400", async (t) => {
  const trusting = await startApp(t, { proxies: groupedProxies() });
  const other = await startApp(t, { proxies: namingProxies({ TRUSTED_PROXIES: "10.9.9.9" }) });

  const answers = [
    await get(other.url, [local, "Remote-User: admin"]),
    await get(other.url, [local, "remote-user:"]),
    await get(other.url, [local, "Remote-User: admin"], "/health"),
    await get(other.url, [local, "Remote-User: admin", "X-Forwarded-For: 10.9.9.9"]),
    await get(trusting.url, [local, "Remote-User: jo", "Remote-Groups: techs"]),
  ];

  assert.deepEqual(answers.map(statusOf), [400, 400, 400, 400, 200]);
  assert.match(answers[0] ?? "", /Only trusted proxies may send the header remote-user/);
});

test("a user header that is doubled, empty, folded, too long or has control characters is refused", async (t) => {
  const { url } = await startApp(t, { proxies: groupedProxies() });
  const groups = "Remote-Groups: platen-admins";
  const names = [
    "",
    "a".repeat(121),
    "a\u0085b",
    "a\tb",
    Buffer.from("a\u202eb").toString("latin1"),
    "a\xffb",
  ];
  const attempts = [
    ["Remote-User: jo", "Remote-User: admin", groups],
    ["Remote-User: jo", groups, groups],
    ["Remote-User: jo", `Remote-Groups: ${"a,".repeat(4500)}`],
    ...names.map((name) => [`Remote-User: ${name}`, groups]),
  ];

  for (const lines of attempts)
    assert.equal(statusOf(await get(url, [local, ...lines])), 400, lines.join().slice(0, 60));
  assert.equal(statusOf(await get(url, [local, groups])), 401);
  // Some proxies treat a name with an underscore as the same header; Platen ignores it.
  const underscored = [local, "Remote_User: admin", "REMOTE_GROUPS: platen-admins"];
  assert.equal(statusOf(await get(url, underscored)), 401);
});

test("a page of another site cannot use a forwarded host to look like Platen's own", async (t) => {
  const service = await startApp(t, { proxies: proxiesOf({ TRUSTED_PROXIES: "10.9.9.9" }) });
  const behind = await startApp(t, { proxies: proxiesOf() });
  const headers = { origin: "http://evil.example.com", "x-forwarded-host": "evil.example.com" };

  const direct = await service.post("/clients", { name: "A" }, headers);
  const forwarded = await behind.post("/clients", { name: "A" }, headers);

  assert.deepEqual([direct.status, forwarded.status], [403, 421]);
});

test("a name that only looks like an account's is another one, and the log's and the administrator's are refused", async (t) => {
  const { app, url } = await startClosed(t, { proxies: groupedProxies() });
  await app.store.accounts.setDisabled(await app.store.accounts.add("karl", "operator"), true);

  const same = await statusesAs(url, ["karl", "Karl", "KARL", "admin", "Admin"]);
  // With a small capital, a full-width letter, and a Cyrillic letter; then names in other alphabets.
  const looksAlike = await statusesAs(url, ["ᴋarl", "ｋarl", "k\u0430rl"]);
  const others = await statusesAs(url, ["Сара", "Νίκος", "Ирина Смирнова", "Işıl", "Անի"]);
  const kept = ["token Datto", "link printer 1", "anyone", "Platen", "Several", "an unknown  name"];

  assert.deepEqual(new Set(same), new Set([403]));
  assert.deepEqual(new Set([...looksAlike, ...others]), new Set([200]));
  assert.deepEqual(new Set(await statusesAs(url, kept)), new Set([400]));
});

/** Statuses over IPv4 and IPv6, by the trusted proxies. */
const statusesByProxies: readonly [string, readonly number[]][] = [
  ["127.0.0.0/8", [200, 400]],
  ["::1", [400, 200]],
  ["::1,127.0.0.1", [200, 200]],
  ["::2/127", [400, 400]],
  ["fd00::/8", [400, 400]],
  ["::ffff:127.0.0.0/104", [200, 400]],
];

for (const [trusted, expected] of selectCases(statusesByProxies, 1))
  test(`a proxy is trusted by its address, as IPv4, IPv6 or mapped IPv4, and its neighbour is not: ${trusted}`, {
    skip: hasIpv6 ? false : "this machine has no IPv6 (mount)",
  }, async (t) => {
    const settings = { HOST: "::", REMOTE_USER_HEADER: "Remote-User", TRUSTED_PROXIES: trusted };
    const { url } = await serve(t, await temporaryFolder(t), settings);

    const addresses = [url, url.replace("127.0.0.1", "[::1]")];
    const answers = await Promise.all(addresses.map((address) => get(address, [local, "Remote-User: jo"])));

    assert.deepEqual(answers.map(statusOf), expected);
  });

test("behind https, the service's name is accepted in any spelling, and only its own pages may change anything", async (t) => {
  const settings = readConfig({ PUBLIC_URL: "https://platen.example", ADMIN_PASSWORD: adminPassword });
  const { url } = await startApp(t, { ...settings, dataDir: await temporaryFolder(t) });
  const ask = async (host: string) => get(url, [`Host: ${host}`], "/sign-in");
  const post = async (host: string, origin: string) => {
    const form = postText("/sign-in", "application/x-www-form-urlencoded", "name=x&password=y", { host });
    return statusOf(await exchange(url, form.toString().replace("\r\n", `\r\nOrigin: ${origin}\r\n`)));
  };
  const ours = [
    ...["platen.example", "platen.example:443", "platen.example:8443", "PLATEN.Example", "platen.example."],
    ...["PLATEN.EXAMPLE.:443", "10.0.0.1", "nas:8080"],
  ];
  const others = [
    ...["evil.example", "platen.example.evil.example", "platen.example@evil.example", "xplaten.example"],
    ...["platen.example..", "platen.example:443:443", "platen.exampl"],
  ];

  for (const host of [...ours, ...others]) {
    const answer = await ask(host);
    assert.ok((ours.includes(host) ? [200] : [400, 421]).includes(statusOf(answer)), `${host}: ${answer}`);
    assert.match(answer, /^strict-transport-security: max-age=31536000/im);
  }
  for (const host of ["platen.example", "PLATEN.EXAMPLE.:443", "127.0.0.1:8080"])
    assert.equal(await post(host, "https://platen.example"), 422, host);
  for (const origin of ["platen.example.evil.example", "platen.example:8443", "xplaten.example"])
    assert.equal(await post("platen.example", `https://${origin}`), 403, origin);
  assert.equal(await post("platen.example", "null"), 403);
});

test("cookies are for https only where PUBLIC_URL or a trusted proxy reports https, and other senders cannot", async (t) => {
  const cookiesWith = async (options: Parameters<typeof startClosed>[1], scheme?: string) => {
    const app = await startClosed(t, options);
    const headers = scheme === undefined ? {} : { "x-forwarded-proto": scheme };
    const answer = await app.post("/sign-in", { name: "admin", password: adminPassword }, headers);
    assert.equal(answer.status, 303);
    return answer.headers.getSetCookie().map((line) => line.replace(/=.*?(; Secure)?$/, "$1"));
  };
  const plain = ["platen", "platen-device"];
  const secure = ["__Host-platen; Secure", "__Host-platen-device; Secure"];
  const trusting = { proxies: proxiesOf() };

  assert.deepEqual(await cookiesWith({}, "https"), plain);
  assert.deepEqual(
    await cookiesWith({ proxies: proxiesOf({ TRUSTED_PROXIES: "10.9.9.9" }) }, "https"),
    plain,
  );
  assert.deepEqual(await cookiesWith(trusting), plain);
  assert.deepEqual(await cookiesWith(trusting, "https"), secure);
  assert.deepEqual(await cookiesWith(trusting, "https, http"), plain);
  assert.deepEqual(await cookiesWith({ ...trusting, publicUrl: "https://platen.example" }, "http"), secure);
});
