import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { navigation, startApp, type TestApp } from "../app.ts";
import { atEnd } from "../at-end.ts";
import { driverZip } from "../drivers/driver-zip.ts";
import type { BehaviourChanges } from "../graph/behaviour.ts";
import type { Fields } from "../graph/schema.ts";
import { type SimulatedGraph, startGraph } from "../graph/server.ts";
import type { Tenant } from "../graph/tenant.ts";
import { makePng } from "../printers/png.ts";
import { readSettings } from "./published.ts";
import { publishBefore } from "./published-before.ts";
import { Publisher, type PublishRun, withShortPauses } from "./publisher.ts";

/** A service, a tenant in a simulated Graph, and a PowerShell that publishes from one to the other. */
export interface Publishing {
  readonly service: TestApp;
  readonly tenant: Tenant;
  /** Adds a tenant with this name; `<name>.example` is its domain. */
  addTenant(name: string, behaviour?: BehaviourChanges): Tenant;
  /** The addresses that all tenants share. The token or the domain in the path selects the tenant. */
  readonly shared: { readonly GraphUrl: string; readonly LoginUrl: string };
  /** Downloads a publish script and shortens its pauses. @param others additional replacements */
  script(path: string, others?: readonly (readonly [string, string])[]): Promise<string>;
  /** Downloads a publish script and runs it with the tenant's token. */
  publish(path: string, parameters?: Record<string, unknown>): Promise<PublishRun>;
  /** Leaves in the tenant what a run of the path's script leaves. @param how together: as a run with `-Together` */
  published(path: string, how?: { together?: boolean; tenant?: Tenant }): Promise<void>;
  /** Runs a script with the tenant's token. */
  run(
    script: string,
    parameters?: Record<string, unknown>,
    environment?: Record<string, string>,
  ): Promise<PublishRun>;
}

let publisher: Publisher | undefined;
let tenants = 0;

/** The PowerShell that runs all publish scripts of this process. */
export function sharedPublisher(): Publisher {
  if (publisher === undefined) {
    publisher = new Publisher();
    atEnd(() => publisher?.close());
  }
  return publisher;
}

export async function startPublishing(
  t: TestContext,
  behaviour: BehaviourChanges = {},
  options: Parameters<typeof startApp>[1] = {},
): Promise<Publishing> {
  const service = await startApp(t, options);
  const graph: SimulatedGraph = await startGraph(t);
  const tenant = graph.tenant(`tenant-${++tenants}`, behaviour);
  const script: Publishing["script"] = async (path, others = []) => {
    const answer = await service.fetch(path);
    assert.equal(answer.status, 200, await answer.clone().text());
    return withShortPauses(await answer.text(), others);
  };
  const run: Publishing["run"] = async (text, parameters = {}, environment = {}) => {
    const { graphUrl, loginUrl, token } = tenant;
    const known = { GraphUrl: graphUrl, LoginUrl: loginUrl, AccessToken: token };
    const given = Object.entries({ ...known, ...parameters }).filter(([, value]) => value !== undefined);
    const result = await sharedPublisher().run(text, Object.fromEntries(given), environment);
    checkRun(tenant, result);
    return result;
  };
  const ofAll = (url: string) => url.replace(/[^/]+$/, "any");
  return {
    service,
    tenant,
    addTenant: (name, changes = {}) => graph.tenant(name, { pageSize: 100, ...changes }),
    shared: { GraphUrl: ofAll(tenant.graphUrl), LoginUrl: ofAll(tenant.loginUrl) },
    script,
    run,
    publish: async (path, parameters) => run(await script(path), parameters),
    published: async (path, { together = false, tenant: other = tenant } = {}) => {
      const settings = readSettings(await (await service.fetch(path)).text());
      const whole = settings.Together === null ? [] : [settings.Together];
      publishBefore(other, settings, together ? whole : settings.Apps);
    },
  };
}

/** A printer, and the path of its script. */
export interface OnePrinter extends Publishing {
  readonly id: number;
  readonly path: string;
  /** The printer's app in the tenant. */
  app(): ReturnType<typeof appOf>;
}

export async function startWithPrinter(
  t: TestContext,
  behaviour: BehaviourChanges = {},
  fields: Record<string, string> = {},
): Promise<OnePrinter> {
  const publishing = await startPublishing(t, behaviour);
  const id = await publishing.service.addPrinter(fields);
  return {
    ...publishing,
    id,
    path: `/printers/${id}/publish`,
    app: () => appOf(publishing.tenant, `printer:${id}`),
  };
}

/** As `startWithPrinter`, after a run of the printer's script. */
export async function startPublished(
  t: TestContext,
  behaviour: BehaviourChanges = {},
  fields: Record<string, string> = {},
): Promise<OnePrinter> {
  const one = await startWithPrinter(t, behaviour, fields);
  await one.published(one.path);
  return one;
}

/** Checks what every run must guarantee. */
export function checkRun(tenant: Tenant, { errors, left, output, log, noted, rows }: PublishRun): void {
  assert.deepEqual(errors, [], "nothing is written to STDERR");
  assert.deepEqual(left, [], "no temporary file stays");
  assert.deepEqual(tenant.leaks, [], "no token is sent to the storage");
  // Platen may remove relationships to its own driver apps. All others belong to an administrator.
  const lost = tenant.lostChildren.filter(
    ({ child }) => !/platen:\w+:driver:/.test(String(tenant.app(child).notes)),
  );
  assert.deepEqual([tenant.lostIcons, lost], [[], []]);
  const everything = [...output, log, noted, JSON.stringify(rows)].join("\n");
  for (const secret of secretsOf(tenant))
    assert.ok(!everything.includes(secret), "no secret is written, logged or in $Error");
  assert.ok(!/[?&]sig=|link=/.test(everything), "no address with a signature or link is written or logged");
}

function secretsOf({ state, signIns, requests }: Tenant): string[] {
  const forms = requests.filter(({ area }) => area === "login").map(({ body }) => (body ?? {}) as Fields);
  const sent = forms.flatMap(({ code, code_verifier, client_secret, client_assertion }) =>
    [code, code_verifier, client_secret, client_assertion].filter((text) => typeof text === "string"),
  );
  return [...state.tokens.keys(), ...signIns.refreshTokens.keys(), ...sent];
}

/** The tenant's only app for a record. @param key such as `printer:7` */
export function appOf(tenant: Tenant, key: string): Fields & { readonly id: string } {
  const found = tenant
    .apps()
    .filter(({ notes }) => new RegExp(`platen:\\w+:${key}(?!\\d)`).test(String(notes)));
  assert.equal(found.length, 1, `${found.length} apps have the marker of ${key}`);
  return found[0] as Fields & { readonly id: string };
}

/** Requests that change the tenant, as `PATCH /mobileApps/…`, with `{id}` for ids. @param since number of the last request to skip */
export function changesIn(tenant: Tenant, since = 0): string[] {
  return tenant.requests
    .filter(({ area, method, number }) => number > since && area !== "login" && method !== "GET")
    .map(({ area, method, path }) => `${method} ${area === "storage" ? "storage" : shortPath(path)}`);
}

function shortPath(path: string): string {
  return path
    .replace("/beta/deviceAppManagement/", "")
    .replace(/[0-9a-f-]{36}/g, "{id}")
    .replace("microsoft.graph.win32LobApp/", "");
}

/** The rows of the table at the end of a run. */
export function resultRows({ output }: Pick<PublishRun, "output">): string[] {
  const head = output.findIndex((line) => /^App +Result +Detail/.test(line));
  if (head < 0) return [];
  const rows = output.slice(head + 1);
  return rows.slice(0, rows.indexOf(""));
}

/** Adds a client whose printers share a driver. @returns the ids of the printers */
export async function addSharedDriver({ post, addDriver }: TestApp, names = ["Front Desk", "Back Office"]) {
  await post("/clients", { name: "Contoso" });
  const driver = await addDriver(driverZip({ models: ["Papyrus 100 PCL6"] }));
  return addPrinters(post, names, { client_id: "1", driver_id: String(driver) });
}

async function addPrinters(post: TestApp["post"], names: readonly string[], fields: Record<string, string>) {
  const ids: number[] = [];
  for (const [i, name] of names.entries()) {
    const answer = await post("/printers", { name, address: `10.0.0.${i + 1}`, ...fields }, navigation);
    ids.push(Number(/^\/printers\/(\d+)/.exec(answer.headers.get("location") ?? "")?.[1]));
  }
  return ids;
}

/** Saves a printer with some new fields. */
export async function editPrinter({ app, post }: TestApp, id: number, fields: Record<string, string>) {
  const { printer } = app.store.printers.get(id);
  const kept = { name: printer.name, address: printer.address, port_name: printer.port_name };
  const ids = { client_id: String(printer.client_id ?? ""), driver_id: String(printer.driver_id ?? "") };
  const { client_id, driver_id } = ids;
  const answer = await post(`/printers/${id}`, { ...kept, client_id, driver_id, ...fields }, navigation);
  assert.equal(answer.status, 303, `the printer was not saved: ${await answer.text()}`);
}

export async function addIcon({ upload }: TestApp, id: number, padding = 0): Promise<Buffer> {
  const png = makePng(256, 256, padding);
  const answer = await upload(`/printers/${id}/icon`, png, "icon.png");
  assert.equal(answer.status, 200);
  return png;
}
