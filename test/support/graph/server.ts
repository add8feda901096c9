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
import { type Area, parsedBody, type Seen } from "./requests.ts";
import { answerSignIn } from "./sign-in.ts";
import { answerStorage } from "./storage.ts";
import { Tenant } from "./tenant.ts";

export interface SimulatedGraph {
  /** A new tenant with nothing in it, below addresses of its own. @throws when the name is taken */
  readonly tenant: (name: string, behaviour?: BehaviourChanges) => Tenant;
}

/** A Microsoft Graph on loopback, with sign-in and storage, strict as the real one; it ends with the test. */
export async function startGraph(t: TestContext): Promise<SimulatedGraph> {
  const tenants = new Map<string, Tenant>();
  const folder = await mkdtemp(join(tmpdir(), "graph-"));
  const server = createServer((request, response) => {
    serve(tenants, request, response).catch((error: unknown) => {
      // Only a defect of the simulation comes here: what it refuses is answered.
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
    const made = new Tenant(name, origin, folder, behaviour);
    tenants.set(name, made);
    return made;
  };
  return { tenant };
}

const areas: Readonly<Record<string, Area>> = { t: "graph", login: "login", blob: "storage" };

async function serve(tenants: Map<string, Tenant>, request: IncomingMessage, response: ServerResponse) {
  const bytes = await bodyOf(request);
  if (!bytes) return;
  const url = new URL(request.url ?? "/", "http://localhost");
  const [, place = "", name = "", ...rest] = url.pathname.split("/");
  const [area, tenant] = [areas[place], tenants.get(name)];
  if (!area || !tenant) {
    send(response, { status: 404, body: "there is no such tenant" });
    return;
  }
  const seen: Seen = {
    number: tenant.requests.length + 1,
    area,
    method: request.method ?? "",
    path: decodedPath(rest),
    query: url.searchParams,
    headers: request.headers,
    length: bytes.length,
    body: parsedBody(area, bytes),
    status: 0,
    hasEffect: false,
  };
  tenant.requests.push(seen);
  await tenant.onRequest?.(seen);
  const answer = await answerWithFaults(tenant, seen, bytes);
  if (answer) seen.status = answer.status;
  if (answer) send(response, answer);
  else request.socket.resetAndDestroy();
}

function decodedPath(parts: readonly string[]): string {
  const path = `/${parts.join("/")}`;
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

/** A request's body, or nothing where its sender went away in the middle. */
async function bodyOf(request: IncomingMessage): Promise<Buffer | undefined> {
  try {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    return Buffer.concat(chunks);
  } catch {
    return undefined;
  }
}

/** The answer, or nothing where the connection is to break instead. */
async function answerWithFaults(tenant: Tenant, seen: Seen, bytes: Buffer): Promise<Answer | undefined> {
  const { when, delayMs, reset, refusal, instead } = tenant.faults.fateOf(seen);
  seen.hasEffect = when !== "before";
  const right = seen.hasEffect ? await answerOf(tenant, seen, bytes) : undefined;
  if (delayMs > 0) await new Promise((resolve) => setTimeout(resolve, delayMs));
  if (when === "never") return right;
  return reset ? undefined : (instead ?? refusalIn(seen.area, refusal));
}

async function answerOf(tenant: Tenant, seen: Seen, bytes: Buffer): Promise<Answer> {
  try {
    if (seen.area === "login") return answerSignIn(tenant, seen);
    if (seen.area === "storage") return await answerStorage(tenant, seen, bytes);
    return await answerGraph(tenant, seen, bytes);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return refusalIn(seen.area, error);
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
