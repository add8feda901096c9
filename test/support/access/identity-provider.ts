import { createHash, generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import type { TestContext } from "node:test";
import { cleanUp } from "../clean-up.ts";

export const clientId = "platen";
export const clientSecret = "a secret: with spaces & signs";

const newKey = () => generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey;
/** Shared, because a key takes a while. */
const firstKey = newKey();

export type IdentityProvider = Awaited<ReturnType<typeof startProvider>>;

/** Starts an OpenID Connect provider on this machine, which a test can make lie. It accepts everybody. */
export async function startProvider(t: TestContext) {
  /** The queries of the authorization requests. A used one is empty. */
  const grants: URLSearchParams[] = [];
  /** The requests so far: method and path. */
  const requests: string[] = [];
  let current = firstKey;
  let keyNumber = 1;
  /** What the answers contain. A test changes it between requests. */
  const answers = {
    /** Replace claims and the header of the next ID token. */
    claims: {} as Record<string, unknown>,
    header: {} as Record<string, unknown>,
    /** Signs the next ID token. */
    key: current,
    /** Replaces members of the discovery document. */
    metadata: {} as Record<string, unknown>,
    /** The claims of `/userinfo`. */
    userinfo: {} as Record<string, unknown>,
    /** The error of the authorization or token endpoint, such as `busy`, which has status 503. */
    refusal: undefined as { readonly at: "authorization" | "token"; readonly error: string } | undefined,
  };
  const authorize = ({ searchParams: query }: URL): URL => {
    const back = new URL(query.get("redirect_uri") ?? "");
    back.searchParams.set("state", query.get("state") ?? "");
    grants.push(query);
    if (answers.refusal?.at === "authorization") back.searchParams.set("error", answers.refusal.error);
    else back.searchParams.set("code", `code-${grants.length - 1}`);
    return back;
  };
  const token = async (_: URL, request: IncomingMessage) => {
    const form = new URLSearchParams(await text(request));
    const number = Number(form.get("code")?.slice("code-".length));
    const grant = grants[number] ?? new URLSearchParams();
    const problem = tokenProblem(request, form, grant);
    const error = answers.refusal?.at === "token" ? answers.refusal.error : problem;
    if (error !== undefined) return { error };
    grants[number] = new URLSearchParams();
    const now = Math.floor(Date.now() / 1000);
    const right = { iss: issuer.origin, aud: clientId, sub: "user-1", iat: now, exp: now + 300 };
    const claims = { ...right, nonce: grant.get("nonce"), ...answers.claims };
    const idToken = jwt({ alg: "RS256", kid: `${keyNumber}`, ...answers.header }, claims, answers.key);
    return { access_token: "access", token_type: "Bearer", expires_in: 300, id_token: idToken };
  };
  const handlers: Record<string, (url: URL, request: IncomingMessage) => object | Promise<object>> = {
    "/.well-known/openid-configuration": () => ({ ...metadataOf(issuer.origin), ...answers.metadata }),
    "/keys": () => {
      const { kty, n, e } = current.export({ format: "jwk" });
      return { keys: [{ kty, n, e, kid: `${keyNumber}`, use: "sig", alg: "RS256" }] };
    },
    "/authorize": authorize,
    "/token": token,
    "/userinfo": () => ({ sub: "user-1", ...answers.userinfo }),
  };
  const answerTo = async (request: IncomingMessage, response: ServerResponse) => {
    const url = new URL(request.url ?? "", issuer);
    requests.push(`${request.method} ${url.pathname}`);
    const answer = (await handlers[url.pathname]?.(url, request)) ?? { error: "nothing" };
    if (answer instanceof URL) return response.writeHead(302, { Location: answer.href }).end();
    const { error } = answer as { readonly error?: string };
    const status = error === "busy" ? 503 : error === undefined ? 200 : 400;
    return response.writeHead(status, { "Content-Type": "application/json" }).end(JSON.stringify(answer));
  };
  const server = createServer((request, response) => void answerTo(request, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const issuer = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  const stop = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  cleanUp(t, stop);
  /** Replaces the signing key, as providers do now and then. */
  const rotateKey = () => {
    current = newKey();
    answers.key = current;
    keyNumber++;
  };
  return { issuer, answers, requests, rotateKey, stop };
}

function metadataOf(origin: string) {
  return {
    issuer: origin,
    authorization_endpoint: `${origin}/authorize`,
    token_endpoint: `${origin}/token`,
    userinfo_endpoint: `${origin}/userinfo`,
    jwks_uri: `${origin}/keys`,
    end_session_endpoint: `${origin}/end`,
    response_types_supported: ["code"],
    subject_types_supported: ["public"],
    id_token_signing_alg_values_supported: ["RS256"],
  };
}

/** The error of a request for tokens; undefined for a right one. */
function tokenProblem({ headers }: IncomingMessage, form: URLSearchParams, grant: URLSearchParams) {
  const credentials = [clientId, clientSecret].map((part) => encodeURIComponent(part).replaceAll("%20", "+"));
  const expected = `Basic ${Buffer.from(credentials.join(":")).toString("base64")}`;
  if (headers.authorization !== expected) return "invalid_client";
  const verifier = createHash("sha256").update(form.get("code_verifier") ?? "");
  const isRight = grant.get("code_challenge") === verifier.digest("base64url");
  return isRight && grant.get("redirect_uri") === form.get("redirect_uri") ? undefined : "invalid_grant";
}

function jwt(header: Record<string, unknown>, claims: Record<string, unknown>, key: KeyObject): string {
  const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const signed = `${part(header)}.${part(claims)}`;
  const signature = header.alg === "none" ? Buffer.alloc(0) : sign("sha256", Buffer.from(signed), key);
  return `${signed}.${signature.toString("base64url")}`;
}
