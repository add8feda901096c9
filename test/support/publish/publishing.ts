import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { renderPublishScript } from "../../../src/pkg/scripts/publish-script.ts";
import { navigation, startApp, type TestApp } from "../app.ts";
import { atEnd } from "../at-end.ts";
import { driverZip } from "../drivers/driver-zip.ts";
import type { BehaviourChanges } from "../graph/behaviour.ts";
import type { Fields } from "../graph/schema.ts";
import { startGraph } from "../graph/server.ts";
import type { Tenant } from "../graph/tenant.ts";
import { makePng } from "../printers/png.ts";
import { makePublication } from "./publications.ts";
import { readSettings } from "./published.ts";
import { publishBefore } from "./published-before.ts";
import { forTests, Publisher, type PublishRun } from "./publisher.ts";

let publisher: Publisher | undefined;

/** The PowerShell that runs all publish scripts of this process. */
export function sharedPublisher(): Publisher {
  if (publisher === undefined) {
    publisher = new Publisher();
    atEnd(() => publisher?.close());
  }
  return publisher;
}

/** A printer's script that does not know Platen's address. */
const withoutPlaten = makePublication("Office", [
  { title: "Office", client: "", url: "", together: undefined, togetherRefusal: "", leftOut: [] },
]);

/** A tenant and a script without a service: for runs that end before they need a package. */
export async function startWithoutPlaten(
  t: TestContext,
  behaviour: BehaviourChanges = {},
  publication = withoutPlaten,
) {
  const tenant = (await startGraph(t)).tenant("alone", behaviour);
  const text = forTests(renderPublishScript(publication).toString("latin1"));
  const run = (parameters: Record<string, unknown> = {}, environment: Record<string, string> = {}) =>
    runIn(tenant, text, parameters, environment);
  return { tenant, run };
}

export type Publishing = Awaited<ReturnType<typeof startPublishing>>;

/** A service, a tenant in a simulated Graph, and a PowerShell that publishes from one to the other. */
export async function startPublishing(t: TestContext, behaviour: BehaviourChanges = {}) {
  const service = await startApp(t);
  const graph = await startGraph(t);
  const tenant = graph.tenant("tenant", behaviour);
  /** Downloads a publish script. */
  const script = async (path: string) => {
    const answer = await service.fetch(path);
    const text = await answer.text();
    assert.equal(answer.status, 200, text);
    return forTests(text);
  };
  const run = (text: string, parameters = {}, environment = {}) =>
    runIn(tenant, text, parameters, environment);
  const ofAll = (url: string) => url.replace(/[^/]+$/, "any");
  return {
    ...{ service, tenant, script, run },
    /** Adds a tenant with this name; `<name>.example` is its domain. */
    addTenant: (name: string) => graph.tenant(name, { pageSize: 100 }),
    /** The addresses that all tenants share. The token or the domain in the path selects the tenant. */
    shared: { GraphUrl: ofAll(tenant.graphUrl), LoginUrl: ofAll(tenant.loginUrl) },
    /** Downloads a publish script and runs it with the tenant's token. */
    publish: async (path: string, parameters = {}, environment = {}) =>
      run(await script(path), parameters, environment),
    /** Leaves in a tenant what a run of the path's script leaves. @param how together: as a run with `-Together` */
    published: async (path: string, how: { together?: boolean; tenant?: Tenant } = {}) => {
      const settings = readSettings(await (await service.fetch(path)).text());
      const whole = settings.Together === null ? [] : [settings.Together];
      publishBefore(how.tenant ?? tenant, settings, how.together === true ? whole : settings.Apps);
    },
  };
}

export type OnePrinter = Awaited<ReturnType<typeof startWithPrinter>>;

/** A printer, the path of its script, and its app in the tenant. */
export async function startWithPrinter(
  t: TestContext,
  behaviour: BehaviourChanges = {},
  fields: Record<string, string> = {},
) {
  const publishing = await startPublishing(t, behaviour);
  const id = await publishing.service.addPrinter(fields);
  const path = `/printers/${id}/publish`;
  return { ...publishing, id, path, app: () => appOf(publishing.tenant, `printer:${id}`) };
}

/** As `startWithPrinter`, after a run of the printer's script. */
export async function startPublished(...given: Parameters<typeof startWithPrinter>): Promise<OnePrinter> {
  const one = await startWithPrinter(...given);
  await one.published(one.path);
  return one;
}

/** Runs a script with the tenant's token, and checks what every run must guarantee. */
async function runIn(
  tenant: Tenant,
  script: string,
  parameters: Record<string, unknown>,
  environment: Record<string, string>,
): Promise<PublishRun> {
  const { graphUrl, loginUrl, token } = tenant;
  const known = { GraphUrl: graphUrl, LoginUrl: loginUrl, AccessToken: token };
  const given = Object.entries({ ...known, ...parameters }).filter(([, value]) => value !== undefined);
  const result = await sharedPublisher().run(script, Object.fromEntries(given), environment);
  checkRun(tenant, result);
  return result;
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
export async function addSharedDriver(service: TestApp, names = ["Front Desk", "Back Office"]) {
  await service.post("/clients", { name: "Contoso" });
  const driver_id = String(await service.addDriver(driverZip({ models: ["Papyrus 100 PCL6"] })));
  const ids: number[] = [];
  for (const [i, name] of names.entries())
    ids.push(await service.addPrinter({ name, address: `10.0.0.${i + 1}`, client_id: "1", driver_id }));
  return ids;
}

/** Saves a printer with some new fields. */
export async function editPrinter({ app, post }: TestApp, id: number, fields: Record<string, string>) {
  const { printer } = app.store.printers.get(id);
  const kept = { name: printer.name, address: printer.address, port_name: printer.port_name };
  const ids = { client_id: `${printer.client_id ?? ""}`, driver_id: `${printer.driver_id ?? ""}` };
  const answer = await post(`/printers/${id}`, { ...kept, ...ids, ...fields }, navigation);
  assert.equal(answer.status, 303, `the printer was not saved: ${await answer.text()}`);
}

export async function addIcon({ upload }: TestApp, id: number, padding = 0): Promise<Buffer> {
  const png = makePng(256, 256, padding);
  const answer = await upload(`/printers/${id}/icon`, png, "icon.png");
  assert.equal(answer.status, 200);
  return png;
}
