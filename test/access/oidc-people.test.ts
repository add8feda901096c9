import assert from "node:assert/strict";
import { test } from "node:test";
import { linkIn, statusesOf as pathStatuses } from "../support/access/guarded.ts";
import { honest, origin, settingsFor, startWithProvider, withPassword } from "../support/access/oidc.ts";
import { cookiesOf, signInAdmin } from "../support/access/people.ts";
import { startApp, temporaryFolder } from "../support/app.ts";
import { logEntries } from "../support/audit/audit.ts";
import { statusesOf } from "../support/deploy/answers.ts";
import { driverZip } from "../support/drivers/driver-zip.ts";

const html = { accept: "text/html" };

test("people of a provider are listed with role and sessions, and an admin ends what they started", async (t) => {
  const folder = await temporaryFolder(t);
  const service = await startWithProvider(t, { ...withPassword, dataDir: folder });
  const { provider, fetch, post, signIn } = service;
  const ada = { cookie: cookiesOf(await signIn()) };
  const boss = { cookie: await signInAdmin(service) };
  await service.upload("/drivers/upload", driverZip(), "d.zip", ada);
  await post("/printers", { name: "Office", driver_id: "1", address: "10.0.0.9" }, ada);
  const linkTo = async (headers: { readonly cookie: string }) => {
    const form = { address: "/printers/1/scripts/install", days: "90" };
    return linkIn(await (await post("/printers/1/links", form, headers)).text());
  };
  const statuses = async (...paths: string[]) => [
    (await fetch("/printers", { headers: ada })).status,
    ...(await pathStatuses(service, paths)),
  ];

  const link = await linkTo(ada);
  const own = await (await fetch("/account", { headers: ada })).text();
  const list = await (await fetch("/accounts", { headers: boss })).text();
  const forbidden = [
    await post("/accounts/2", { role: "viewer" }, boss),
    await post("/accounts/2/password", {}, boss),
    await post("/account/password", {}, ada),
  ];
  const before = await statuses(link);
  await post("/accounts/2/sessions/end", {}, boss);
  const ended = await statuses(link);
  ada.cookie = cookiesOf(await signIn());
  const second = await linkTo(ada);
  await post("/accounts/2/disable", {}, boss);
  const disabled = await statuses(second);
  const refused = await signIn();
  provider.answers.claims = { ...honest, groups: [] };
  await signIn();
  provider.answers.claims = { ...honest };
  const stillRefused = await signIn();
  await post("/accounts/2/enable", {}, boss);
  ada.cookie = cookiesOf(await signIn());
  const enabled = await statuses(second);
  const at = { oidc: settingsFor(provider.issuer), publicUrl: origin, dataDir: folder, clock: Date.now };
  await service.stop();
  const restarted = await startApp(t, { ...at, ...withPassword });
  const after = await restarted.fetch("/printers", { headers: ada });
  const entries = await logEntries(restarted, "sessions-ended");
  await restarted.stop();
  const without = await startApp(t, { ...withPassword, dataDir: folder, clock: Date.now });
  const withoutProvider = await pathStatuses(without, [second]);

  assert.doesNotMatch(own, /id="password"/);
  assert.match(own, /This browser/);
  assert.match(
    list,
    /ada@contoso\.com \(127[\s\S]*Signs in at">127\.0\.0\.1:\d+<[\s\S]*operator[\s\S]*Sessions">1</,
  );
  assert.deepEqual(statusesOf(forbidden), [403, 403, 303]);
  assert.deepEqual([before, ended], [Array.of(200, 200), Array.of(401, 403)]);
  assert.deepEqual([disabled, enabled], [Array.of(401, 403), Array.of(200, 200)]);
  assert.deepEqual(statusesOf([refused, stillRefused, after]), [403, 403, 200]);
  assert.match(await refused.text(), /your access to Platen is disabled\. Ask your administrator\./);
  assert.deepEqual(withoutProvider, [403], "nobody signs in at the provider any more");
  const ends = entries.map(({ who, what }) => `${who}: ${what}`);
  assert.deepEqual(ends, ["admin: all, and all links"]);
});

test("a role that a provider changes counts at the next sign-in, for all sessions and links of the person", async (t) => {
  const service = await startWithProvider(t, withPassword);
  const { provider, fetch, post, signIn, app } = service;
  const first = { cookie: cookiesOf(await signIn()) };
  await post("/clients", { name: "Contoso" }, first);
  const by = { kind: "person", name: "ada", role: "operator", account: 2 } as const;
  const path = "/clients/1/publish";
  const make = () => app.links.make({ path, days: 7, by });
  const known = (address: string) => fetch(address).then(({ status }) => status !== 403);
  const kept = app.store.accounts.list().find(({ issuer }) => issuer !== "");
  const { address } = await make();

  const states = [[await known(address), (await fetch("/import", { headers: first })).status]];
  const ownDisabled: number[] = [];
  for (const group of ["admins", "sellers", "techs"]) {
    provider.answers.claims = { ...honest, groups: [group] };
    await signIn();
    if (group === "admins") ownDisabled.push((await post("/accounts/2/disable", {}, first)).status);
    states.push([await known(address), (await fetch("/import", { headers: first })).status]);
  }

  assert.equal(kept?.id, 2);
  assert.deepEqual(ownDisabled, [403], "the only administrator could not undo it");
  assert.deepEqual(states, [
    [true, 200],
    [true, 200],
    [false, 401],
    [false, 401],
  ]);
  const other = {
    issuer: "https://other.example/",
    sub: "user-1",
    name: "ada (other)",
    role: "viewer",
  } as const;
  const digest = { digest: "0".repeat(64), address: "", browser: "" };
  const stranger = await app.store.sessions.addPerson(other, digest);
  const people = app.store.accounts.list().filter(({ issuer }) => issuer !== "");
  assert.deepEqual([people.length, stranger?.role], [2, "viewer"]);
});

test("codes that strangers invent soon cost no request to the provider, and a browser that was signed in before gets in", async (t) => {
  const service = await startWithProvider(t);
  const { fetch, begin, signIn, provider } = service;
  const known = cookiesOf(await signIn());
  const requests = () => provider.requests.filter((request) => request === "POST /token").length;
  const invent = async () => {
    const { answer, cookie } = await begin();
    const forged = answer.replace(/code=[^&]*/, "code=code-999");
    return fetch(forged, { headers: { ...html, cookie } });
  };

  const before = requests();
  const answers: Response[] = [];
  for (let i = 0; i < 9; i++) answers.push(await invent());
  const asked = requests() - before;
  const { answer, cookie } = await begin();
  const stranger = await fetch(answer, { headers: { ...html, cookie } });
  const right = await fetch(answer, { headers: { ...html, cookie: `${cookie}; ${known}` } });

  assert.deepEqual([asked, right.status], [5, 303]);
  assert.deepEqual(statusesOf(answers), [...Array(5).fill(403), ...Array(4).fill(429)]);
  assert.equal(stranger.headers.get("retry-after"), "1");
  assert.match(await stranger.text(), /Too many attempts failed\. Try again in 1 second\./);
});

test("an answer of the provider is read to 1 MB at most", async (t) => {
  const { signIn, provider } = await startWithProvider(t);
  const { answers } = provider;

  answers.claims = { preferred_username: "ada" };
  answers.userinfo = { groups: ["techs"], more: "x".repeat(1_000_000) };
  const small = await signIn();
  answers.userinfo = { groups: ["techs"], more: "x".repeat(1_048_576) };
  const large = await signIn();

  assert.deepEqual(statusesOf([small, large]), [303, 403]);
  assert.match(
    await large.text(),
    /does not accept the answer of 127\.0\.0\.1:\d+: it is larger than 1 MB\./,
  );
});
