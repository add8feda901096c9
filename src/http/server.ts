import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { App } from "../app.ts";
import { nameOf } from "../domain/access/access.ts";
import { siteOf } from "../domain/address.ts";
import { UserError } from "../domain/errors.ts";
import { BoundedLines } from "../services/limited-log.ts";
import { asActor } from "../store/actor.ts";
import { Admission, Quota } from "../workers/admission.ts";
import { checkNeeds, checkSender, checkStillAllowed } from "./access/access.ts";
import { lastAnswer } from "./answers/answer-headers.ts";
import { errorReply, isReading, requestLine, statusReply, takesPages } from "./answers/errors.ts";
import { type Reply, redirect } from "./answers/reply.ts";
import { send } from "./answers/send.ts";
import { admit, letOthersIn, oneAtATime } from "./requests/connections.ts";
import { drain } from "./requests/forms.ts";
import { defaultLimits, type Limits } from "./requests/limits.ts";
import { answerBrokenRequests, endWith, headLimits, headProblem } from "./requests/request-heads.ts";
import { type Asked, type FoundRoute, findRoute, pageAbove, runRoute } from "./router.ts";
import { routes } from "./routes.ts";
import { arrive, onBodyRead, senderOf } from "./sender.ts";
import { checkHost, checkReader, isCrossSite } from "./service-url.ts";

/** A server with what it holds its clients to. */
interface Service {
  readonly app: App;
  readonly limits: Limits;
  /** Bytes of forms that are received and of pages that are sent. */
  readonly bodyBytes: Quota;
  /** Pages that are made. */
  readonly pages: Admission;
  /** Downloads that are made ready. */
  readonly waitingDownloads: Admission;
  /** Downloads that are being sent. */
  readonly downloads: Quota;
  /** The log's lines about requests that were refused or broken off. */
  readonly lines: BoundedLines;
}

/** Pages that are made at a time: while one waits for the disk, another one goes on. */
const pagesAtOnce = 4;
/** Downloads that are made ready at a time; as many may wait as there are connections. */
const downloadsAtOnce = 32;

/** The HTTP server, not listening yet. */
export function createHttpServer(app: App, limits: Limits = defaultLimits): Server {
  const lines = new BoundedLines(app.log);
  const connections = new Quota(limits.connections, "connections are open");
  const service = {
    app,
    limits,
    bodyBytes: new Quota(limits.bodyBytes, "forms and pages are being sent"),
    pages: new Admission(pagesAtOnce, limits.pages, "pages are asked for"),
    waitingDownloads: new Admission(downloadsAtOnce),
    downloads: new Quota(limits.downloads, "downloads are being sent"),
    lines,
  };
  const server = createServer({
    insecureHTTPParser: false,
    maxHeaderSize: headLimits.bytes,
    headersTimeout: limits.headMs,
    connectionsCheckingInterval: limits.headCheckMs,
    keepAliveTimeout: limits.keepAliveMs,
    // Uploads may take longer than Node's five minutes; connections that are too slow are closed instead.
    requestTimeout: 0,
    // Node's own answer would go out without our headers.
    requireHostHeader: false,
  });
  // One more than are taken: what Node leaves out of a longer head cannot be Origin or Host unnoticed.
  server.maxHeadersCount = headLimits.headers + 1;
  server.setTimeout(limits.idleMs);
  answerBrokenRequests(server, app.config, lines);
  server.on("connection", (socket) => admit(socket, connections, { config: app.config, lines }));
  const answerOne = oneAtATime(limits.pipelined, (request, response) => answer(service, request, response));
  server.on("request", answerOne);
  return server;
}

async function answer(service: Service, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { app } = service;
  arrive(app.config, request);
  const stopWatching = watchBody(service, request, response);
  const asked = lookUp(request);
  try {
    const reply = await handle(service, request, asked).catch((error: unknown) => {
      if (request.socket.destroyed) throw error;
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
  }
}

function lookUp({ method = "GET", url = "/" }: IncomingMessage): Asked {
  const parsed = parseUrl(url);
  if (parsed === undefined) return { url: new URL("http://platen"), found: { kind: "nothing" } };
  return { url: parsed, found: findRoute(routes, method, parsed.pathname) };
}

const tooSlow = "The request came too slowly.";

/**
 * Ends the connection of a client that sends its request's body too slowly.
 * @returns what stops watching
 */
function watchBody(
  { app, limits, lines }: Service,
  request: IncomingMessage,
  response: ServerResponse,
): () => void {
  let seen = request.socket.bytesRead;
  const timer = setInterval(() => {
    const came = request.socket.bytesRead - seen;
    seen += came;
    if (request.complete) clearInterval(timer);
    // What came and was not taken yet is our own slowness, not the client's.
    else if (came < limits.leastBytes && request.readableLength === 0) {
      lines.sayRefused(408, tooSlow, `${requestLine(request)} from ${senderOf(request).address}`);
      endWith(request.socket, response, lastAnswer(app.config, 408, tooSlow));
    }
  }, limits.slowMs);
  return () => clearInterval(timer);
}

/** An answer that failed: as an error while nothing is out yet, else by breaking the connection. */
async function recover(
  service: Service,
  request: IncomingMessage,
  response: ServerResponse,
  error: unknown,
): Promise<void> {
  const { app, lines } = service;
  const isGone =
    (error as NodeJS.ErrnoException).code === "ERR_STREAM_PREMATURE_CLOSE" || request.socket.destroyed;
  if (response.headersSent || isGone) {
    response.destroy();
    const why = isGone ? "the client left" : error instanceof Error ? error.message : String(error);
    lines.say(`broken off: ${requestLine(request)}: ${why}`, siteOf(senderOf(request).address));
    return;
  }
  for (const name of response.getHeaderNames()) response.removeHeader(name);
  await send(service, request, response, errorReply(app, request, error)).catch(() => response.destroy());
}

async function handle(service: Service, request: IncomingMessage, asked: Asked): Promise<Reply> {
  const problem = headProblem(request);
  if (problem !== undefined) {
    return statusReply(request, problem.status, problem.message, { Connection: "close" });
  }
  if (asked.url.pathname !== "/health") checkReader(request, service.app.config);
  const refused = checkSender(service.app, request, asked);
  if (refused !== undefined) return refused;
  const { identity, address: from } = senderOf(request);
  const actor = { who: nameOf(identity), from };
  return asActor(actor, () => handleAllowed(service, request, asked));
}

async function handleAllowed(service: Service, request: IncomingMessage, asked: Asked): Promise<Reply> {
  const { app } = service;
  const { url, found } = asked;
  const method = request.method ?? "GET";
  if (found.kind === "nothing") return statusReply(request, 404, "There is nothing at this address.");
  if (found.kind === "wrong method") {
    // What a form was sent to is asked for again when its answer is reloaded from the address bar.
    if (method === "GET" && takesPages(request)) return redirect(pageAbove(routes, url.pathname));
    return statusReply(request, 405, `${method} is not possible here.`, { Allow: found.allow });
  }
  checkNeeds(app, found.route);
  if (isReading(request)) return read(service, request, { url, found });
  checkOrigin(app, request);
  onBodyRead(request, () => checkStillAllowed(app, request, asked));
  const announced = Number(request.headers["content-length"] ?? Number.POSITIVE_INFINITY);
  const kept = Math.min(announced, found.route.keptBytes);
  return service.bodyBytes.holding(senderOf(request).address, kept, () =>
    runRoute(found, { app, request, url }),
  );
}

/** What is asked for; what takes time is made for a few at a time. @throws Error where the client has left before */
function read(
  { app, pages, waitingDownloads }: Service,
  request: IncomingMessage,
  { url, found }: { readonly url: URL; readonly found: FoundRoute },
): Promise<Reply> {
  const run = () => runRoute(found, { app, request, url });
  const { answers } = found.route;
  if (answers === undefined) return run();
  const queue = answers === "page" ? pages : waitingDownloads;
  return queue.run(async () => {
    await letOthersIn();
    if (request.socket.destroyed) throw new Error("the client left");
    return run();
  }, senderOf(request).address);
}

/** @throws UserError where a change is not asked for by a page of this service, or by no page at all */
function checkOrigin({ config }: App, request: IncomingMessage): void {
  if (isCrossSite(request, config)) {
    throw new UserError("forbidden", "This request comes from a page of another site, and is refused.");
  }
  checkHost(request, config);
}

/** Undefined where the text is no address. */
function parseUrl(text: string): URL | undefined {
  // A client that takes us for its proxy sends the whole address (RFC 9112, 3.2.2).
  let start = /^https?:\/\/[^/?]*/i.exec(text)?.[0].length ?? 0;
  while (text.charAt(start) === "/") start++;
  const path = `/${text.slice(start)}`;
  return URL.canParse(path, "http://platen") ? new URL(path, "http://platen") : undefined;
}

/** How often a server that stops looks for connections that have become idle. */
const idleCheckMs = 50;

/**
 * Stops taking requests, lets running ones finish for a while, then breaks them off. A connection that is busy now
 * and idle a moment later is closed then: nobody waits for the end of its keep-alive.
 * @param shutdownTimeoutMs how long downloads may still take
 */
export function closeServer(server: Server, shutdownTimeoutMs: number): Promise<void> {
  return new Promise((resolve) => {
    const idle = setInterval(() => server.closeIdleConnections(), idleCheckMs);
    const timer = setTimeout(() => server.closeAllConnections(), shutdownTimeoutMs);
    server.close(() => {
      clearInterval(idle);
      clearTimeout(timer);
      resolve();
    });
    server.closeIdleConnections();
  });
}
