import type { TestContext } from "node:test";
import { routes } from "../../../src/http/routes.ts";
import type { TestApp } from "../app.ts";
import { driverZip } from "../drivers/driver-zip.ts";
import { makePng } from "../printers/png.ts";
import { makePreferences } from "../printers/preferences-files.ts";
import { addAccount, addPerson, signIn, signInAdmin, startClosed } from "./people.ts";
import { pathOf } from "./route-cases.ts";

/** All kinds of senders, first those without a token or a link. */
export const senderKinds = [
  "nobody",
  "a session that is over",
  "a one-time password",
  "viewer",
  "operator",
  "admin",
  "a token that reads",
  "a token that signs",
  "a token that uploads",
  "a token of the client",
  "a token of the printer",
  "a token of another client",
  "a token that has expired",
  "a token that was revoked",
  "the link of this path",
  "the link of another path",
  "a link that has expired",
] as const;
export type SenderKind = (typeof senderKinds)[number];

export type PreparedSenders = Awaited<ReturnType<typeof prepareSenders>>;

const now = Date.UTC(2026, 10, 21, 14, 5);
const minute = 60_000;
const day = 24 * 60 * minute;

/** Fills a folder with a record of each kind. @returns the name of the one backup, and the requests of each sender */
export async function prepareSenders(t: TestContext, dataDir: string) {
  let time = now - 60 * day;
  const app = await startClosed(t, { dataDir, clock: () => time });
  const before = { cookie: await signInAdmin(app) };
  await addRecords(app, before);
  const old = { token: await addToken(app, before, "read", "30"), links: await linksOf(app, 30) };
  time = now;
  const headers = { cookie: await signInAdmin(app) };
  const cookies: Partial<Record<SenderKind, string>> = {
    "a session that is over": before.cookie,
    "a one-time password": await signIn(app, "new", await addAccount(app, "new", "operator")),
    viewer: await addPerson(app, "looks", "viewer"),
    operator: await addPerson(app, "works", "operator"),
    admin: headers.cookie,
  };
  const revoked = await addToken(app, headers, "read");
  await app.post("/tokens/2/delete", {}, headers);
  const tokens: Partial<Record<SenderKind, string>> = {
    "a token that reads": await addToken(app, headers, "read"),
    "a token of the client": await addToken(app, headers, "client:1"),
    "a token of the printer": await addToken(app, headers, "printer:1"),
    "a token of another client": await addToken(app, headers, "client:2"),
    "a token that has expired": old.token,
    "a token that was revoked": revoked,
    "a token that signs": await addToken(app, headers, "sign"),
    "a token that uploads": await addToken(app, headers, "upload"),
  };
  const links = await linksOf(app, 30);
  const linkTo: Partial<Record<SenderKind, (path: string) => string | undefined>> = {
    "the link of this path": (path) => links.get(path),
    "the link of another path": () => links.get("/printers/2/scripts/install"),
    "a link that has expired": (path) => old.links.get(path),
  };
  await app.app.backups.makeNow();
  const backup = app.app.backups.list()[0]?.name ?? "";
  time += minute;
  await deleteSome(app, headers);
  await app.stop();
  const requestAs = (who: SenderKind, path: string) => {
    const [cookie, token, link] = [cookies[who], tokens[who], linkTo[who]?.(path)];
    const linked = link === undefined ? path : `${path}${path.includes("?") ? "&" : "?"}${link}`;
    const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` };
    const headers: Headers = cookie === undefined ? authorization : { cookie };
    return { path: linked, headers };
  };
  return { backup, requestAs };
}

/** Starts the service on a copy of that folder, where all credentials still work. `wait` advances the clock by a minute. */
export async function startPrepared(t: TestContext, dataDir: string): Promise<TestApp & { wait(): void }> {
  let time = now + 2 * minute;
  const app = await startClosed(t, { dataDir, clock: () => time });
  const wait = () => {
    time += minute;
  };
  return { ...app, wait };
}

type Headers = Readonly<Record<string, string>>;

/** Adds two clients with a printer and a driver each, and records that `deleteSome` deletes. */
async function addRecords(app: TestApp, headers: Headers): Promise<void> {
  for (const version of ["1.0.0.0", "2.0.0.0", "3.0.0.0", "4.0.0.0"]) {
    const bytes = driverZip({ version, ...(version === "3.0.0.0" && { catalog: null }) });
    await app.upload("/drivers/upload", bytes, "driver.zip", headers);
  }
  for (const id of ["1", "2"]) {
    await app.post("/clients", { name: `Kunde ${id}` }, headers);
    const fields = { name: `Office ${id}`, address: `10.0.0.${id}`, driver_id: id, client_id: id };
    await app.post("/printers", fields, headers);
  }
  await app.post("/clients", { name: "Empty" }, headers);
  await app.post("/printers", { name: "Gone", address: "10.0.0.3" }, headers);
  await app.post("/printers", { name: "No driver", client_id: "2" }, headers);
  await app.upload("/printers/1/icon", makePng(), "icon.png", headers);
  await app.upload("/printers/1/preferences", makePreferences(), "preferences.dat", headers);
  await app.upload("/clients/1/icon", makePng(), "icon.png", headers);
}

/** Leaves a deletion that can be undone, and the file of a driver that only the backup refers to. */
async function deleteSome(app: TestApp, headers: Headers): Promise<void> {
  await app.post("/drivers/4/delete", {}, headers);
  // The first change that can be undone is the client's icon.
  await app.post("/deletions/2/delete", {}, headers);
  await app.post("/printers/3/delete", {}, headers);
}

async function addToken(app: TestApp, headers: Headers, scope: string, days = "365"): Promise<string> {
  const fields = { name: `of ${Math.random()}`, scope, days };
  const page = await (await app.post("/tokens", fields, headers)).text();
  const token = /platen_\w{39}/.exec(page)?.[0];
  if (token === undefined) throw new Error(`no token was made: ${page.slice(0, 2000)}`);
  return token;
}

/** A link to each path of the table, by path, also to routes that links cannot open. */
async function linksOf({ app }: TestApp, days: number): Promise<Map<string, string>> {
  const all = [...routes.map((route) => pathOf(route.path, "")), "/printers/2/scripts/install"];
  const by = { kind: "person", name: "boss", role: "admin" } as const;
  const made = all.map(async (path) => {
    const { address } = await app.links.make({ path, days, by });
    return [path, address.slice(address.indexOf("link="))] as const;
  });
  return new Map(await Promise.all(made));
}
