import { mkdtemp, rm } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { type Answer, Refusal } from "./answers.ts";
import type { BehaviourChanges } from "./behaviour.ts";
import { refusalIn } from "./faults.ts";
import { answerGraph } from "./graph-routes.ts";
import { type Area, parsedBody, type ReceivedRequest } from "./requests.ts";
import { answerSignIn } from "./sign-in.ts";
import { answerIdentity } from "./sign-in-app.ts";
import { answerStorage } from "./storage.ts";
import { Tenant } from "./tenant.ts";

export interface SimulatedGraph {
  /** Adds an empty tenant with its own addresses. @throws when the name is taken or invalid */
  readonly tenant: (name: string, behaviour?: BehaviourChanges) => Tenant;
}

/** Starts a simulated Microsoft Graph with sign-in and storage on loopback. It ends with the test. */
export async function startGraph(t: TestContext): Promise<SimulatedGraph> {
  const tenants = new Map<string, Tenant>();
  const folder = await mkdtemp(join(tmpdir(), "graph-"));
  const server = createServer((request, response) => {
    serve(tenants, request, response).catch((error: unknown) => {
      // Only a defect of the simulation gets here: refusals are answered.
      console.error(error);
      response.destroy();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    await rm(folder, { recursive: true, force: true });
  });
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const tenant = (name: string, behaviour: BehaviourChanges = {}) => {
    if (tenants.has(name) || !/^[\w-]+$/.test(name)) throw new Error(`${name} cannot be a new tenant's name`);
    const created = new Tenant(name, origin, folder, behaviour);
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
  const url = new URL(request.url ?? "/", "http://localhost");
  const [, place = "", name = "", ...rest] = url.pathname.split("/");
  const area = areas[place];
  const tenant = name === "any" ? tenantFor(tenants, request, rest[0] ?? "") : tenants.get(name);
  if (!area || !tenant) {
    send(response, { status: 404, body: "there is no such tenant" });
    return;
  }
  const received: ReceivedRequest = {
    number: tenant.requests.length + 1,
    area,
    method: request.method ?? "",
    path: decodedPath(rest),
    query: url.searchParams,
    headers: request.headers,
    length: bytes.length,
    body: parsedBody(area, bytes),
    status: 0,
  };
  tenant.requests.push(received);
  await tenant.onRequest?.(received);
  const answer = await answerWithFaults(tenant, received, bytes);
  if (answer) received.status = answer.status;
  if (answer) send(response, answer);
  else request.socket.resetAndDestroy();
}

/** The tenant at addresses that all tenants share, as those of Microsoft: by the path at a sign-in, else by the token. */
function tenantFor(
  tenants: Map<string, Tenant>,
  { headers }: IncomingMessage,
  domain: string,
): Tenant | undefined {
  const [, token = ""] = /^Bearer (\S+)$/.exec(headers.authorization ?? "") ?? [];
  const byToken = [...tenants.values()].find(({ state }) => state.tokens.has(token));
  return byToken ?? tenants.get(domain.replace(/\.example$/, ""));
}

function decodedPath(parts: readonly string[]): string {
  const path = `/${parts.join("/")}`;
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

/** @returns undefined when the client disconnected before the end */
async function bodyOf(request: IncomingMessage): Promise<Buffer | undefined> {
  try {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    return Buffer.concat(chunks);
  } catch {
    return undefined;
  }
}

/** @returns undefined when the connection must be reset */
async function answerWithFaults(
  tenant: Tenant,
  received: ReceivedRequest,
  bytes: Buffer,
): Promise<Answer | undefined> {
  const { when, delayMs, reset, refusal, instead } = tenant.faults.effectOn(received);
  const right = when !== "before" ? await answerOf(tenant, received, bytes) : undefined;
  if (delayMs > 0) await new Promise((resolve) => setTimeout(resolve, delayMs));
  if (when === "never") return right;
  return reset ? undefined : (instead ?? refusalIn(received.area, refusal));
}

async function answerOf(tenant: Tenant, received: ReceivedRequest, bytes: Buffer): Promise<Answer> {
  try {
    if (received.area === "login") return answerSignIn(tenant, received);
    if (received.area === "identity") return answerIdentity(tenant, received);
    if (received.area === "storage") return await answerStorage(tenant, received, bytes);
    return await answerGraph(tenant, received, bytes);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return refusalIn(received.area, error);
  }
}

function send(response: ServerResponse, { status, headers = {}, body }: Answer): void {
  if (body === undefined) {
    response.writeHead(status, status === 204 ? headers : { ...headers, "content-length": "0" }).end();
    return;
  }
  const isText = typeof body === "string";
  const type = isText ? "text/plain" : "application/json;odata.metadata=minimal;charset=utf-8";
  const text = isText ? body : JSON.stringify(body);
  response
    .writeHead(status, {
      "content-type": type,
      ...headers,
      "content-length": String(Buffer.byteLength(text)),
    })
    .end(text);
}
