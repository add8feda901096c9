import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { TestContext } from "node:test";
import { type Answer, Refusal, refusalIn } from "./answers.ts";
import type { BehaviourChanges } from "./behaviour.ts";
import { answerGraph } from "./graph-routes.ts";
import { type Area, parsedBody, type ReceivedRequest } from "./requests.ts";
import { answerSignIn } from "./sign-in.ts";
import { answerIdentity } from "./sign-in-ways.ts";
import { answerStorage } from "./storage.ts";
import { Tenant } from "./tenant.ts";

interface SimulatedGraph {
  /** Adds an empty tenant with its own addresses. @throws when the name is taken */
  readonly tenant: (name: string, behaviour?: BehaviourChanges) => Tenant;
}

/** Starts a simulated Microsoft Graph with sign-in and storage on loopback. It ends with the test. */
export async function startGraph(t: TestContext): Promise<SimulatedGraph> {
  const tenants = new Map<string, Tenant>();
  const server = createServer((request, response) => {
    serve(tenants, request, response).catch((error: unknown) => {
      // Only a defect of the simulation gets here: refusals are answered.
      console.error(error);
      response.destroy();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const tenant = (name: string, behaviour: BehaviourChanges = {}) => {
    if (tenants.has(name)) throw new Error(`there is a tenant ${name}`);
    const created = new Tenant(name, origin, behaviour);
    tenants.set(name, created);
    return created;
  };
  return { tenant };
}

const areas: Readonly<Record<string, Area>> = {
  t: "graph",
  login: "login",
  blob: "storage",
  identity: "identity",
};

async function serve(tenants: Map<string, Tenant>, request: IncomingMessage, response: ServerResponse) {
  const bytes = await bodyOf(request);
  if (!bytes) return;
  const { method = "", headers } = request;
  const url = new URL(request.url ?? "/", "http://localhost");
  const [, place = "", name = "", ...rest] = url.pathname.split("/");
  const area = areas[place];
  const tenant = name === "any" ? tenantFor(tenants, request, rest[0] ?? "") : tenants.get(name);
  if (!area || !tenant) return send(response, { status: 404, body: "there is no such tenant" });
  const received: ReceivedRequest = {
    ...{ number: tenant.requests.length + 1, area, method, headers, query: url.searchParams },
    ...{ path: decodeURIComponent(`/${rest.join("/")}`), body: parsedBody(area, bytes) },
  };
  tenant.requests.push(received);
  await tenant.onRequest?.(received);
  const answer = await answerWithFaults(tenant, received, bytes);
  if (answer) send(response, answer);
  else request.socket.resetAndDestroy();
}

/** The tenant at addresses that all tenants share, as those of Microsoft: by the path at a sign-in, else by the token. */
function tenantFor(tenants: Map<string, Tenant>, { headers }: IncomingMessage, domain: string) {
  const token = (headers.authorization ?? "").slice("Bearer ".length);
  const byToken = [...tenants.values()].find(({ state }) => state.tokens.has(token));
  return byToken ?? tenants.get(domain.replace(/\.example$/, ""));
}

/** @returns undefined when the client disconnected before the end */
async function bodyOf(request: IncomingMessage): Promise<Buffer | undefined> {
  try {
    return Buffer.concat(await request.toArray());
  } catch {
    return undefined;
  }
}

/** @returns undefined when the connection must be reset */
async function answerWithFaults(tenant: Tenant, received: ReceivedRequest, bytes: Buffer) {
  const { when, delayMs, answer } = tenant.faults.effectOn(received);
  const right = when === "before" ? undefined : answerOf(tenant, received, bytes);
  if (delayMs > 0) await new Promise((resolve) => setTimeout(resolve, delayMs));
  return when === "never" ? right : answer;
}

function answerOf(tenant: Tenant, received: ReceivedRequest, bytes: Buffer): Answer {
  try {
    if (received.area === "login") return answerSignIn(tenant, received);
    if (received.area === "identity") return answerIdentity(tenant, received);
    if (received.area === "storage") return answerStorage(tenant, received, bytes);
    return answerGraph(tenant, received, bytes);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return refusalIn(received.area, error);
  }
}

function send(response: ServerResponse, { status, headers = {}, body }: Answer): void {
  const isText = typeof body === "string";
  const type = isText ? "text/plain" : "application/json;odata.metadata=minimal;charset=utf-8";
  const content = body === undefined ? {} : { "content-type": type };
  response.writeHead(status, { ...content, ...headers }).end(isText ? body : JSON.stringify(body));
}
