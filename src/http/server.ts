import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { App } from "../app.ts";
import { UserError } from "../domain/errors.ts";
import { errorReply, statusReply } from "./errors.ts";
import { drain } from "./forms.ts";
import { type Reply, send } from "./reply.ts";
import { type Context, findRoute, parseId } from "./router.ts";
import { routes } from "./routes.ts";
import { isCrossSite } from "./service-url.ts";

/** A connection on which nothing moves for so long is closed. */
const idleLimitMs = 10 * 60_000;

/** The HTTP server, not listening yet. */
export function createHttpServer(app: App): Server {
  // Uploads may take longer than Node's five minutes; connections that stand still are closed instead.
  const server = createServer({ requestTimeout: 0, headersTimeout: 30_000, keepAliveTimeout: 10_000 });
  server.setTimeout(idleLimitMs);
  server.on("request", (request, response) => void answer(app, request, response));
  return server;
}

async function answer(app: App, request: IncomingMessage, response: ServerResponse): Promise<void> {
  try {
    const reply = await handle(app, request).catch((error: unknown) => errorReply(app, request, error));
    if (request.method !== "GET" && request.method !== "HEAD") await drain(request);
    await send(request, response, reply);
  } catch (error) {
    await recover(app, request, response, error);
  }
}

/** An answer that failed: as an error while nothing is out yet, else by breaking the connection. */
async function recover(
  app: App,
  request: IncomingMessage,
  response: ServerResponse,
  error: unknown,
): Promise<void> {
  const isGone =
    (error as NodeJS.ErrnoException).code === "ERR_STREAM_PREMATURE_CLOSE" || request.socket.destroyed;
  if (response.headersSent || isGone) {
    response.destroy();
    const why = isGone ? "the client left" : error instanceof Error ? error.message : String(error);
    app.log(`broken off: ${request.method} ${request.url}: ${why}`);
    return;
  }
  for (const name of response.getHeaderNames()) response.removeHeader(name);
  await send(request, response, errorReply(app, request, error)).catch(() => response.destroy());
}

async function handle(app: App, request: IncomingMessage): Promise<Reply> {
  const method = request.method ?? "GET";
  const url = parseUrl(request.url ?? "/");
  const found = findRoute(routes, method, url.pathname);
  if (found.kind === "nothing") return statusReply(request, 404, "There is nothing at this address.");
  if (found.kind === "wrong method") {
    return statusReply(request, 405, `${method} is not possible here.`, { Allow: found.allow });
  }
  if (method !== "GET" && method !== "HEAD" && isCrossSite(request, app.config)) {
    throw new UserError("forbidden", "This request comes from a page of another site, and is refused.");
  }
  const { params } = found;
  const context: Context<string> = {
    app,
    request,
    url,
    params,
    id: params.id === undefined ? 0 : parseId(params.id),
  };
  return found.handler(context);
}

function parseUrl(text: string): URL {
  const path = text.startsWith("/") ? text.replace(/^\/+/, "/") : `/${text}`;
  if (!URL.canParse(path, "http://platen"))
    throw new UserError("not-found", "There is nothing at this address.");
  return new URL(path, "http://platen");
}

/**
 * Stops taking requests, lets running ones finish for a while, then breaks them off.
 * @param patienceMs how long downloads may still take
 */
export function closeServer(server: Server, patienceMs: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => server.closeAllConnections(), patienceMs);
    server.close(() => {
      clearTimeout(timer);
      resolve();
    });
    server.closeIdleConnections();
  });
}
