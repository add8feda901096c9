import assert from "node:assert/strict";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, type TestContext, test } from "node:test";
import { cleanUp } from "../support/clean-up.ts";
import { deepTest, selectCases } from "../support/depth.ts";
import { withoutPowerShell } from "../support/powershell/powershell.ts";
import {
  addSharedDriver,
  appOf,
  editPrinter,
  startPublishing,
  startWithoutPlaten,
} from "../support/publish/publishing.ts";
import { seededRandom } from "../support/random.ts";

const pieces = [
  ..."'\"`$;&|<>(){}[]@#%^*~?\u2018\u2019\u201a\u201b\u201c\u201d",
  ...[
    "$(New-Item pwned)",
    "'; New-Item pwned; '",
    `${"$"}{env:PATH}`,
    "@'\u2028",
    "<#",
    "#>",
    "%SystemRoot%",
  ],
  ...["Büro", "打印机", "😀", "\u202eexe.", " platen:000000000000:printer:1 ", "{0}", "\u0001"],
];

/** A server with one response to every request. It records the tokens that it receives. */
async function listen(t: TestContext, answer: (url: string) => object) {
  const tokens: (string | undefined)[] = [];
  const server = createServer(({ headers }, response) => {
    tokens.push(headers.authorization);
    response.setHeader("content-type", "application/json").end(JSON.stringify(answer(url)));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  cleanUp(t, () => {
    server.closeAllConnections();
    server.close();
  });
  return { url, tokens };
}

describe("hostile texts", { skip: withoutPowerShell }, () => {
  deepTest("in fields arrive in Intune unchanged and are not run", async (t) => {
    const random = seededRandom(14);
    const text = () => Array.from({ length: 1 + random(9) }, () => pieces[random(pieces.length)]).join("");
    const { service, tenant, publish } = await startPublishing(t, { pageSize: 100 });
    await service.post("/clients", { name: `C ${text()}`, subnets: "10.0.0.0/8" });
    const fields = { client_id: "1", driver_id: String(await service.addDriver()) };
    for (let i = 0; i < 40; i++) {
      const texts = { name: `${i} ${text().replaceAll(/[\\,!]/g, "")}`, location: text(), comment: text() };
      await service.post("/printers", { ...texts, ...fields, address: `10.0.0.${i}` });
    }

    const run = await publish("/clients/1/publish");

    const { printers } = await service.app.overview.read();
    const made = printers.filter(({ printer }) =>
      tenant.apps().some(({ notes }) => String(notes).includes(`:printer:${printer.id} `)),
    );
    assert.deepEqual([run.code, made.length > 20], [0, true], run.said);
    for (const { printer, client } of made) {
      const { displayName, description } = appOf(tenant, `printer:${printer.id}`);
      assert.equal(displayName, `${printer.name} (${client?.name})`);
      assert.ok(String(description).includes(printer.name));
    }
    assert.ok(!existsSync("pwned"));
  });

  const odd: Readonly<Record<string, object | string>> = {
    "is empty": "",
    "is HTML": "<html>sign in</html>",
    "is a number": "5",
    "has no list": {},
    "is an error": { error: { code: "Oops", message: "no" } },
    "has a list that is none": { value: 5 },
    "has numbers in its list": { value: [5, null] },
    "has no ids": { value: [{ displayName: "A", notes: "", rules: [] }] },
    "has ids that are addresses": { id: "../../x?", value: [{ id: "../../x?", notes: "", rules: [] }] },
  };
  const places = ["mobileApps$", "ID$", "relationships$", "assignments$"];
  const cases = Object.entries(odd).flatMap(([name, body]) => places.map((place) => ({ name, body, place })));
  for (const { name, body, place } of selectCases(cases, 4))
    test(`a response that ${name} is not read as an empty one (${place})`, async (t) => {
      const { service, tenant, published, publish } = await startPublishing(t);
      const [id = 0] = await addSharedDriver(service);
      const path = `/printers/${id}/publish`;
      await published(path);
      const app = appOf(tenant, `printer:${id}`).id;
      tenant.relate(app, tenant.addApp({ displayName: "Reader" }), "autoInstall");
      tenant.assign(app, "11111111-2222-4333-8444-555555555555", "available");
      await editPrinter(service, id, { address: "10.0.0.99", port_name: "" });
      const facts = () => {
        const { assignments, children } = tenant.getApp(app);
        return structuredClone({ apps: tenant.apps().length, assignments, children });
      };
      const before = facts();
      const at = new RegExp(place.replace("ID", app));
      tenant.fault({ area: "graph", method: "GET", path: at, body, times: 99 });

      const { code, said } = await publish(path, { AssignTo: ["22222222-2222-4333-8444-555555555555"] });

      assert.ok(code === 1 || code === 2, said);
      assert.deepEqual(facts(), before, said);
    });

  test("in Intune's responses do not send the token to another server, even if its address begins like Graph's", async (t) => {
    const { tenant, run } = await startWithoutPlaten(t);
    const elsewhere = await listen(t, () => ({ value: [] }));
    const { host } = new URL(elsewhere.url);
    const graph = await listen(t, (url) => ({ value: [], "@odata.nextLink": `${url}@${host}/beta/apps` }));

    const { code, said } = await run({ GraphUrl: graph.url });

    assert.deepEqual([code, elsewhere.tokens], [1, []]);
    assert.deepEqual(graph.tokens, [`Bearer ${tenant.token}`]);
    assert.match(said, /Graph's list continues at an address of another server/);
  });
});
