import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { startClosed } from "../support/access/people.ts";
import { groupedProxies } from "../support/access/proxies.ts";
import { client, startApp, type TestApp } from "../support/app.ts";
import { deepTest, selectCases } from "../support/depth.ts";
import { driverZip } from "../support/drivers/driver-zip.ts";
import { hasProblemsAfterCuts, problemsAfterCuts } from "../support/durability/cut-states.ts";
import { writeKinds } from "../support/durability/write-kinds.ts";
import { makePng } from "../support/printers/png.ts";

// A power cut comes after every call that changes the disk. The disk keeps some or all of the unsynced changes.

/** Without sign-in: writes of clients, drivers, printers, icons and deletions. */
const drivers = {
  start: (t: TestContext, dataDir: string) => startApp(t, { dataDir }),
  async work({ post, fetch, upload, app, addPrinter }: TestApp, acknowledged: () => void): Promise<void> {
    const done = async (ask: () => Promise<Response>) => {
      const answer = await ask();
      assert.equal(answer.status, 200, await answer.text());
      acknowledged();
    };
    const remove = (path: string) => () => fetch(path, { method: "DELETE" });
    await done(() => post("/clients", { name: "A" }));
    for (const version of ["1.0", "2.0"]) await done(() => upload("/drivers/upload", driverZip({ version })));
    await addPrinter({ name: "P", driver_id: "1" });
    acknowledged();
    await done(() => upload("/printers/1/icon", makePng(), "icon.png"));
    await done(remove("/clients/1"));
    await done(() => post(`/deletions/${app.undo.list()[0]?.id}/undo`, {}));
    await done(remove("/drivers/2"));
    await done(remove(`/deletions/${app.undo.list()[0]?.id}`));
    await done(() => post("/import", { text: "name,address\nQ,10.0.0.1\n" }));
    await done(remove("/printers/1"));
  },
};

/** With sign-in: writes of accounts, sessions, tokens, links and icons. */
const people = {
  async start(t: TestContext, dataDir: string): Promise<TestApp> {
    const service = await startClosed(t, { dataDir, proxies: groupedProxies() });
    return {
      ...service,
      ...client(service.url, { "remote-user": "boss", "remote-groups": "platen-admins" }),
    };
  },
  async work(service: TestApp, acknowledged: () => void): Promise<void> {
    await service.addDriver(driverZip({ version: "0.1" }));
    acknowledged();
    for (const [n, name] of selectCases(accessWrites, 5).entries()) {
      const { prepare, act } = writeKinds[name] ?? assert.fail(name);
      const id = (await prepare?.(service, n)) ?? 0;
      acknowledged();
      const answer = await act(service, id, n);
      assert.ok(answer.status < 400, `${name}: ${answer.status} ${await answer.text()}`);
      acknowledged();
    }
  },
};
const accessWrites = [
  ...["a new account", "a disabled account", "a deleted account"],
  ...["a new one-time password", "a chosen password"],
  ...["a sign-in", "an ended session", "a sign-out"],
  ...["a new token", "a revoked token", "a printer whose links are revoked"],
  ...["a replaced icon", "a deleted icon", "a changed printer"],
];

for (const [what, work] of Object.entries({ drivers, people })) {
  test(`${what}: after any power cut, the next start finds all acknowledged writes, and the audit log has them`, async (t) => {
    const { wrong, count } = await problemsAfterCuts(t, work);

    t.diagnostic(`${count} states of the disk`);
    assert.ok(count > 100, `${count}`);
    assert.deepEqual(wrong, []);
  });
}

/** Skipped syncs, and the paths that they concern. */
const unsynced = [
  ["the database's bytes are", /sqlite\.new$/],
  ["the database's new name is", /^\/data$/],
  ["an upload's bytes are", /^\/data\/incoming\/[0-9a-f-]{36}$/],
  ["an archive's new name is", /^\/data\/drivers$/],
  ["the data folder is", /^$/],
  ["the audit log is", /^\/data\/audit\/[0-9-]+\.jsonl$/],
] as const;
for (const [what, skipped] of unsynced) {
  deepTest(`the power cuts detect that ${what} not synced`, async (t) => {
    assert.ok(await hasProblemsAfterCuts(t, drivers, skipped));
  });
}
