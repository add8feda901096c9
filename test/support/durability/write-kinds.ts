import { adminPassword, ownPassword, signIn } from "../access/people.ts";
import { client, type TestApp } from "../app.ts";
import { driverZip } from "../drivers/driver-zip.ts";
import { makePng } from "../printers/png.ts";

/** One kind of write: `prepare` puts in place what it needs, `act` does it; the number is another one each time. */
export interface WriteKind {
  /** So many calls of the disk it makes at least. */
  readonly calls: number;
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

const nameOf = (n: number) => `person${n}`;
/** With a one-time password, which is not the one of its name. */
const oneTime = new Map<TestApp, string>();

async function addAccount(service: TestApp, n: number): Promise<number> {
  const { password, hash } = await service.app.passwords.makeOneTime();
  oneTime.set(service, password);
  return service.app.store.accounts.add(nameOf(n), "viewer", hash);
}

/** Somebody who signed in with a one-time password. */
const cookies = new Map<TestApp, string>();

async function signInFirst(service: TestApp, n: number): Promise<number> {
  const id = await addAccount(service, n);
  cookies.set(service, await signIn(service, nameOf(n), oneTime.get(service) ?? ""));
  return id;
}

const addToken = async ({ app }: TestApp, n: number) =>
  (await app.tokens.add({ name: `Before ${n}`, scope: "read", days: "30" }, "admin")).id;

/** Another session of the administrator's; of each account the service keeps twenty. */
async function addSession(service: TestApp): Promise<number> {
  cookies.set(service, await signIn(service, "admin", adminPassword));
  const admin = service.app.store.accounts.findByName("admin")?.account.id ?? 0;
  return Math.max(...service.app.store.sessions.ofAccount(admin).map(({ id }) => id));
}

/** Whoever has the cookie that `prepare` got, and nothing else. */
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
    act: (service, id) => remove(service, `/clients/${id}`),
  },
  "a client that comes back": {
    calls: 7,
    prepare: async (service, n) => deleted(service, `/clients/${await addClient(service, n)}`),
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
    act: (service, id) => remove(service, `/printers/${id}`),
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
  "an icon in place of another": {
    calls: 20,
    prepare: addIcon,
    act: ({ upload }, id, n) => upload(`/printers/${id}/icon`, makePng(256, 256, n + 5000), "icon.png"),
  },
  "an icon that is taken away": {
    calls: 7,
    prepare: addIcon,
    act: (service, id) => remove(service, `/printers/${id}/icon`),
  },
  "a driver": {
    calls: 20,
    act: ({ upload }, _, n) => upload("/drivers/upload", driverZip({ version: `1.${n}` })),
  },
  "a deleted driver": {
    calls: 7,
    prepare: addDriver,
    act: (service, id) => remove(service, `/drivers/${id}`),
  },
  "a driver that comes back": {
    calls: 7,
    prepare: async (service, n) => deleted(service, `/drivers/${await addDriver(service, n)}`),
    act: ({ post }, id) => post(`/deletions/${id}/undo`, {}),
  },
  "a driver that is deleted for good": {
    calls: 14,
    prepare: async (service, n) => deleted(service, `/drivers/${await addDriver(service, n)}`),
    act: (service, id) => remove(service, `/deletions/${id}`),
  },
};

const people: Readonly<Record<string, WriteKind>> = {
  "a new account": {
    calls: 7,
    act: ({ post }, _, n) => post("/accounts", { name: nameOf(n), role: "viewer" }),
  },
  "an account that is disabled": {
    calls: 7,
    prepare: addAccount,
    act: ({ post }, id) => post(`/accounts/${id}/disable`, {}),
  },
  "a deleted account": {
    calls: 7,
    prepare: addAccount,
    act: (service, id) => remove(service, `/accounts/${id}`),
  },
  "a new one-time password": {
    calls: 7,
    prepare: addAccount,
    act: ({ post }, id) => post(`/accounts/${id}/password`, {}),
  },
  "a password of one's own": {
    calls: 7,
    prepare: signInFirst,
    act: (service) =>
      withCookie(service).post("/sign-in/password", {
        ...{ password: oneTime.get(service) ?? "", chosen: ownPassword, again: ownPassword },
      }),
  },
  "a sign-in": {
    calls: 6,
    act: ({ url }) => client(url).post("/sign-in", { name: "admin", password: adminPassword }),
  },
  "a session that is ended": {
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
  "a printer whose links end": {
    calls: 7,
    prepare: addPrinter,
    act: ({ post }, id) => post(`/printers/${id}/links/end`, {}),
  },
  "a change with its line in the audit log": {
    calls: 10,
    act: async ({ post, app }, _, n) => {
      const answer = await post("/clients", { name: `New ${n}` });
      await app.store.audit.flush();
      return answer;
    },
  },
};

/** Every kind of write there is, by what it does. */
export const writeKinds: Readonly<Record<string, WriteKind>> = { ...records, ...people };
