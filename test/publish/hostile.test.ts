import assert from "node:assert/strict";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, type TestContext, test } from "node:test";
import { navigation } from "../support/app.ts";
import { cleanUp } from "../support/clean-up.ts";
import { rounds, selectCases } from "../support/depth.ts";
import { withoutPowerShell } from "../support/powershell/powershell.ts";
import { addSharedDriver, appOf, editPrinter, startPublishing } from "../support/publish/publishing.ts";
import { seededRandom } from "../support/random.ts";

const pieces = [
  ..."'\"`$;&|<>(){}[]@#%^*~?\u2018\u2019\u201a\u201b\u201c\u201d",
  "$(New-Item pwned)",
  "'; New-Item pwned; '",
  `${"$"}{env:PATH}`,
  "@'\u2028",
  "<#",
  "#>",
  "Büro",
  "打印机",
  "😀",
  "\u202eexe.",
  "%SystemRoot%",
  " platen:000000000000:printer:1 ",
  "{0}",
  "\u0001",
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
  test("in fields arrive in Intune unchanged and are not run", async (t) => {
    const random = seededRandom(14);
    const text = () => Array.from({ length: 1 + random(9) }, () => pieces[random(pieces.length)]).join("");
    const { service, tenant, publish } = await startPublishing(t, { pageSize: 100 });
    await service.post("/clients", { name: `C ${text()}`, subnets: "10.0.0.0/8" });
    const driver_id = String(await service.addDriver());
    for (let i = 0; i < rounds(5, 40); i++) {
      const fields = { name: `${i} ${text().replaceAll(/[\\,!]/g, "")}`, location: text(), comment: text() };
      await service.post(
        "/printers",
        { ...fields, client_id: "1", driver_id, address: `10.0.0.${i}` },
        navigation,
      );
    }

    const run = await publish("/clients/1/publish");

    const { printers } = await service.app.overview.read();
    const made = printers.filter(({ printer }) =>
      tenant.apps().some(({ notes }) => String(notes).includes(`:printer:${printer.id} `)),
    );
    assert.deepEqual([run.code, made.length > rounds(2, 20)], [0, true], run.output.join("\n"));
    for (const { printer, client } of made) {
      const { displayName, description } = appOf(tenant, `printer:${printer.id}`);
      assert.equal(displayName, `${printer.name} (${client?.name})`);
      assert.ok(String(description).includes(printer.name));
    }
    assert.ok(!existsSync("pwned"));
  });

  test("in Intune's responses are escaped for the terminal", async (t) => {
    const { service, tenant, publish } = await startPublishing(t);
    const id = await service.addPrinter();
    await publish(`/printers/${id}/publish`);
    const { notes } = appOf(tenant, `printer:${id}`);
    tenant.addApp({ displayName: "A\u001b[2Jcopy\u0007\r\nFailed: nothing", notes });

    const run = await publish(`/printers/${id}/publish`);

    assert.equal(run.code, 1);
    assert.ok(
      run.output.every((line) => !/[\u0000-\u001f\u007f]/.test(line)),
      JSON.stringify(run.output),
    );
    assert.ok(!run.output.some((line) => line.startsWith("Failed:")));
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
  for (const [name, body] of selectCases(Object.entries(odd), 2)) {
    test(`a response that ${name} is not read as an empty list`, async (t) => {
      const group = "11111111-2222-4333-8444-555555555555";
      const { service, tenant, script, run } = await startPublishing(t);
      const [id = 0] = await addSharedDriver(service);
      const text = await script("/clients/1/publish");
      await run(text);
      const app = appOf(tenant, `printer:${id}`).id;
      const other = tenant.addApp({ displayName: "Reader" });
      tenant.relate(app, other, "autoInstall");
      tenant.assign(app, group, "available");
      await editPrinter(service, id, { address: "10.0.0.99", port_name: "" });
      const newer = await script("/clients/1/publish");
      const facts = () => {
        const { assignments, children } = tenant.getApp(app);
        return structuredClone({ apps: tenant.apps().length, assignments, children });
      };
      const before = facts();

      for (const path of [/mobileApps$/, new RegExp(`${app}$`), /relationships$/, /assignments$/]) {
        tenant.fault({ area: "graph", method: "GET", path, body, times: 99 });
        const broken = await run(newer, { AssignTo: ["22222222-2222-4333-8444-555555555555"] });
        tenant.clearFaults();

        const said = `${path}\n${broken.output.join("\n")}`;
        assert.ok(broken.code === 1 || broken.code === 2, said);
        assert.deepEqual(facts(), before, said);
      }
    });
  }

  test("in Intune's responses do not send the token to another server, even if its address begins like Graph's", async (t) => {
    const { service, tenant, publish } = await startPublishing(t);
    const id = await service.addPrinter();
    const elsewhere = await listen(t, () => ({ value: [] }));
    const { host } = new URL(elsewhere.url);
    const graph = await listen(t, (url) => ({ value: [], "@odata.nextLink": `${url}@${host}/beta/apps` }));

    const run = await publish(`/printers/${id}/publish`, { GraphUrl: graph.url });

    assert.deepEqual([run.code, elsewhere.tokens], [1, []]);
    assert.deepEqual(graph.tokens, [`Bearer ${tenant.token}`]);
    assert.match(run.output.join("\n"), /Graph's list continues at an address of another server/);
  });

  test("a log that cannot be written does not stop the run", async (t) => {
    const { service, tenant, script, run } = await startPublishing(t);
    const id = await service.addPrinter();
    const text = await script(`/printers/${id}/publish`, [
      ["Open-Log (Get-LogPath $LogPath)", "Open-Log '/proc/none/a.log'"],
    ]);

    const result = await run(text);

    assert.deepEqual([result.code, result.log], [0, ""]);
    assert.ok(appOf(tenant, `printer:${id}`));
  });
});
