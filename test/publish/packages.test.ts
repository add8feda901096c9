import assert from "node:assert/strict";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { describe, type TestContext, test } from "node:test";
import { temporaryFolder } from "../support/app.ts";
import { cleanUp } from "../support/clean-up.ts";
import { withoutPowerShell } from "../support/powershell/powershell.ts";
import {
  addSharedDriver,
  changesIn,
  editPrinter,
  type OnePrinter,
  resultRows,
  startPublishing,
  startWithPrinter,
} from "../support/publish/publishing.ts";

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
    assert.match(
      notes.join("\n"),
      /contoso-front-desk-without-driver\.intunewin\. Download it from http:\S+\/printers\/1\/packages\/mdm\?driver=apart$/m,
    );
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
    const server = createServer(({ method }, response) => {
      response.writeHead(method === "HEAD" ? 503 : 404);
      if (method === "HEAD") return void response.end();
      const more = setInterval(() => response.write("no <b>such</b> package ".repeat(40)), 5);
      response.on("close", () => clearInterval(more));
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    cleanUp(t, () => {
      server.closeAllConnections();
      server.close();
    });
    const other = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const text = await one.script(one.path);

    const run = await one.run(text.replaceAll(one.service.url, other));

    assert.deepEqual([run.code, changesIn(one.tenant)], [1, []]);
    assert.match(resultRows(run).join(), /answer 404, no such package no such package/);
    assert.ok(run.output.every((line) => line.length < 600));
  });
});
