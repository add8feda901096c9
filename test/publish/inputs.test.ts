import assert from "node:assert/strict";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { describe, type TestContext, test } from "node:test";
import { temporaryFolder } from "../support/app.ts";
import { cleanUp } from "../support/clean-up.ts";
import { deepTest, selectCases } from "../support/depth.ts";
import { withoutPowerShell } from "../support/powershell/powershell.ts";
import {
  addSharedDriver,
  appOf,
  changesIn,
  editPrinter,
  type OnePrinter,
  resultRows,
  startPublishing,
  startWithoutPlaten,
  startWithPrinter,
} from "../support/publish/publishing.ts";
import { seededRandom } from "../support/random.ts";

/** Starts a server of the test's own. It ends with the test. @returns its address */
async function listen(t: TestContext, onRequest: RequestListener): Promise<string> {
  const server = createServer(onRequest).listen(0, "127.0.0.1");
  await once(server, "listening");
  cleanUp(t, () => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Saves a printer's package in a folder of its own. @returns the file's path, and its folder */
async function savePackage(
  t: TestContext,
  { service }: Pick<OnePrinter, "service">,
  change = (all: Buffer) => all,
) {
  const answer = await service.fetch("/printers/1/packages/mdm");
  const folder = await temporaryFolder(t);
  const file = join(folder, "office.intunewin");
  await writeFile(file, change(Buffer.from(await answer.arrayBuffer())));
  return { file, folder };
}

const flipped = (whole: Buffer, at: number) => whole.map((byte, i) => (i === at ? byte ^ 1 : byte)) as Buffer;

describe("the source of a package", { skip: withoutPowerShell }, () => {
  for (const kind of ["file", "folder"] as const)
    test(`a ${kind} is used if the script was made for it, and Platen gets no request`, async (t) => {
      const one = await startWithPrinter(t);
      const text = await one.script(one.path);
      const saved = await savePackage(t, one);
      await one.service.stop();

      const run = await one.run(text, { Package: saved[kind] });

      assert.equal(run.code, 0, run.said);
      assert.ok(one.tenant.content(one.app().id).size > 0);
    });

  test("files that a folder lacks are named first, with their addresses", async (t) => {
    const { service, tenant, publish } = await startPublishing(t);
    await addSharedDriver(service);

    const run = await publish("/clients/1/publish", { Package: await temporaryFolder(t) });

    const notes = run.output.filter((line) => line.startsWith("Note: the folder has no "));
    assert.deepEqual([run.code, changesIn(tenant), notes.length], [1, [], 3]);
    const from =
      /front-desk-without-driver\.intunewin\. Download it from http:\S+\/1\/packages\/mdm\?driver=apart$/m;
    assert.match(notes.join("\n"), from);
  });

  test("one file for several apps is refused, and the refusal names the expected files", async (t) => {
    const { service, tenant, publish } = await startPublishing(t);
    await addSharedDriver(service);
    const { file } = await savePackage(t, { service });

    const run = await publish("/clients/1/publish", { Package: file });

    const why = /Use -Package with the folder that contains \S+\.intunewin and the others/;
    assert.deepEqual([run.code, changesIn(tenant)], [1, []]);
    assert.match(resultRows(run).join(), why);
  });

  const isOther = /is not the package that this script was made for/;
  const inKey = (whole: Buffer) => whole.indexOf("<EncryptionKey>") + "<EncryptionKey>".length;
  for (const [name, spoil, message] of [
    ["is cut short", (whole: Buffer) => whole.subarray(0, -9), isOther],
    ["has another description", (whole: Buffer) => flipped(whole, inKey(whole)), isOther],
    ["has a flipped bit", (whole: Buffer) => flipped(whole, 2000), /is damaged: its checksum is wrong/],
    ["is no ZIP", (whole: Buffer) => Buffer.alloc(whole.length, 7), /is not a valid \.intunewin/],
  ] as const)
    test(`a file that ${name} is refused before any change`, async (t) => {
      const one = await startWithPrinter(t);
      const { file } = await savePackage(t, one, spoil);

      const run = await one.publish(one.path, { Package: file });

      assert.deepEqual([run.code, changesIn(one.tenant)], [1, []]);
      assert.match(resultRows(run).join(), message);
    });

  const isDeleted = ({ service }: OnePrinter) => service.fetch("/printers/1", { method: "DELETE" });
  const isChanged = ({ service }: OnePrinter) =>
    editPrinter(service, 1, { address: "10.0.0.12", port_name: "" });
  for (const [name, change, message] of [
    ["changes", isChanged, /has changed since this script was made\. Download the script again/],
    ["is deleted", isDeleted, /Platen refused office\.intunewin at http:\S+: answer 404/],
  ] as const)
    test(`a printer that ${name} while the script runs is not published`, async (t) => {
      const one = await startWithPrinter(t);
      one.tenant.onRequest = async () => {
        one.tenant.onRequest = undefined;
        await change(one);
      };

      const run = await one.publish(one.path);

      assert.deepEqual([run.code, changesIn(one.tenant)], [1, []]);
      assert.match(resultRows(run).join(), message);
    });

  test("a refusal with an endless body is cut off", async (t) => {
    const one = await startWithPrinter(t);
    const other = await listen(t, ({ method }, response) => {
      response.writeHead(method === "HEAD" ? 503 : 404);
      if (method === "HEAD") return void response.end();
      const more = setInterval(() => response.write("no <b>such</b> package ".repeat(40)), 5);
      response.on("close", () => clearInterval(more));
    });
    const text = await one.script(one.path);

    const run = await one.run(text.replaceAll(one.service.url, other));

    assert.deepEqual([run.code, changesIn(one.tenant)], [1, []]);
    assert.match(resultRows(run).join(), /answer 404, no such package no such package/);
    assert.ok(run.output.every((line) => line.length < 600));
  });
});

const pieces = [
  ..."'\"`$;&|<>(){}[]@#%^*~?\u2018\u2019\u201a\u201b\u201c\u201d",
  ..."$(New-Item pwned)_'; New-Item pwned; '_$env:PATH_@'\u2028_<#_#>_%SystemRoot%_{0}_\u0001".split("_"),
  ...["Büro", "打印机", "😀", "\u202eexe.", " platen:000000000000:printer:1 "],
];

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
  for (const { name, body, place } of selectCases(cases, 2))
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
    const tokens: (string | undefined)[] = [];
    const elsewhere = await listen(t, ({ headers }) => void tokens.push(headers.authorization));
    const { host } = new URL(elsewhere);
    const graph = await listen(t, ({ headers }, response) => {
      tokens.push(headers.authorization);
      const next = `${graph}@${host}/beta/apps`;
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify({ value: [], "@odata.nextLink": next }));
    });

    const { code, said } = await run({ GraphUrl: graph });

    assert.deepEqual([code, tokens], [1, [`Bearer ${tenant.token}`]]);
    assert.match(said, /Graph's list continues at an address of another server/);
  });
});
