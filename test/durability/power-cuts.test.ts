import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { startClosed } from "../support/access/people.ts";
import { groupedProxies } from "../support/access/proxies.ts";
import { client, startApp, type TestApp } from "../support/app.ts";
import { deepTest } from "../support/depth.ts";
import { driverZip } from "../support/drivers/driver-zip.ts";
import { isWrongAfterCuts, wrongAfterCuts } from "../support/durability/cut-states.ts";
import { writeKinds } from "../support/durability/write-kinds.ts";
import { makePng } from "../support/printers/png.ts";

// After every call that changes the disk the power goes, and the disk keeps as much or as little as it may.

/** Whatever the service does with its disk. */
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

/** With sign-in on: what needs no driver, and changes accounts, sessions, tokens, links and icons. */
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
    for (const [n, name] of kindsOfPeople.entries()) {
      const { prepare, act } = writeKinds[name] ?? assert.fail(name);
      const id = (await prepare?.(service, n)) ?? 0;
      acknowledged();
      const answer = await act(service, id, n);
      assert.ok(answer.status < 400, `${name}: ${answer.status} ${await answer.text()}`);
      acknowledged();
    }
  },
};
const kindsOfPeople = [
  ...["a new account", "an account that is disabled", "a deleted account"],
  ...["a new one-time password", "a password of one's own"],
  ...["a sign-in", "a session that is ended", "a sign-out"],
  ...["a new token", "a revoked token", "a printer whose links end"],
  ...["an icon in place of another", "an icon that is taken away", "a changed printer"],
];

for (const [what, work] of Object.entries({ drivers, people })) {
  test(`${what}: whenever the power goes, and whatever the disk keeps, what was acknowledged is there after the next start, and in the audit log`, async (t) => {
    const { wrong, count } = await wrongAfterCuts(t, work);

    t.diagnostic(`${count} states of the disk`);
    assert.ok(count > 100, `${count}`);
    assert.deepEqual(wrong, []);
  });
}

/** What is not synced, and the files that it concerns. */
const unsynced = [
  ["the database's bytes are", /sqlite\.new$/],
  ["the database's new name is", /^\/data$/],
  ["an upload's bytes are", /^\/data\/incoming\/[0-9a-f-]{36}$/],
  ["an archive's new name is", /^\/data\/drivers$/],
  ["the data folder is", /^$/],
  ["the audit log is", /^\/data\/audit\/[0-9-]+\.jsonl$/],
] as const;
for (const [what, skipped] of unsynced) {
  deepTest(`the power cuts would find it if ${what} not synced`, async (t) => {
    assert.ok(await isWrongAfterCuts(t, drivers, skipped));
  });
}
