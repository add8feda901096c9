import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { startApp, type TestApp, temporaryFolder } from "../support/app.ts";
import { type DiskCall, watchDisk } from "../support/disk-calls.ts";
import { disorderIn, type Rows, savedRows } from "../support/disk-state.ts";
import { driverZip } from "../support/driver-zip.ts";
import { makePng } from "../support/png.ts";
import { makeDriver } from "../support/records.ts";
import { until } from "../support/until.ts";

// Every call that the service makes of its file system while it writes fails once, with every error of these.

const codes = ["ENOSPC", "EIO", "EMFILE", "EROFS"] as const;

/** What is tried: `prepare` puts in place what it needs, `act` does it; the number is another one each time. */
interface Kind {
  readonly prepare?: (service: TestApp, n: number) => Promise<number>;
  readonly act: (service: TestApp, id: number, n: number) => Promise<Response>;
}

const addClient = async ({ app }: TestApp, n: number) =>
  app.store.clients.add({ name: `Before ${n}`, notes: "", subnets: [] });
const addPrinter = ({ addPrinter }: TestApp) => addPrinter({ driver_id: "1" });
const addDriver = ({ addDriver }: TestApp, n: number) => addDriver(driverZip({ version: `1.${n}` }));
const iconOf = (n: number) => makePng(256, 256, n + 1);
const remove = ({ fetch }: TestApp, path: string) => fetch(path, { method: "DELETE" });

async function addIcon(service: TestApp, n: number): Promise<number> {
  const id = await addPrinter(service);
  await service.upload(`/printers/${id}/icon`, iconOf(n), "icon.png");
  return id;
}

async function deleted(service: TestApp, path: string): Promise<number> {
  await (await remove(service, path)).text();
  return service.app.undo.list()[0]?.id ?? 0;
}

const kinds: Readonly<Record<string, Kind>> = {
  "a new client": { act: ({ post }, _, n) => post("/clients", { name: `New ${n}` }) },
  "a changed client": {
    prepare: addClient,
    act: ({ post }, id, n) => post(`/clients/${id}`, { name: `Changed ${n}` }),
  },
  "a deleted client": { prepare: addClient, act: (service, id) => remove(service, `/clients/${id}`) },
  "a client that comes back": {
    prepare: async (service, n) => deleted(service, `/clients/${await addClient(service, n)}`),
    act: ({ post }, id) => post(`/deletions/${id}/undo`, {}),
  },
  "a new printer": { act: ({ post }, _, n) => post("/printers", { name: `New ${n}`, address: "10.0.0.1" }) },
  "a changed printer": {
    prepare: addPrinter,
    act: ({ post }, id, n) => post(`/printers/${id}`, { name: `Changed ${n}`, address: "10.0.0.2" }),
  },
  "a deleted printer with its icon": {
    prepare: addIcon,
    act: (service, id) => remove(service, `/printers/${id}`),
  },
  "an import": {
    act: ({ post }, _, n) =>
      post("/import", { text: `name,client,address\nA${n},Of ${n},10.0.0.1\nB${n},,10.0.0.2\n` }),
  },
  "an icon": {
    prepare: addPrinter,
    act: ({ upload }, id, n) => upload(`/printers/${id}/icon`, iconOf(n), "icon.png"),
  },
  "an icon in place of another": {
    prepare: addIcon,
    act: ({ upload }, id, n) => upload(`/printers/${id}/icon`, makePng(256, 256, n + 5000), "icon.png"),
  },
  "an icon that is taken away": {
    prepare: addIcon,
    act: (service, id) => remove(service, `/printers/${id}/icon`),
  },
  "a driver": {
    act: ({ upload }, _, n) => upload("/drivers/upload", driverZip({ version: `1.${n}` })),
  },
  "a deleted driver": { prepare: addDriver, act: (service, id) => remove(service, `/drivers/${id}`) },
  "a driver that comes back": {
    prepare: async (service, n) => deleted(service, `/drivers/${await addDriver(service, n)}`),
    act: ({ post }, id) => post(`/deletions/${id}/undo`, {}),
  },
  "a driver that is deleted for good": {
    prepare: async (service, n) => deleted(service, `/drivers/${await addDriver(service, n)}`),
    act: (service, id) => remove(service, `/deletions/${id}`),
  },
};

interface Fault {
  readonly at: number;
  readonly code: (typeof codes)[number];
}

/** A disk of which one call fails while it is armed. */
async function faultyDisk(t: TestContext, folder: string) {
  let fault: Fault | undefined;
  let count = 0;
  let failed: DiskCall | undefined;
  await watchDisk(t, folder, (call) => {
    if (fault === undefined || ++count !== fault.at) return undefined;
    failed = call;
    throw Object.assign(new Error(`${fault.code}: injected, ${call.name}`), { code: fault.code });
  });
  const arm = (next: Fault) => {
    [fault, count, failed] = [next, 0, undefined];
  };
  /** @returns the call that failed; undefined where there were not so many */
  const disarm = () => {
    fault = undefined;
    return failed;
  };
  return { arm, disarm };
}

async function start(t: TestContext, dataDir: string): Promise<TestApp> {
  const service = await startApp(t, { dataDir });
  // A process of its own for each upload takes long, and calls this one's file system no differently.
  service.app.inspections.inspect = async () => makeDriver().report;
  return service;
}

interface Attempt {
  readonly service: TestApp;
  readonly disk: Awaited<ReturnType<typeof faultyDisk>>;
  readonly kind: Kind;
  readonly fault: Fault;
  /** Another one for each attempt. */
  readonly n: number;
  /** What lies around of attempts before. */
  readonly known: Set<string>;
}

/** Does it once with this fault. @returns what was wrong; undefined where there were not so many calls */
async function tryWith(attempt: Attempt): Promise<string[] | undefined> {
  const { service, disk, kind, fault, n } = attempt;
  const { dataDir } = service;
  const id = (await kind.prepare?.(service, n)) ?? 0;
  const before = await savedRows(dataDir);
  disk.arm(fault);
  const answer = await kind.act(service, id, n);
  const text = await answer.text();
  const failed = disk.disarm();
  if (failed === undefined) return undefined;
  const after = await savedRows(dataDir);
  const isChanged = JSON.stringify(after) !== JSON.stringify(before);
  const wrong = [
    ...wrongIn(answer, text, fault, isChanged),
    ...(await wrongNext(service, n, after)),
    ...(await newDisorder(attempt, failed)),
  ];
  const where = `${fault.code} at call ${fault.at}, ${failed.name} ${failed.path.slice(dataDir.length)}`;
  return wrong.map((what) => `${where}: ${what}`);
}

/** An answer says what is true, and a refusal says why. */
function wrongIn({ status }: Response, text: string, { code }: Fault, isChanged: boolean): string[] {
  if (status < 400) return isChanged ? [] : [`answered ${status}, and nothing was saved`];
  const isClear = status === (code === "ENOSPC" ? 507 : 500) && /othing was (?:saved|changed)/.test(text);
  const lie = isChanged ? [`answered ${status}, and it was saved`] : [];
  return isClear ? lie : [...lie, `answered ${status}: ${text.slice(0, 200)}`];
}

/** The next write is done, and brings nothing along. */
async function wrongNext({ dataDir, post, fetch, app }: TestApp, n: number, after: Rows): Promise<string[]> {
  const answers = [await post("/clients", { name: `Next ${n}` }), await fetch("/health")];
  const now = await savedRows(dataDir);
  const others = { ...now, clients: now.clients.filter(({ name }) => name !== `Next ${n}`) };
  // Each driver of a list takes a call.
  for (const { id } of app.store.drivers.list())
    if (id > 1) await app.undo.end((await app.undo.removeDriver(id)) ?? 0);
  const statuses = answers.map(({ status }) => status).join();
  return [
    ...(statuses === "200,200" ? [] : [`then the service answers ${statuses}`]),
    ...(JSON.stringify(others) === JSON.stringify(after) ? [] : ["the next write changed more than its own"]),
  ];
}

/** Files that nobody needs, or that are missing; what the disk refused to delete waits for the next start. */
async function newDisorder({ service: { dataDir }, known }: Attempt, { name }: DiskCall): Promise<string[]> {
  const find = async () => disorderIn(dataDir, await savedRows(dataDir)).filter((what) => !known.has(what));
  const patience = performance.now() + 500;
  if (name !== "rm") await until(async () => performance.now() > patience || (await find()).length === 0);
  const found = await find();
  for (const what of found) known.add(what);
  return name === "rm" ? [] : found;
}

for (const [name, kind] of Object.entries(kinds)) {
  test(`${name}: whatever call of the disk fails, it is said, and nothing is lost or left`, async (t) => {
    const dataDir = await temporaryFolder(t);
    const disk = await faultyDisk(t, dataDir);
    const service = await start(t, dataDir);
    await service.addDriver(driverZip({ version: "0.1" }));
    const wrong: string[] = [];
    const known = new Set<string>();
    let n = 0;
    let calls = 0;

    for (const code of codes) {
      for (let at = 1; ; at++) {
        const found = await tryWith({ service, disk, kind, fault: { at, code }, n: n++, known });
        if (found === undefined) break;
        calls++;
        wrong.push(...found);
      }
    }
    await service.stop();
    const again = await start(t, dataDir);
    wrong.push(
      ...disorderIn(dataDir, await savedRows(dataDir)).map((what) => `after the next start: ${what}`),
    );
    await again.stop();

    t.diagnostic(`${calls} calls failed`);
    assert.ok(calls >= 10, `${calls} calls`);
    assert.deepEqual(wrong, []);
  });
}
