import { parseClient } from "../../../src/domain/printers/client.ts";
import { adminPassword, ownPassword, signIn } from "../access/people.ts";
import { client, type TestApp } from "../app.ts";
import { driverZip } from "../drivers/driver-zip.ts";
import { makePng } from "../printers/png.ts";

/** One kind of write: `prepare` makes what it needs, `act` sends it. The number `n` differs each time. */
export interface WriteKind {
  /** The minimum number of disk calls that it makes. */
  readonly calls: number;
  readonly prepare?: (service: TestApp, n: number) => Promise<number>;
  readonly act: (service: TestApp, id: number, n: number) => Promise<Response>;
}

const addClient = async ({ app }: TestApp, n: number) =>
  app.store.clients.add(parseClient({ name: `Before ${n}` }));
const addPrinter = ({ addPrinter }: TestApp) => addPrinter({ driver_id: "1" });
const addDriver = ({ addDriver }: TestApp, n: number) => addDriver(driverZip({ version: `1.${n}` }));
const iconOf = (n: number) => makePng(256, 256, n + 1);
const sendDelete = ({ fetch }: TestApp, path: string) => fetch(path, { method: "DELETE" });

async function addIcon(service: TestApp, n: number): Promise<number> {
  const id = await addPrinter(service);
  await service.upload(`/printers/${id}/icon`, iconOf(n), "icon.png");
  return id;
}

async function deleteAndFindUndo(service: TestApp, path: string): Promise<number> {
  await (await sendDelete(service, path)).text();
  return service.app.undo.list()[0]?.id ?? 0;
}

const nameOf = (n: number) => `person${n}`;
/** The one-time password of the account that was added last. */
const oneTimePasswords = new Map<TestApp, string>();

async function addAccount(service: TestApp, n: number): Promise<number> {
  const { password, hash } = await service.app.passwords.makeOneTime();
  oneTimePasswords.set(service, password);
  return service.app.store.accounts.add(nameOf(n), "viewer", hash);
}

/** The cookie of the last sign-in. */
const cookies = new Map<TestApp, string>();

async function signInFirst(service: TestApp, n: number): Promise<number> {
  const id = await addAccount(service, n);
  cookies.set(service, await signIn(service, nameOf(n), oneTimePasswords.get(service) ?? ""));
  return id;
}

const addToken = async ({ app }: TestApp, n: number) =>
  (await app.tokens.add({ name: `Before ${n}`, scope: "read", days: "30" }, "admin")).id;

/** Adds a session of the administrator. The service keeps at most 20 sessions of an account. */
async function addSession(service: TestApp): Promise<number> {
  cookies.set(service, await signIn(service, "admin", adminPassword));
  const admin = service.app.store.accounts.findByName("admin")?.account.id ?? 0;
  return Math.max(...service.app.store.sessions.ofAccount(admin).map(({ id }) => id));
}

/** Sends requests with only the cookie that `prepare` got. */
const withCookie = (service: TestApp) => client(service.url, { cookie: cookies.get(service) ?? "" });

const records: Readonly<Record<string, WriteKind>> = {
  "a new client": { calls: 7, act: ({ post }, _, n) => post("/clients", { name: `New ${n}` }) },
  "a changed client": {
    calls: 7,
    prepare: addClient,
    act: ({ post }, id, n) => post(`/clients/${id}`, { name: `Changed ${n}` }),
  },
  "a deleted client": {
    calls: 7,
    prepare: addClient,
    act: (service, id) => sendDelete(service, `/clients/${id}`),
  },
  "a restored client": {
    calls: 7,
    prepare: async (service, n) => deleteAndFindUndo(service, `/clients/${await addClient(service, n)}`),
    act: ({ post }, id) => post(`/deletions/${id}/undo`, {}),
  },
  "a new printer": {
    calls: 7,
    act: ({ post }, _, n) => post("/printers", { name: `New ${n}`, address: "10.0.0.1" }),
  },
  "a changed printer": {
    calls: 7,
    prepare: addPrinter,
    act: ({ post }, id, n) => post(`/printers/${id}`, { name: `Changed ${n}`, address: "10.0.0.2" }),
  },
  "a deleted printer with its icon": {
    calls: 7,
    prepare: addIcon,
    act: (service, id) => sendDelete(service, `/printers/${id}`),
  },
  "an import": {
    calls: 7,
    act: ({ post }, _, n) =>
      post("/import", { text: `name,client,address\nA${n},Of ${n},10.0.0.1\nB${n},,10.0.0.2\n` }),
  },
  "an icon": {
    calls: 20,
    prepare: addPrinter,
    act: ({ upload }, id, n) => upload(`/printers/${id}/icon`, iconOf(n), "icon.png"),
  },
  "a replaced icon": {
    calls: 20,
    prepare: addIcon,
    act: ({ upload }, id, n) => upload(`/printers/${id}/icon`, makePng(256, 256, n + 5000), "icon.png"),
  },
  "a deleted icon": {
    calls: 7,
    prepare: addIcon,
    act: (service, id) => sendDelete(service, `/printers/${id}/icon`),
  },
  "a driver": {
    calls: 20,
    act: ({ upload }, _, n) => upload("/drivers/upload", driverZip({ version: `1.${n}` })),
  },
  "a deleted driver": {
    calls: 7,
    prepare: addDriver,
    act: (service, id) => sendDelete(service, `/drivers/${id}`),
  },
  "a restored driver": {
    calls: 7,
    prepare: async (service, n) => deleteAndFindUndo(service, `/drivers/${await addDriver(service, n)}`),
    act: ({ post }, id) => post(`/deletions/${id}/undo`, {}),
  },
  "a finally deleted driver": {
    calls: 14,
    prepare: async (service, n) => deleteAndFindUndo(service, `/drivers/${await addDriver(service, n)}`),
    act: (service, id) => sendDelete(service, `/deletions/${id}`),
  },
};

const people: Readonly<Record<string, WriteKind>> = {
  "a new account": {
    calls: 7,
    act: ({ post }, _, n) => post("/accounts", { name: nameOf(n), role: "viewer" }),
  },
  "a disabled account": {
    calls: 7,
    prepare: addAccount,
    act: ({ post }, id) => post(`/accounts/${id}/disable`, {}),
  },
  "a deleted account": {
    calls: 7,
    prepare: addAccount,
    act: (service, id) => sendDelete(service, `/accounts/${id}`),
  },
  "a new one-time password": {
    calls: 7,
    prepare: addAccount,
    act: ({ post }, id) => post(`/accounts/${id}/password`, {}),
  },
  "a chosen password": {
    calls: 7,
    prepare: signInFirst,
    act: (service) =>
      withCookie(service).post("/sign-in/password", {
        ...{ password: oneTimePasswords.get(service) ?? "", chosen: ownPassword, again: ownPassword },
      }),
  },
  "a sign-in": {
    calls: 6,
    act: ({ url }) => client(url).post("/sign-in", { name: "admin", password: adminPassword }),
  },
  "an ended session": {
    calls: 7,
    prepare: addSession,
    act: (service, id) => withCookie(service).post(`/account/sessions/${id}/end`, {}),
  },
  "a sign-out": {
    calls: 7,
    prepare: addSession,
    act: (service) => withCookie(service).post("/sign-out", {}),
  },
  "a new token": {
    calls: 7,
    act: ({ post }, _, n) => post("/tokens", { name: `New ${n}`, scope: "read", days: "30" }),
  },
  "a revoked token": { calls: 7, prepare: addToken, act: ({ post }, id) => post(`/tokens/${id}/delete`, {}) },
  "a printer whose links are revoked": {
    calls: 7,
    prepare: addPrinter,
    act: ({ post }, id) => post(`/printers/${id}/links/end`, {}),
  },
  "a change and its line in the audit log": {
    calls: 10,
    act: async ({ post, app }, _, n) => {
      const answer = await post("/clients", { name: `New ${n}` });
      await app.store.audit.flush();
      return answer;
    },
  },
};

/** Every kind of write by its description. */
export const writeKinds: Readonly<Record<string, WriteKind>> = { ...records, ...people };
