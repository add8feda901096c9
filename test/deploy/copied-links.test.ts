import assert from "node:assert/strict";
import { test } from "node:test";
import { startGuarded } from "../support/access/guarded.ts";
import { navigation, startApp } from "../support/app.ts";

/** The link on the page that follows the form, without the service's address. */
function linkIn(page: string): string {
  const text = /<code id="link-0">([^<]+)</.exec(page)?.[1]?.replaceAll("&amp;", "&");
  if (text === undefined) throw new Error(`there is no link on: ${page.slice(-2000)}`);
  const { pathname, search } = new URL(text);
  return pathname + search;
}

test("a link from the page of a printer, client or driver opens one download without signing in", async (t) => {
  const { service, admin, operator } = await startGuarded(t);
  await admin.post("/clients", { name: "A" });
  await admin.addPrinter({ client_id: "1" });
  const forms = [
    ["/printers/1/links", "/printers/1/scripts/install"],
    ["/printers/1/links", "/printers/1/packages/mdm"],
    ["/printers/1/links", "/printers/1/packages/rmm?driver=apart"],
    ["/clients/1/links", "/clients/1/scripts/detect"],
    ["/clients/1/links", "/clients/1/packages/rmm"],
    ["/drivers/1/links", "/drivers/1/packages/mdm"],
    ["/drivers/1/links", "/drivers/1/scripts/install"],
  ] as const;

  const links = [];
  for (const [path, address] of forms)
    links.push(linkIn(await (await operator.post(path, { address, days: "7" }, navigation)).text()));
  const answers = await Promise.all(links.map((link) => service.fetch(link)));
  const without = await Promise.all(forms.map(([, address]) => service.fetch(address)));

  assert.deepEqual(
    answers.map(({ status }) => status),
    forms.map(() => 200),
  );
  assert.deepEqual(
    without.map(({ status }) => status),
    forms.map(() => 401),
  );
  assert.match(links[2] ?? "", /\?driver=apart&link=/);
});

test("the page of a link shows its end and commands to download with it", async (t) => {
  const { operator, admin } = await startGuarded(t, { publicUrl: "https://platen.example" });
  await admin.addPrinter();
  const made = async (address: string) => {
    const answer = await operator.post("/printers/1/links", { address, days: "30" }, navigation);
    assert.equal(answer.headers.get("cache-control"), "no-store");
    return (await answer.text()).replaceAll("&#39;", "'").replaceAll("&amp;", "&").replaceAll("&quot;", '"');
  };

  const script = await made("/printers/1/scripts/install");
  const apart = await made("/printers/1/packages/rmm?driver=apart");

  const end = Date.UTC(2026, 11, 22);
  assert.ok(script.includes(`datetime="${new Date(end).toISOString()}"`));
  assert.match(
    script,
    /Invoke-WebRequest -UseBasicParsing -Uri 'https:\/\/platen\.example\/printers\/1\/scripts\/install\?link=[\w.-]+' -OutFile \$f/,
  );
  assert.match(
    apart,
    /-Uri 'https:\/\/platen\.example\/printers\/1\/packages\/rmm\?driver=apart&link=[\w.-]+' -OutFile '[\w-]+\.zip'/,
  );
  assert.match(
    apart,
    /curl -fOJ "https:\/\/platen\.example\/printers\/1\/packages\/rmm\?driver=apart&link=[\w.-]+"/,
  );
});

test("the page of a link warns if the link has a loopback address", async (t) => {
  const form = { address: "/printers/1/scripts/install", days: "7" };
  const made = async (settings: Parameters<typeof startGuarded>[1], headers = {}) => {
    const { admin } = await startGuarded(t, settings);
    await admin.addPrinter();
    return (await admin.post("/printers/1/links", form, { ...navigation, ...headers })).text();
  };

  const here = await made({});
  const known = await made({ allowedHosts: ["platen.example"] }, { "x-forwarded-host": "platen.example" });

  assert.match(here, /work only on the Platen server[\s\S]*<code>PUBLIC_URL<\/code>/);
  assert.doesNotMatch(known, /only on the Platen server/);
});

test("only operators are offered links, and with sign-in no command contains an address without a link", async (t) => {
  const { admin, operator, viewer } = await startGuarded(t);
  await admin.addPrinter();
  const open = await startApp(t);
  await open.addPrinter();

  const pages = await Promise.all(
    [operator.fetch, viewer.fetch, open.fetch].map(async (fetch) => (await fetch("/printers/1")).text()),
  );

  assert.deepEqual(
    pages.map((page) => page.includes('action="/printers/1/links"')),
    [true, false, false],
  );
  assert.deepEqual(
    pages.map((page) => page.includes("Invoke-WebRequest")),
    [false, false, true],
  );
});

test("a link with a wrong target, validity or sender is refused", async (t) => {
  const { admin, operator, viewer } = await startGuarded(t);
  await admin.addPrinter();
  await admin.post("/printers", { name: "Bare", address: "10.0.0.1" });
  const open = await startApp(t);
  await open.addPrinter();
  const address = "/printers/1/scripts/install";

  const statuses = [
    await operator.post("/printers/1/links", { address: "/printers/2/scripts/install", days: "7" }),
    await operator.post("/printers/1/links", { address: "https://evil.example/", days: "7" }),
    await operator.post("/printers/1/links", { address, days: "36500" }),
    await operator.post("/printers/2/links", { address: "/printers/2/scripts/install", days: "7" }),
    await operator.post("/printers/9/links", { address, days: "7" }),
    await viewer.post("/printers/1/links", { address, days: "7" }),
    await open.post("/printers/1/links", { address, days: "7" }),
  ].map(({ status }) => status);

  assert.deepEqual(statuses, [422, 422, 422, 422, 404, 403, 404]);
});

test("one form ends all links to a printer, and links to other printers stay valid", async (t) => {
  const { service, admin, operator } = await startGuarded(t);
  await admin.addPrinter();
  await admin.addPrinter({ name: "Other", driver_id: "1" });
  const linkTo = async (id: number) => {
    const form = { address: `/printers/${id}/scripts/detect`, days: "1" };
    return linkIn(await (await operator.post(`/printers/${id}/links`, form)).text());
  };
  const [first, second] = [await linkTo(1), await linkTo(2)];

  const answer = await operator.post("/printers/1/links/end", {}, navigation);
  const statuses = [(await service.fetch(first)).status, (await service.fetch(second)).status];
  const made = (await service.fetch(await linkTo(1))).status;

  assert.deepEqual([answer.status, answer.headers.get("location")], [303, "/printers/1?done=links"]);
  assert.deepEqual([...statuses, made], [403, 200, 200]);
});
