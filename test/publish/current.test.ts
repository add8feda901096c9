import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { startGuarded } from "../support/access/guarded.ts";
import { selectCases } from "../support/depth.ts";
import { startGraph } from "../support/graph/server.ts";
import { withoutPowerShell } from "../support/powershell/powershell.ts";
import { withShortPauses } from "../support/publish/publisher.ts";
import {
  addIcon,
  addSharedDriver,
  editPrinter,
  type Publishing,
  resultRows,
  sharedPublisher,
  startPublishing,
} from "../support/publish/publishing.ts";

const path = "/clients/1/publish";

describe("a script that was downloaded earlier", { skip: withoutPowerShell }, () => {
  const changes: Readonly<Record<string, (service: Publishing["service"]) => Promise<unknown>>> = {
    "another address": (service) => editPrinter(service, 1, { address: "10.0.0.99", port_name: "" }),
    "another name of the client": (service) => service.post("/clients/1", { name: "Fabrikam" }),
    "an icon": (service) => addIcon(service, 1),
    "a further printer": (service) =>
      service.addPrinter({ name: "Third", client_id: "1", driver_id: "1", address: "10.0.0.3" }),
    "a printer less": (service) => service.fetch("/printers/2", { method: "DELETE" }),
    "a printer that cannot be deployed": (service) =>
      service.post("/printers", { name: "Bare", client_id: "1", address: "10.0.0.9" }),
  };
  for (const [name, change] of selectCases(Object.entries(changes), 3)) {
    test(`does nothing after ${name} in Platen, and says why`, async (t) => {
      const { service, tenant, script, run } = await startPublishing(t);
      await addSharedDriver(service);
      const text = await script(path);
      await run(text);
      const requestCount = tenant.requests.length;

      await change(service);
      const result = await run(text);

      assert.deepEqual([result.code, tenant.requests.length], [1, requestCount]);
      assert.match(
        result.output.join("\n"),
        /Contoso: script of 20\d\d-\d\d-\d\d \d\d:\d\d UTC\nContoso - Failed: Platen has changed since this script was made\. Download the script again\./,
      );
    });
  }

  test("runs if only other records have changed", async (t) => {
    const { service, script, run } = await startPublishing(t);
    await addSharedDriver(service);
    const text = await script(path);
    await run(text);

    await service.post("/clients", { name: "Other" });
    await service.addPrinter({ client_id: "2", driver_id: "1", name: "Elsewhere", address: "10.0.0.7" });
    const second = await run(text);

    assert.equal(second.code, 0);
    assert.ok(resultRows(second).every((row) => row.includes("Unchanged")));
  });

  test("says that its record was deleted", async (t) => {
    const { service, tenant, script, run } = await startPublishing(t);
    const id = await service.addPrinter();
    const text = await script(`/printers/${id}/publish`);
    await service.fetch(`/printers/${id}`, { method: "DELETE" });

    const result = await run(text);

    assert.deepEqual([result.code, tenant.requests.length], [1, 0]);
    assert.match(
      result.output.join("\n"),
      /Failed: 'Office' was deleted in Platen\. Any other script removes its apps with -Remove\./,
    );
  });

  test("names findings to check in Platen", async (t) => {
    const { service, publish } = await startPublishing(t);
    await addSharedDriver(service, ["A", "B"]);
    await editPrinter(service, 1, { address: "10.0.0.2", port_name: "" });

    const run = await publish(path);

    assert.match(run.output.join("\n"), /Note: [AB]: .*10\.0\.0\.2/);
  });
});

test("with sign-in, a script checks for changes by its link, until links are ended", {
  skip: withoutPowerShell,
}, async (t) => {
  const { operator, viewer } = await startGuarded(t);
  const tenant = (await startGraph(t)).tenant("current");
  const publisher = sharedPublisher();
  const id = await operator.addPrinter();
  const text = withShortPauses(await (await viewer.fetch(`/printers/${id}/publish`)).text());
  const parameters = { GraphUrl: tenant.graphUrl, AccessToken: tenant.token };

  const first = await publisher.run(text, parameters);
  const removed = await publisher.run(text, { ...parameters, Remove: true, Force: true });
  await operator.post(`/printers/${id}/links/end`, {});
  const ended = await publisher.run(text, parameters);

  assert.deepEqual([first.code, removed.code, ended.code], [0, 0, 1], first.output.join("\n"));
  assert.match(ended.output.join("\n"), /Platen no longer gives this script \(answer 403\)/);
  assert.ok(![first, ended].some(({ log, output }) => /link=/.test(log + output.join())));
});
