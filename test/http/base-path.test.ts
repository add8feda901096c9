import assert from "node:assert/strict";
import { test } from "node:test";
import { Secret } from "../../src/domain/secrets.ts";
import { startGuarded } from "../support/access/guarded.ts";
import { adminPassword, cookiesOf } from "../support/access/people.ts";
import { pathOf, routeCases } from "../support/access/route-cases.ts";
import { navigation, startApp } from "../support/app.ts";
import { fetchAll, statusesOf, textOf } from "../support/deploy/answers.ts";
import { rounds, selectCases } from "../support/depth.ts";
import { driverZip } from "../support/drivers/driver-zip.ts";

const publicUrl = "http://127.0.0.1/platen";
const pages = Object.entries(routeCases).flatMap(([name, { status, query }]) => {
  const [method, pattern = ""] = name.split(" ");
  const isPage = method === "GET" && status === 200 && !/icon|archive|files|:name|\.csv|read/.test(pattern);
  return isPage ? [pathOf(pattern, "x") + (query === undefined ? "" : `?${query}`)] : [];
});
const more = ["/printers?q=office&sort=name", "/printers/99", "/sign-in?next=%2Fprinters"];

/** The paths in attributes of a page. */
function pathsIn(page: string): string[] {
  const others = ["placeholder", "aria-keyshortcuts", "value", "data-default", "data-path"];
  const found = [...page.matchAll(/\s([\w-]+)="(\/[^"]*)"/g)].filter(
    ([, name = ""]) => !others.includes(name),
  );
  return found.map(([, name, path]) => `${name}=${path}`);
}

for (const [how, prefix] of Object.entries({ "passes on": "/platen", strips: "" }))
  test(`every address, redirect, fragment, script and cookie has the base path if a proxy ${how} it`, async (t) => {
    const { service, admin } = await startGuarded(t, { publicUrl, adminPassword: new Secret(adminPassword) });
    await admin.post("/clients", { name: "Contoso" });
    await admin.addPrinter({ client_id: "1" });
    const html = { headers: { accept: "text/html" } };
    const get = (path: string, headers = {}) => admin.fetch(prefix + path, { headers });
    const body = new URLSearchParams({ name: "admin", password: adminPassword, next: "/printers?q=x" });
    const current = {
      "hx-request": "true",
      "hx-target": "printers",
      "hx-current-url": `${publicUrl}/printers`,
    };

    const wrong: string[] = [];
    let count = 0;
    for (const path of selectCases([...pages, ...more], 12)) {
      const answer = await admin.fetch(prefix + path, html);
      if (!/html/.test(answer.headers.get("content-type") ?? "")) continue;
      const strange = pathsIn(await answer.text()).filter((address) => !/=\/platen(?:[/?#]|$)/.test(address));
      wrong.push(...strange.map((address) => `${path}: ${address}`));
      count++;
    }
    const css = /href="\/platen(\/static\/app\.css[^"]*)"/.exec(await textOf(get("/")))?.[1] ?? "";
    const asset = await get(css);
    const made = await admin.post(`${prefix}/clients`, { name: "Fabrikam" }, navigation);
    const uploaded = await admin.upload(`${prefix}/drivers/upload`, driverZip({ version: "2.0" }));
    const list = await get("/printers?q=", current);
    const script = await textOf(get("/printers/1/scripts/install"));
    const health = await get("/health");
    const first = await service.fetch(`${prefix}/printers?q=x`, html);
    const page = await textOf(service.fetch(`${prefix}/sign-in?next=%2Fprinters%3Fq%3Dx`));
    const signedIn = await service.fetch(`${prefix}/sign-in`, { method: "POST", body });
    const shown = await service.fetch(`${prefix}/printers`, { headers: { cookie: cookiesOf(signedIn) } });

    assert.deepEqual(wrong, []);
    assert.ok(count > rounds(5, 20), `${count} pages`);
    assert.deepEqual(statusesOf([asset, health, made, shown]), [200, 200, 303, 200]);
    assert.match(asset.headers.get("content-type") ?? "", /css/);
    assert.match(made.headers.get("location") ?? "", /^\/platen\/clients/);
    assert.match(uploaded.headers.get("location") ?? "", /^\/platen\/drivers\/\d+$/);
    assert.match(list.headers.get("hx-replace-url") ?? "", /^\/platen\/printers/);
    assert.match(await list.text(), /href="\/platen\/printers\/1/);
    assert.match(script, /'http:\/\/127\.0\.0\.1\/platen\/drivers\/\d+\/files/);
    assert.equal(first.headers.get("location"), "/platen/sign-in?next=%2Fprinters%3Fq%3Dx");
    assert.match(page, /name="next" value="\/printers\?q=x"/);
    assert.equal(signedIn.headers.get("location"), "/platen/printers?q=x");
    for (const cookie of signedIn.headers.getSetCookie()) assert.match(cookie, /; Path=\/platen;/);
  });

test("over https, cookies with a base path have a prefix that browsers accept with it", async (t) => {
  const settings = { publicUrl: "https://platen.example/platen", adminPassword: new Secret(adminPassword) };
  const { post } = await startApp(t, settings);

  const signedIn = await post("/sign-in", { name: "admin", password: adminPassword });

  const right =
    /^__Secure-platen[\w-]*-platen=[^;]+; Path=\/platen; Max-Age=\d+; HttpOnly; SameSite=Lax; Secure$/;
  const cookies = signedIn.headers.getSetCookie();
  assert.ok(cookies.length > 0);
  for (const cookie of cookies) assert.match(cookie, right);
});

test("a path that only begins like the base path is another", async (t) => {
  const service = await startApp(t, { publicUrl });
  const paths = ["/platen", "/platen/", "/platen?x=1", "/platenx", "/platen/platen/"];

  const answers = await fetchAll(service, paths);

  assert.deepEqual(statusesOf(answers), [200, 200, 200, 404, 404]);
});
