import assert from "node:assert/strict";
import { test } from "node:test";
import { Secret } from "../../src/domain/secrets.ts";
import { startGuarded } from "../support/access/guarded.ts";
import { adminPassword, cookiesOf } from "../support/access/people.ts";
import { pathOf, routeCases } from "../support/access/route-cases.ts";
import { navigation, startApp, type TestApp } from "../support/app.ts";
import { fetchAll, statusesOf, textOf } from "../support/deploy/answers.ts";
import { rounds, selectCases } from "../support/depth.ts";

const publicUrl = "http://127.0.0.1/platen";
const pages = Object.entries(routeCases).flatMap(([name, { status, query }]) => {
  const [method, pattern = ""] = name.split(" ");
  const isPage = method === "GET" && status === 200 && !/icon|archive|files|:name|\.csv|read/.test(pattern);
  return isPage ? [pathOf(pattern, "x") + (query === undefined ? "" : `?${query}`)] : [];
});
const more = ["/printers?q=office&sort=name", "/printers/99", "/sign-in?next=%2Fprinters"];

/** The paths in attributes of a page. */
function pathsIn(page: string): string[] {
  return [...page.matchAll(/\s([\w-]+)="(\/[^"]*)"/g)].flatMap(([, name = "", path = ""]) =>
    ["placeholder", "aria-keyshortcuts", "value", "data-default", "data-path"].includes(name)
      ? []
      : [`${name}=${path}`],
  );
}

async function fill({ addPrinter, post }: Pick<TestApp, "addPrinter" | "post">): Promise<void> {
  await post("/clients", { name: "Contoso" });
  await addPrinter({ client_id: "1" });
}

for (const [how, prefix] of [
  ["passes on", "/platen"],
  ["strips", ""],
] as const) {
  test(`every address on every page has the base path if a proxy ${how} it`, async (t) => {
    const { admin } = await startGuarded(t, { publicUrl });
    await fill(admin);
    let count = 0;

    for (const path of selectCases([...pages, ...more], 12)) {
      const answer = await admin.fetch(prefix + path, { headers: { accept: "text/html" } });
      if (!/html/.test(answer.headers.get("content-type") ?? "")) continue;
      const wrong = pathsIn(await answer.text()).filter((address) => !/=\/platen(?:[/?#]|$)/.test(address));
      count++;
      assert.deepEqual(wrong, [], path);
    }

    assert.ok(count > rounds(5, 20), `${count} pages`);
  });

  test(`assets, redirects, fragments, scripts, cookies and sign-in work if a proxy ${how} the base path`, async (t) => {
    const service = await startApp(t, { publicUrl });
    await fill(service);
    const guarded = await startApp(t, { publicUrl, adminPassword: new Secret(adminPassword) });
    const get = (path: string, headers = {}) => service.fetch(prefix + path, { headers });
    const body = new URLSearchParams({ name: "admin", password: adminPassword, next: "/printers?q=x" });
    const current = { "hx-request": "true", "hx-target": "printers" };

    const css = /href="\/platen(\/static\/app\.css[^"]*)"/.exec(await textOf(get("/")))?.[1] ?? "";
    const asset = await get(css);
    const made = await service.post(`${prefix}/clients`, { name: "Fabrikam" }, navigation);
    const list = await get("/printers?q=", {
      ...current,
      "hx-current-url": "http://127.0.0.1/platen/printers",
    });
    const script = await textOf(get("/printers/1/scripts/install"));
    const health = await get("/health");
    const first = await guarded.fetch(`${prefix}/printers?q=x`, { headers: { accept: "text/html" } });
    const page = await textOf(guarded.fetch(`${prefix}/sign-in?next=%2Fprinters%3Fq%3Dx`));
    const signedIn = await guarded.fetch(`${prefix}/sign-in`, { method: "POST", body });
    const shown = await guarded.fetch(`${prefix}/printers`, { headers: { cookie: cookiesOf(signedIn) } });

    assert.deepEqual(statusesOf([asset, health, made, shown]), [200, 200, 303, 200]);
    assert.match(asset.headers.get("content-type") ?? "", /css/);
    assert.match(made.headers.get("location") ?? "", /^\/platen\/clients/);
    assert.match(list.headers.get("hx-replace-url") ?? "", /^\/platen\/printers/);
    assert.match(await list.text(), /href="\/platen\/printers\/1/);
    assert.match(script, /'http:\/\/127\.0\.0\.1\/platen\/drivers\/\d+\/files/);
    assert.equal(first.headers.get("location"), "/platen/sign-in?next=%2Fprinters%3Fq%3Dx");
    assert.match(page, /name="next" value="\/printers\?q=x"/);
    assert.equal(signedIn.headers.get("location"), "/platen/printers?q=x");
    for (const cookie of signedIn.headers.getSetCookie()) assert.match(cookie, /; Path=\/platen;/);
  });
}

test("over https, cookies with a base path have a prefix that browsers accept with it", async (t) => {
  const settings = { publicUrl: "https://platen.example/platen", adminPassword: new Secret(adminPassword) };
  const { post } = await startApp(t, settings);

  const signedIn = await post("/sign-in", { name: "admin", password: adminPassword });

  for (const cookie of signedIn.headers.getSetCookie())
    assert.match(
      cookie,
      /^__Secure-platen[\w-]*-platen=[^;]+; Path=\/platen; Max-Age=\d+; HttpOnly; SameSite=Lax; Secure$/,
    );
});

test("a path that only begins like the base path is another", async (t) => {
  const service = await startApp(t, { publicUrl });
  const paths = ["/platen", "/platen/", "/platen?x=1", "/platenx", "/platen/platen/"];

  const answers = await fetchAll(service, paths);

  assert.deepEqual(statusesOf(answers), [200, 200, 200, 404, 404]);
});
