import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { deepTest } from "../support/depth.ts";
import { withoutPowerShell } from "../support/powershell/powershell.ts";
import {
  addSharedDriver,
  appOf,
  changesIn,
  editPrinter,
  type Publishing,
  resultRows,
  startPublishing,
  startWithPrinter,
} from "../support/publish/publishing.ts";

async function packageOf({ service }: Publishing, path: string): Promise<Buffer> {
  return Buffer.from(await (await service.fetch(path)).arrayBuffer());
}

/** Runs `work` at the script's first request to the tenant. */
function onFirstRequest({ tenant }: Publishing, work: () => Promise<unknown>): void {
  tenant.onRequest = async () => {
    tenant.onRequest = undefined;
    await work();
  };
}

describe("the source of a package", { skip: withoutPowerShell }, () => {
  let folder = "";
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "platen-given-"));
  });
  after(async () => {
    await rm(folder, { recursive: true, force: true });
  });

  test("a file is used if the script was made for it, and Platen gets no request", async (t) => {
    const publishing = await startWithPrinter(t);
    const { id, path } = publishing;
    const text = await publishing.script(path);
    const file = join(folder, "given.intunewin");
    await writeFile(file, await packageOf(publishing, `/printers/${id}/packages/mdm`));
    await publishing.service.stop();

    const run = await publishing.run(text, { Package: file });

    assert.equal(run.code, 0, run.said);
    assert.ok(publishing.tenant.content(appOf(publishing.tenant, `printer:${id}`).id).size > 0);
  });

  deepTest("a folder contains the files of several apps under Platen's file names", async (t) => {
    const publishing = await startPublishing(t);
    await addSharedDriver(publishing.service);
    const text = await publishing.script("/clients/1/publish");
    const several = join(folder, "several");
    await mkdir(several);
    for (const path of [
      "/drivers/1/packages/mdm",
      "/printers/1/packages/mdm?driver=apart",
      "/printers/2/packages/mdm?driver=apart",
    ]) {
      const answer = await publishing.service.fetch(path);
      const name = /filename="([^"]+)"/.exec(answer.headers.get("content-disposition") ?? "")?.[1] ?? "";
      await writeFile(join(several, name), Buffer.from(await answer.arrayBuffer()));
    }
    await publishing.service.stop();

    const run = await publishing.run(text, { Package: several });

    assert.deepEqual([run.code, publishing.tenant.apps().length], [0, 3], run.said);
  });

  deepTest("files that a folder lacks are named first, with their addresses", async (t) => {
    const publishing = await startPublishing(t);
    await addSharedDriver(publishing.service);
    const empty = join(folder, "empty");
    await mkdir(empty);

    const run = await publishing.publish("/clients/1/publish", { Package: empty });

    const notes = run.output.filter((line) => line.startsWith("Note: the folder has no "));
    assert.deepEqual([run.code, changesIn(publishing.tenant), notes.length], [1, [], 3]);
    assert.match(
      notes.join("\n"),
      /contoso-front-desk-without-driver\.intunewin\. Download it from http:\S+\/printers\/1\/packages\/mdm\?driver=apart$/m,
    );
  });

  test("one file for several apps is refused, and the refusal names the expected files", async (t) => {
    const publishing = await startPublishing(t);
    await addSharedDriver(publishing.service);
    const file = join(folder, "one.intunewin");
    await writeFile(file, await packageOf(publishing, "/printers/1/packages/mdm"));

    const run = await publishing.publish("/clients/1/publish", { Package: file });

    assert.deepEqual([run.code, changesIn(publishing.tenant)], [1, []]);
    assert.match(
      resultRows(run).join(),
      /Use -Package with the folder that contains \S+\.intunewin and the others/,
    );
  });

  const wrong: Readonly<Record<string, [(whole: Buffer) => Buffer, RegExp]>> = {
    "is cut short": [(whole) => whole.subarray(0, -9), /is not the package that this script was made for/],
    "has a flipped bit in its content": [
      (whole) => {
        const copy = Buffer.from(whole);
        copy[2000] = (copy[2000] ?? 0) ^ 1;
        return copy;
      },
      /is damaged: its checksum is wrong/,
    ],
    "is no ZIP": [(whole) => Buffer.alloc(whole.length, 7), /is not a valid \.intunewin/],
  };
  for (const [name, [spoil, message]] of Object.entries(wrong)) {
    test(`a file that ${name} is refused before any change`, async (t) => {
      const publishing = await startWithPrinter(t);
      const { id, path } = publishing;
      const file = join(folder, "wrong.intunewin");
      await writeFile(file, spoil(await packageOf(publishing, `/printers/${id}/packages/mdm`)));

      const run = await publishing.publish(path, { Package: file });

      assert.deepEqual([run.code, changesIn(publishing.tenant)], [1, []]);
      assert.match(resultRows(run).join(), message);
    });
  }

  test("another printer's file of the same size is refused", async (t) => {
    const publishing = await startWithPrinter(t, {}, { address: "10.0.0.11" });
    const { service, id, path } = publishing;
    const older = await packageOf(publishing, `/printers/${id}/packages/mdm`);
    let newer = older;
    for (let last = 12; last < 99; last++) {
      await editPrinter(service, id, { address: `10.0.0.${last}`, port_name: "" });
      newer = await packageOf(publishing, `/printers/${id}/packages/mdm`);
      if (newer.length === older.length) break;
    }
    assert.equal(newer.length, older.length, "two addresses make packages of one size");
    const file = join(folder, "older.intunewin");
    await writeFile(file, older);

    const run = await publishing.publish(path, { Package: file });

    assert.deepEqual([run.code, changesIn(publishing.tenant)], [1, []]);
    assert.match(resultRows(run).join(), /is not the package that this script was made for/);
  });

  test("a printer that changes while the script runs is not published", async (t) => {
    const publishing = await startWithPrinter(t);
    const { id, path } = publishing;
    const text = await publishing.script(path);
    onFirstRequest(publishing, () =>
      editPrinter(publishing.service, id, { address: "10.0.0.12", port_name: "" }),
    );

    const run = await publishing.run(text);

    assert.deepEqual([run.code, changesIn(publishing.tenant)], [1, []]);
    assert.match(
      resultRows(run).join(),
      /has changed since this script was made\. Download the script again/,
    );
  });

  test("a refusal with an endless body is cut off", async (t) => {
    const publishing = await startWithPrinter(t);
    const { path } = publishing;
    const server = createServer(({ method }, response) => {
      response.writeHead(method === "HEAD" ? 503 : 404);
      if (method === "HEAD") return void response.end();
      const more = setInterval(() => response.write("no <b>such</b> package ".repeat(40)), 5);
      response.on("close", () => clearInterval(more));
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    t.after(() => {
      server.closeAllConnections();
      server.close();
    });
    const other = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const text = await publishing.script(path);

    const run = await publishing.run(text.replaceAll(publishing.service.url, other));

    assert.deepEqual([run.code, changesIn(publishing.tenant)], [1, []]);
    assert.match(resultRows(run).join(), /answer 404, no such package no such package/);
    assert.ok(run.output.every((line) => line.length < 600));
  });

  test("Platen's refusal is shown, and nothing is changed", async (t) => {
    const publishing = await startWithPrinter(t);
    const { id, path } = publishing;
    const text = await publishing.script(path);
    onFirstRequest(publishing, () => publishing.service.fetch(`/printers/${id}`, { method: "DELETE" }));

    const run = await publishing.run(text);

    assert.deepEqual([run.code, changesIn(publishing.tenant)], [1, []]);
    assert.match(resultRows(run).join(), /Platen refused office\.intunewin at http:\S+: answer 404/);
  });
});
