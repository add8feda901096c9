import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { startGuarded } from "../support/access/guarded.ts";
import { navigation } from "../support/app.ts";
import { startGraph } from "../support/graph/server.ts";
import { withoutPowerShell } from "../support/powershell/powershell.ts";
import { withShortPauses } from "../support/publish/publisher.ts";
import { sharedPublisher } from "../support/publish/publishing.ts";

describe("publishing with sign-in", { skip: withoutPowerShell }, () => {
  test("a viewer's script downloads its packages by links, which are not in its log", async (t) => {
    const { operator, viewer } = await startGuarded(t);
    const tenant = (await startGraph(t)).tenant("guarded");
    await operator.post("/clients", { name: "Contoso" });
    const driver_id = String(await operator.addDriver());
    for (const name of ["A", "B"])
      await operator.post("/printers", { name, client_id: "1", driver_id, address: "10.0.0.1" }, navigation);
    const text = await (await viewer.fetch("/clients/1/publish")).text();

    const { GraphUrl, AccessToken } = { GraphUrl: tenant.graphUrl, AccessToken: tenant.token };
    const run = await sharedPublisher().run(withShortPauses(text), { GraphUrl, AccessToken });

    assert.deepEqual([run.code, run.errors, tenant.apps().length], [0, [], 3], run.output.join("\n"));
    assert.match(text, /\?driver=apart&link=/);
    assert.doesNotMatch(run.output.join() + run.log, /link=/);
  });

  test("a script whose links have ended says so and names the remedy", async (t) => {
    const { operator } = await startGuarded(t);
    const tenant = (await startGraph(t)).tenant("ended");
    const id = await operator.addPrinter();
    const text = await (await operator.fetch(`/printers/${id}/publish`)).text();
    await operator.post(`/printers/${id}/links/end`, {});

    const run = await sharedPublisher().run(withShortPauses(text), {
      GraphUrl: tenant.graphUrl,
      AccessToken: tenant.token,
    });

    assert.deepEqual([run.code, tenant.apps()], [1, []]);
    assert.match(
      run.output.join("\n"),
      /Platen no longer gives this script \(answer 403\)\. Open its page, and download the script again\./,
    );
  });

  test("the script of a token for one printer does not contain the ids of records, and removes nothing", async (t) => {
    const { operator, addToken, bearer } = await startGuarded(t);
    const tenant = (await startGraph(t)).tenant("scoped");
    const id = await operator.addPrinter();
    const text = await (
      await bearer(await addToken(`printer:${id}`)).fetch(`/printers/${id}/publish`)
    ).text();

    const parameters = { GraphUrl: tenant.graphUrl, AccessToken: tenant.token };
    const removed = await sharedPublisher().run(withShortPauses(text), {
      ...parameters,
      Remove: true,
      Force: true,
    });
    const run = await sharedPublisher().run(withShortPauses(text), parameters);

    assert.deepEqual([removed.code, run.code], [1, 0], run.output.join("\n"));
    assert.match(
      removed.output.join("\n"),
      /-Remove needs a script from an account that sees all records of Platen/,
    );
  });
});
