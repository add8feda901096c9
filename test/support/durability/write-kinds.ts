import type { TestContext } from "node:test";
import { parseClient } from "../../../src/domain/printers/client.ts";
import { adminPassword, ownPassword, signIn, startClosed } from "../access/people.ts";
import { groupedProxies } from "../access/proxies.ts";
import { client, type TestApp } from "../app.ts";
import { driverZip } from "../drivers/driver-zip.ts";
import { makePng } from "../printers/png.ts";
import { makeDriver } from "../records.ts";

/** A service with sign-in, to which requests come from an administrator. */
export async function startForWrites(t: TestContext, dataDir: string): Promise<TestApp> {
  const service = await startClosed(t, { dataDir, proxies: groupedProxies() });
  // Inspecting an upload in its own process is slow, and makes no difference to the disk calls of this process.
  service.app.inspections.inspect = async () => ({ report: makeDriver().report });
  return { ...service, ...client(service.url, { "remote-user": "boss", "remote-groups": "platen-admins" }) };
}

/** One kind of write: `prepare` makes what it needs, `act` sends it. The number `n` differs each time. */
export interface WriteKind {
  /** The minimum number of disk calls that it makes. */
  readonly calls: number;
  readonly prepare?: ((service: TestApp, n: number) => Promise<number>) | undefined;
  readonly act: (service: TestApp, id: number, n: number) => Promise<Response>;
}

const kind = (act: WriteKind["act"], prepare?: WriteKind["prepare"], calls = 7) => ({ act, prepare, calls });

const addClient = async ({ app }: TestApp, n: number) =>
  app.store.clients.add(parseClient({ name: `Before ${n}` }));
const addPrinter = ({ addPrinter }: TestApp) => addPrinter({ driver_id: "1" });
const addDriver = ({ addDriver }: TestApp, n: number) => addDriver(driverZip({ version: `1.${n}` }));
const sendIcon = ({ upload }: TestApp, id: number, seed: number) =>
  upload(`/printers/${id}/icon`, makePng(256, 256, seed + 1), "icon.png");

async function addIcon(service: TestApp, n: number): Promise<number> {
  const id = await addPrinter(service);
  await sendIcon(service, id, n);
  return id;
}

/** Deletes the record with an id, such as `/clients/7`. */
const deleteAt =
  (folder: string, rest = "") =>
  ({ fetch }: TestApp, id: number) =>
    fetch(`${folder}/${id}${rest}`, { method: "DELETE" });
const undo = ({ post }: TestApp, id: number) => post(`/deletions/${id}/undo`, {});

/** Adds a record and deletes it. @returns the deletion */
const deletionOf = (folder: string, add: (service: TestApp, n: number) => Promise<number>) =>
  async function prepare(service: TestApp, n: number): Promise<number> {
    await (await deleteAt(folder)(service, await add(service, n))).text();
    return service.app.undo.list()[0]?.id ?? 0;
  };

const importText = (n: number) => `name,client,address\nA${n},Of ${n},10.0.0.1\nB${n},,10.0.0.2\n`;

const records = {
  "a new client": kind(({ post }, _, n) => post("/clients", { name: `New ${n}` })),
  "a changed client": kind(({ post }, id, n) => post(`/clients/${id}`, { name: `Changed ${n}` }), addClient),
  "a deleted client": kind(deleteAt("/clients"), addClient),
  "a restored client": kind(undo, deletionOf("/clients", addClient)),
  "a new printer": kind(({ post }, _, n) => post("/printers", { name: `New ${n}`, address: "10.0.0.1" })),
  "a changed printer": kind(
    ({ post }, id, n) => post(`/printers/${id}`, { name: `Changed ${n}`, address: "10.0.0.2" }),
    addPrinter,
  ),
  "a deleted printer with its icon": kind(deleteAt("/printers"), addIcon),
  "an import": kind(({ post }, _, n) => post("/import", { text: importText(n) })),
  "an icon": kind(sendIcon, addPrinter, 20),
  "a replaced icon": kind((service, id, n) => sendIcon(service, id, n + 5000), addIcon, 20),
  "a deleted icon": kind(deleteAt("/printers", "/icon"), addIcon),
  "a driver": kind(
    ({ upload }, _, n) => upload("/drivers/upload", driverZip({ version: `1.${n}` })),
    undefined,
    20,
  ),
  "a deleted driver": kind(deleteAt("/drivers"), addDriver),
  "a restored driver": kind(undo, deletionOf("/drivers", addDriver)),
  "a finally deleted driver": kind(deleteAt("/deletions"), deletionOf("/drivers", addDriver), 14),
};

const nameOf = (n: number) => `person${n}`;
/** The one-time password of the account that was added last, and the cookie of the last sign-in. */
const oneTimePasswords = new Map<TestApp, string>();
const cookies = new Map<TestApp, string>();

async function addAccount(service: TestApp, n: number): Promise<number> {
  const { password, hash } = await service.app.passwords.makeOneTime();
  oneTimePasswords.set(service, password);
  return service.app.store.accounts.add(nameOf(n), "viewer", hash);
}

async function signInFirst(service: TestApp, n: number): Promise<number> {
  const id = await addAccount(service, n);
  cookies.set(service, await signIn(service, nameOf(n), oneTimePasswords.get(service) ?? ""));
  return id;
}

const newToken = (name: string) => ({ name, scope: "read", days: "30" });
const addToken = async ({ app }: TestApp, n: number) =>
  (await app.tokens.add(newToken(`Before ${n}`), "admin")).id;

/** Adds a session of the administrator. The service keeps at most 20 sessions of an account. */
async function addSession(service: TestApp): Promise<number> {
  cookies.set(service, await signIn(service, "admin", adminPassword));
  const admin = service.app.store.accounts.findByName("admin")?.account.id ?? 0;
  return Math.max(...service.app.store.sessions.ofAccount(admin).map(({ id }) => id));
}

/** Posts with only the cookie that `prepare` got. */
const postWithCookie = (service: TestApp, path: string, fields: Record<string, string> = {}) =>
  client(service.url, { cookie: cookies.get(service) ?? "" }).post(path, fields);

const people = {
  "a new account": kind(({ post }, _, n) => post("/accounts", { name: nameOf(n), role: "viewer" })),
  "a disabled account": kind(({ post }, id) => post(`/accounts/${id}/disable`, {}), addAccount),
  "a deleted account": kind(deleteAt("/accounts"), addAccount),
  "a new one-time password": kind(({ post }, id) => post(`/accounts/${id}/password`, {}), addAccount),
  "a chosen password": kind((service) => {
    const form = { password: oneTimePasswords.get(service) ?? "", chosen: ownPassword, again: ownPassword };
    return postWithCookie(service, "/sign-in/password", form);
  }, signInFirst),
  "a sign-in": kind(
    ({ url }) => client(url).post("/sign-in", { name: "admin", password: adminPassword }),
    undefined,
    6,
  ),
  "an ended session": kind(
    (service, id) => postWithCookie(service, `/account/sessions/${id}/end`),
    addSession,
  ),
  "a sign-out": kind((service) => postWithCookie(service, "/sign-out"), addSession),
  "a new token": kind(({ post }, _, n) => post("/tokens", newToken(`New ${n}`))),
  "a revoked token": kind(({ post }, id) => post(`/tokens/${id}/delete`, {}), addToken),
  "a printer whose links are revoked": kind(
    ({ post }, id) => post(`/printers/${id}/links/end`, {}),
    addPrinter,
  ),
  "a change and its line in the audit log": kind(
    async ({ post, app }, _, n) => {
      const answer = await post("/clients", { name: `New ${n}` });
      await app.store.audit.flush();
      return answer;
    },
    undefined,
    10,
  ),
};

/** Every kind of write by its description. */
export const writeKinds: Readonly<Record<string, WriteKind>> = { ...records, ...people };
