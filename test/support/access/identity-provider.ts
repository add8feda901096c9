import { createHash, generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import type { TestContext } from "node:test";
import { cleanUp } from "../clean-up.ts";

/** An OpenID Connect provider on this machine, which a test can make lie. It accepts everybody. */
export interface IdentityProvider {
  readonly issuer: URL;
  /** What its answers contain. A test changes it between requests. */
  readonly answers: {
    /** Replaces claims of the next ID token. */
    claims: Record<string, unknown>;
    /** Replaces the header of the next ID token. */
    header: Record<string, unknown>;
    /** Signs the next ID token. */
    key: KeyObject;
    /** Replaces members of the discovery document. */
    metadata: Record<string, unknown>;
    /** The claims of `/userinfo`. */
    userinfo: Record<string, unknown>;
    /** The error of the authorization or token endpoint. */
    refusal: { readonly at: "authorization" | "token"; readonly error: string } | undefined;
  };
  /** The requests so far: method and path. */
  readonly requests: string[];
  /** Replaces the signing key, as providers do now and then. */
  rotateKey(): void;
  stop(): Promise<void>;
}

export const clientId = "platen";
export const clientSecret = "a secret: with spaces & signs";

/** What the provider remembers of a code. */
interface Grant {
  readonly nonce: string;
  readonly challenge: string;
  readonly redirectUri: string;
}

interface Answer {
  readonly status?: number;
  readonly json?: unknown;
  readonly location?: string;
}

const newKey = () => generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey;
/** Shared, because a key takes a while. */
const firstKey = newKey();

export async function startProvider(t: TestContext): Promise<IdentityProvider> {
  const grants = new Map<string, Grant>();
  const requests: string[] = [];
  let current = firstKey;
  let keyNumber = 1;
  const answers: IdentityProvider["answers"] = {
    claims: {},
    header: {},
    key: current,
    metadata: {},
    userinfo: {},
    refusal: undefined,
  };
  const authorize = (url: URL): Answer => {
    const asked = (name: string) => url.searchParams.get(name) ?? "";
    const back = new URL(asked("redirect_uri"));
    back.searchParams.set("state", asked("state"));
    const code = `code-${grants.size}`;
    grants.set(code, {
      nonce: asked("nonce"),
      challenge: asked("code_challenge"),
      redirectUri: asked("redirect_uri"),
    });
    if (answers.refusal?.at === "authorization") back.searchParams.set("error", answers.refusal.error);
    else back.searchParams.set("code", code);
    return { location: back.href };
  };
  const token = async (_url: URL, request: IncomingMessage): Promise<Answer> => {
    const form = new URLSearchParams(await text(request));
    const code = form.get("code") ?? "";
    const problem = tokenProblem(request, form, grants.get(code));
    const error = answers.refusal?.at === "token" ? answers.refusal.error : problem;
    if (error !== undefined) return { status: 400, json: { error } };
    const now = Math.floor(Date.now() / 1000);
    const nonce = grants.get(code)?.nonce;
    grants.set(code, { nonce: "", challenge: "used", redirectUri: "" });
    const claims = { iss: issuer.origin, aud: clientId, sub: "user-1", iat: now, exp: now + 300, nonce };
    const header = { alg: "RS256", kid: `${keyNumber}`, ...answers.header };
    const idToken = jwt(header, { ...claims, ...answers.claims }, answers.key);
    return { json: { access_token: "access", token_type: "Bearer", expires_in: 300, id_token: idToken } };
  };
  const handlers: Record<string, (url: URL, request: IncomingMessage) => Answer | Promise<Answer>> = {
    "/.well-known/openid-configuration": () => ({
      json: { ...metadataOf(issuer.origin), ...answers.metadata },
    }),
    "/keys": () => ({
      json: { keys: [{ ...publicJwk(current), kid: `${keyNumber}`, use: "sig", alg: "RS256" }] },
    }),
    "/authorize": authorize,
    "/token": token,
    "/userinfo": () => ({ json: { sub: "user-1", ...answers.userinfo } }),
  };
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const url = new URL(request.url ?? "", issuer);
    requests.push(`${request.method} ${url.pathname}`);
    const {
      status = 200,
      json,
      location,
    } = (await handlers[url.pathname]?.(url, request)) ?? { status: 404 };
    if (location !== undefined) response.writeHead(302, { Location: location }).end();
    else response.writeHead(status, { "Content-Type": "application/json" }).end(JSON.stringify(json));
  };
  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const issuer = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  const stop = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  cleanUp(t, stop);
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
function tokenProblem({ headers }: IncomingMessage, form: URLSearchParams, grant: Grant | undefined) {
  const credentials = [clientId, clientSecret].map((part) => encodeURIComponent(part).replaceAll("%20", "+"));
  const expected = `Basic ${Buffer.from(credentials.join(":")).toString("base64")}`;
  if (headers.authorization !== expected) return "invalid_client";
  const challenge = createHash("sha256")
    .update(form.get("code_verifier") ?? "")
    .digest("base64url");
  const isRight = grant?.challenge === challenge && grant.redirectUri === form.get("redirect_uri");
  return isRight ? undefined : "invalid_grant";
}

function publicJwk(key: KeyObject): object {
  const { kty, n, e } = key.export({ format: "jwk" });
  return { kty, n, e };
}

function jwt(header: Record<string, unknown>, claims: Record<string, unknown>, key: KeyObject): string {
  const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const signed = `${part(header)}.${part(claims)}`;
  const signature =
    header.alg === "none" ? "" : sign("sha256", Buffer.from(signed), key).toString("base64url");
  return `${signed}.${signature}`;
}
