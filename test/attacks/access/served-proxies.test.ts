import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { type TestContext, test } from "node:test";
import { adminPassword } from "../../support/access/people.ts";
import { temporaryFolder } from "../../support/app.ts";
import { deepTest } from "../../support/depth.ts";
import { exchange, postText, statusOf } from "../../support/raw.ts";
import { type Service, serve } from "../../support/service.ts";

const skip = {
  skip:
    existsSync("/proc/net/if_inet6") && readFileSync("/proc/net/if_inet6", "utf8").includes(" lo")
      ? false
      : "this machine has no IPv6 (mount)",
};

/** Starts the bundled program on all addresses. */
async function start(t: TestContext, settings: Record<string, string>): Promise<Service> {
  return serve(t, await temporaryFolder(t), { HOST: "::", ...settings });
}

/** Sends a GET over IPv4 or IPv6. */
function get(
  { url }: Service,
  address: string,
  lines: readonly string[],
  path = "/printers",
): Promise<string> {
  const { port } = new URL(url);
  const head = [`GET ${path} HTTP/1.1`, "Connection: close", ...lines, "", ""];
  return exchange(`http://${address}:${port}`, head.join("\r\n"));
}

test(
  "a proxy is trusted by its address, as IPv4, IPv6 or mapped IPv4, and its neighbour is not",
  skip,
  async (t) => {
    const header = { REMOTE_USER_HEADER: "Remote-User" };
    const lines = ["Host: localhost", "Remote-User: jo"];
    const statuses: Record<string, number[]> = {};

    for (const trusted of [
      "::1",
      "127.0.0.0/8",
      "::ffff:127.0.0.0/104",
      "::1,127.0.0.1",
      "::2/127",
      "fd00::/8",
    ]) {
      const service = await start(t, { ...header, TRUSTED_PROXIES: trusted });
      const answers = await Promise.all(
        ["127.0.0.1", "[::1]"].map((address) => get(service, address, lines)),
      );
      statuses[trusted] = answers.map(statusOf);
      service.process.kill();
    }

    assert.deepEqual(statuses, {
      "::1": [400, 200],
      "127.0.0.0/8": [200, 400],
      "::ffff:127.0.0.0/104": [200, 400],
      "::1,127.0.0.1": [200, 200],
      "::2/127": [400, 400],
      "fd00::/8": [400, 400],
    });
  },
);

test("behind https, the service's name is accepted in any spelling, and another name is refused", async (t) => {
  const service = await start(t, { PUBLIC_URL: "https://platen.example", ADMIN_PASSWORD: adminPassword });
  const ask = async (host: string) => get(service, "127.0.0.1", [`Host: ${host}`], "/sign-in");
  const ours = [
    "platen.example",
    "platen.example:443",
    "platen.example:8443",
    "PLATEN.Example",
    "platen.example.",
    "PLATEN.EXAMPLE.:443",
    "10.0.0.1",
    "nas:8080",
  ];
  const others = [
    "evil.example",
    "platen.example.evil.example",
    "platen.example@evil.example",
    "xplaten.example",
    "platen.example..",
    "platen.example:443:443",
    "platen.exampl",
  ];

  const answers = await Promise.all([...ours, ...others].map(ask));

  assert.deepEqual(answers.slice(0, ours.length).map(statusOf), Array(ours.length).fill(200));
  for (const [i, answer] of answers.slice(ours.length).entries())
    assert.ok([400, 421].includes(statusOf(answer)), `${others[i]}: ${statusOf(answer)}`);
  for (const answer of answers) assert.match(answer, /^strict-transport-security: max-age=31536000/im);
});

deepTest(
  "cookies are for https only where PUBLIC_URL or a trusted proxy reports https, and other senders cannot",
  async (t) => {
    const form = `name=admin&password=${encodeURIComponent(adminPassword)}`;
    const cookiesWith = async (settings: Record<string, string>, lines: readonly string[]) => {
      const service = await start(t, { ADMIN_PASSWORD: adminPassword, ...settings });
      const { port } = new URL(service.url);
      const post = postText("/sign-in", "application/x-www-form-urlencoded", form).toString();
      const text = post.replace("\r\n", `\r\n${lines.map((line) => `${line}\r\n`).join("")}`);
      const answer = await exchange(`http://127.0.0.1:${port}`, text);
      service.process.kill();
      assert.equal(statusOf(answer), 303);
      return [...answer.matchAll(/^set-cookie: (\S+?)=.*?(; Secure)?\r$/gim)].map(
        ([, name, secure]) => `${name}${secure ?? ""}`,
      );
    };
    const https = ["X-Forwarded-Proto: https"];
    const plain = ["platen", "platen-device"];
    const secure = ["__Host-platen; Secure", "__Host-platen-device; Secure"];

    assert.deepEqual(await cookiesWith({}, https), plain);
    assert.deepEqual(await cookiesWith({ TRUSTED_PROXIES: "10.9.9.9" }, https), plain);
    assert.deepEqual(await cookiesWith({ TRUSTED_PROXIES: "127.0.0.1" }, []), plain);
    assert.deepEqual(await cookiesWith({ TRUSTED_PROXIES: "127.0.0.1" }, https), secure);
    assert.deepEqual(
      await cookiesWith({ TRUSTED_PROXIES: "127.0.0.1" }, ["X-Forwarded-Proto: https, http"]),
      plain,
    );
    assert.deepEqual(
      await cookiesWith({ TRUSTED_PROXIES: "127.0.0.1", PUBLIC_URL: "https://platen.example" }, [
        "X-Forwarded-Proto: http",
      ]),
      secure,
    );
  },
);

test("changes are accepted only from pages of Platen's own https address, in any spelling of Host", async (t) => {
  const service = await start(t, { PUBLIC_URL: "https://platen.example", ADMIN_PASSWORD: adminPassword });
  const ask = async (host: string, origin: string) => {
    const post = postText("/sign-in", "application/x-www-form-urlencoded", "name=x&password=y", { host });
    const text = post.toString().replace("\r\n", `\r\nOrigin: ${origin}\r\n`);
    return statusOf(await exchange(service.url, text));
  };

  const ours = [
    await ask("platen.example", "https://platen.example"),
    await ask("PLATEN.EXAMPLE.:443", "https://platen.example"),
    await ask("127.0.0.1:8080", "https://platen.example"),
  ];
  const others = [
    await ask("platen.example", "https://platen.example.evil.example"),
    await ask("platen.example", "https://platen.example:8443"),
    await ask("platen.example", "null"),
    await ask("platen.example", "https://xplaten.example"),
  ];

  assert.deepEqual(ours, [422, 422, 422]);
  assert.deepEqual(others, [403, 403, 403, 403]);
});
