import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { App } from "../app.ts";
import { nameOf } from "../domain/access/access.ts";
import { hostNetwork } from "../domain/address.ts";
import { missingPage, UserError } from "../domain/errors.ts";
import { type LimitedLog, limitLog } from "../domain/flood-limit.ts";
import { runAs } from "../store/actor.ts";
import { Quota, WorkQueue } from "../workers/admission.ts";
import { checkNeeds, checkSender, checkStillAllowed } from "./access/access.ts";
import { acceptsHtml, errorReply, isReading, requestLine, statusReply } from "./answers/errors.ts";
import { type Reply, redirect } from "./answers/reply.ts";
import { send } from "./answers/send.ts";
import { basePath, removeBasePath } from "./base-path.ts";
import { admit, answerInOrder, yieldToRequests } from "./requests/connections.ts";
import { drain } from "./requests/forms.ts";
import { defaultLimits, type Limits } from "./requests/limits.ts";
import {
  findRoute,
  type MatchedRoute,
  parentPath,
  type RequestTarget,
  type RouteMatch,
  runRoute,
} from "./router.ts";
import { routes } from "./routes.ts";
import { recordOrigin, senderOf, setSenderCheck } from "./sender.ts";
import { checkHost, isCrossSite } from "./service-url.ts";
import { SharedAnswers } from "./shared-answers.ts";

/** A server with its limits and queues. */
interface Service {
  readonly app: App;
  readonly limits: Limits;
  /** Bytes of forms being received and of pages being sent. */
  readonly bodyBytes: Quota;
  /** Pages being made, or waiting for it. */
  readonly pageQueue: WorkQueue;
  /** Downloads being prepared, or waiting for it. */
  readonly downloadQueue: WorkQueue;
  /** Pages and downloads that equal requests share. */
  readonly sharedAnswers: SharedAnswers;
  /** For refused and interrupted requests. */
  readonly log: LimitedLog;
}

/** Pages made at a time: while one waits for the disk, another continues. */
const maxConcurrentPages = 4;
/** Downloads prepared at a time. The others wait; only the number of connections limits them. */
const maxConcurrentDownloads = 32;

/** Makes the HTTP server. The caller starts and closes it. */
export function createHttpServer(app: App, limits: Limits = defaultLimits): Server {
  const log = limitLog(app.log);
  const connections = new Quota(limits.connections, "connections are open");
  const service = {
    app,
    limits,
    bodyBytes: new Quota(limits.bodyBytes, "forms and pages are being sent"),
    pageQueue: new WorkQueue(maxConcurrentPages, new Quota(limits.pages, "pages are requested")),
    downloadQueue: new WorkQueue(maxConcurrentDownloads),
    sharedAnswers: new SharedAnswers(),
    log,
  };
  const server = createServer({
    insecureHTTPParser: false,
    maxHeaderSize: limits.headBytes,
    headersTimeout: limits.headMs,
    connectionsCheckingInterval: Math.ceil(limits.headMs / 6),
    keepAliveTimeout: limits.keepAliveMs,
    // Uploads may take longer than Node's five minutes; `watchBody` closes connections that are too slow.
    requestTimeout: 0,
  });
  // Without this, Node silently drops headers above 2,000, perhaps Origin or Host.
  server.maxHeadersCount = 0;
  server.setTimeout(limits.idleMs);
  // Otherwise Node leaves the connection open, and the body may arrive forever.
  server.on("checkExpectation", (_, response) => response.writeHead(417, { Connection: "close" }).end());
  server.on("connection", (socket) => admit(socket, connections, app.config, log));
  const answerNext = (request: IncomingMessage, response: ServerResponse) =>
    answer(service, request, response);
  server.on("request", answerInOrder(limits.pipelinedRequests, answerNext));
  return server;
}

async function answer(service: Service, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { app } = service;
  removeBasePath(request, basePath(app.config));
  recordOrigin(app, request);
  const stopWatching = watchBody(request, service.limits);
  const target = requestTargetOf(request);
  const recordAnswer = recordRequest(app, request, response, target.match);
  try {
    const reply = await handle(service, request, target).catch((error: unknown) => {
      if (isClosed(request)) throw error;
      return errorReply(app, request, error);
    });
    if (!isReading(request)) await drain(request, service.limits.drainMs);
    stopWatching();
    if (!request.complete) response.setHeader("Connection", "close");
    await send(service, request, response, reply);
  } catch (error) {
    await recover(service, request, response, error);
  } finally {
    stopWatching();
    recordAnswer();
  }
}

/** The status for a client that left before the answer ended. nginx uses it for one that left before it began. */
const clientLeft = 499;

/** @returns a function that logs and counts the request when its answer has ended */
function recordRequest(
  { logRequest, metrics }: App,
  request: IncomingMessage,
  response: ServerResponse,
  match: RouteMatch,
): () => void {
  const { socket } = request;
  const [startedAt, bytesBefore] = [performance.now(), socket.bytesWritten];
  return () => {
    const { id, identity } = senderOf(request);
    const entry = {
      id,
      method: request.method ?? "",
      route: match.kind === "route" ? match.route.path : "-",
      status: response.writableEnded ? response.statusCode : clientLeft,
      bytes: socket.bytesWritten - bytesBefore,
      ms: Math.round(performance.now() - startedAt),
      who: nameOf(identity),
    };
    logRequest(entry);
    metrics.record(entry);
  };
}

function requestTargetOf({ method = "GET", url = "/" }: IncomingMessage): RequestTarget {
  const parsed = parseUrl(url);
  if (parsed === undefined) return { url: new URL("http://platen"), match: { kind: "nothing" } };
  return { url: parsed, match: findRoute(routes, method, parsed.pathname) };
}

/**
 * Closes the connection of a client that sends its request's body too slowly.
 * @returns a function that stops the watch
 */
function watchBody(request: IncomingMessage, limits: Limits): () => void {
  let total = request.socket.bytesRead;
  const timer = setInterval(() => {
    const received = request.socket.bytesRead - total;
    total += received;
    if (request.complete) clearInterval(timer);
    // Bytes that Platen has not read yet show that Platen is slow, not the client.
    else if (received < limits.minBodyBytes && request.readableLength === 0) request.socket.destroy();
  }, limits.slowMs);
  return () => clearInterval(timer);
}

/** Whether the client has left. A destroyed request has no socket. */
function isClosed({ socket }: { readonly socket: IncomingMessage["socket"] | null }): boolean {
  return socket?.destroyed !== false;
}

/** After a failed answer: sends an error if nothing has been sent yet, and otherwise closes the connection. */
async function recover(
  service: Service,
  request: IncomingMessage,
  response: ServerResponse,
  error: unknown,
): Promise<void> {
  const { app, log } = service;
  const isGone = (error as NodeJS.ErrnoException).code === "ERR_STREAM_PREMATURE_CLOSE" || isClosed(request);
  if (response.headersSent || isGone) {
    response.destroy();
    const why = isGone
      ? "the client left, or was too slow"
      : error instanceof Error
        ? error.message
        : String(error);
    log(`broken off: ${requestLine(request)}: ${why}`, hostNetwork(senderOf(request).address));
    return;
  }
  for (const name of response.getHeaderNames()) response.removeHeader(name);
  await send(service, request, response, errorReply(app, request, error)).catch(() => response.destroy());
}

async function handle(service: Service, request: IncomingMessage, target: RequestTarget): Promise<Reply> {
  if (target.url.pathname !== "/health") checkHost(request);
  const refused = checkSender(service.app, request, target);
  if (refused !== undefined) return refused;
  const { identity, address: from } = senderOf(request);
  const actor = { who: nameOf(identity), from };
  return runAs(actor, () => handleAllowed(service, request, target));
}

async function handleAllowed(
  service: Service,
  request: IncomingMessage,
  target: RequestTarget,
): Promise<Reply> {
  const { app } = service;
  const { url, match } = target;
  const method = request.method ?? "GET";
  if (match.kind === "nothing") throw missingPage();
  if (match.kind === "wrong method") {
    // Browsers request a form's address with GET when its answer is reloaded from the address bar.
    if (method === "GET" && acceptsHtml(request)) return redirect(parentPath(routes, url.pathname));
    return statusReply(request, 405, `This address does not allow ${method}.`, { Allow: match.allow });
  }
  checkNeeds(app, match.route);
  setSenderCheck(request, () => checkStillAllowed(app, request, target));
  if (isReading(request)) return runReading(service, request, { url, match });
  if (isCrossSite(request))
    throw new UserError("forbidden", "Platen refuses requests from other sites. Open Platen and try again.");
  const bodySize = Number(request.headers["content-length"] ?? Number.POSITIVE_INFINITY);
  const bufferedBytes = Math.min(bodySize, match.route.maxBufferedBytes);
  return service.bodyBytes.runWith(senderOf(request).address, bufferedBytes, () =>
    runRoute(match, { app, request, url }),
  );
}

/** Runs a GET or HEAD. Pages and downloads wait in their queues. @throws Error if all its clients left meanwhile */
async function runReading(
  { app, pageQueue, downloadQueue, sharedAnswers }: Service,
  request: IncomingMessage,
  { url, match }: { readonly url: URL; readonly match: MatchedRoute },
): Promise<Reply> {
  const { answerKind } = match.route;
  if (answerKind === undefined) return runRoute(match, { app, request, url });
  if (isClosed(request)) throw new Error("the client left");
  const queue = answerKind === "page" ? pageQueue : downloadQueue;
  return sharedAnswers.get(request, app.store.version(), (signal) =>
    queue.run(async () => {
      await yieldToRequests();
      signal.throwIfAborted();
      return runRoute(match, { app, request, url, signal });
    }, senderOf(request).address),
  );
}

/** Undefined if the request's address is not valid. */
function parseUrl(text: string): URL | undefined {
  // A request may contain the whole URL instead of its path, as for a proxy (RFC 9112, 3.2.2).
  let start = /^https?:\/\/[^/?]*/i.exec(text)?.[0].length ?? 0;
  while (text.charAt(start) === "/") start++;
  const path = `/${text.slice(start)}`;
  return URL.canParse(path, "http://platen") ? new URL(path, "http://platen") : undefined;
}

/** How often a stopping server closes connections that have become idle. */
const idleCheckMs = 50;

/**
 * Accepts no more connections, closes each connection as soon as it is idle, and closes the rest after a timeout.
 * @param shutdownTimeoutMs how long running requests may still take
 */
export function closeServer(server: Server, shutdownTimeoutMs: number): Promise<void> {
  return new Promise((resolve) => {
    const idleCheck = setInterval(() => server.closeIdleConnections(), idleCheckMs);
    const timer = setTimeout(() => server.closeAllConnections(), shutdownTimeoutMs);
    server.close(() => {
      clearInterval(idleCheck);
      clearTimeout(timer);
      resolve();
    });
    server.closeIdleConnections();
  });
}
