import * as oauth from "oauth4webapi";
import type { Account } from "../../domain/access/account.ts";
import {
  areComplete,
  type Claims,
  nameInClaims,
  type OidcPerson,
  type OidcSettings,
  providerName,
  roleInClaims,
} from "../../domain/access/oidc.ts";
import { hostNetwork } from "../../domain/address.ts";
import { errorMessage, UserError } from "../../domain/errors.ts";
import { type LimitedLog, limitLog } from "../../domain/flood-limit.ts";
import { quoted } from "../../domain/log.ts";
import { isSameText, keyFor, randomText, signatureOf } from "../../domain/secrets.ts";
import { runAs } from "../../store/actor.ts";
import { Quota } from "../../workers/admission.ts";
import {
  cookieBytes,
  type FailedAttempts,
  type FailureKey,
  newSession,
  type SignInOrigin,
  TooManyAttempts,
} from "./sign-in.ts";
import type { AccessParts } from "./tokens.ts";

interface OidcOptions extends AccessParts {
  readonly settings: OidcSettings;
  /** Undefined for a public client. */
  readonly secret: string | undefined;
  /** The address of Platen, without a slash at the end. */
  readonly publicUrl: string;
  readonly sessionMs: number;
  readonly failed: FailedAttempts;
}

const hour = 3_600_000;
/** How long a sign-in may take. */
export const oidcFlowMs = hour / 4;
/** Sign-ins that wait for the provider. */
const maxWaiting = 64;
/** The provider's addresses are read again after this time. Its keys are read again when a new one appears. */
const metadataMs = hour;
const answerMs = 10_000;
const maxNextLength = 1000;
export const maxAnswerBytes = 1024 * 1024;
/** In place of a name in the cookies of browsers that signed in at the provider. No account has it. */
const deviceName = "(provider)";

/** Signs people in at an OpenID Connect provider (OpenID Connect Core 1.0): authorization code with PKCE. */
export class Oidc {
  readonly #options: OidcOptions;
  readonly #client: oauth.Client;
  readonly #key: Uint8Array;
  readonly #keys: oauth.JWKSCacheInput = {};
  readonly #logFailure: LimitedLog;
  readonly #waiting = new Quota(maxWaiting, "sign-ins");
  /** What discovery found last. */
  #known: oauth.AuthorizationServer | undefined;
  #metadata: { readonly server: Promise<oauth.AuthorizationServer>; readonly readAt: number } | undefined;

  constructor(options: OidcOptions) {
    this.#options = options;
    this.#client = { client_id: options.settings.clientId };
    this.#key = keyFor("oidc", options.store.secret);
    this.#logFailure = limitLog(options.log);
  }

  /** The provider's name on the sign-in page. */
  get provider(): string {
    return providerName(this.#options.settings);
  }

  /** Logs a warning if the provider does not answer, or has another name. */
  async check(): Promise<void> {
    await this.#server().catch((error: unknown) =>
      this.#options.log(
        `warning: nobody can sign in at ${this.provider}: ${detailOf(error) ?? errorMessage(error)}`,
      ),
    );
  }

  /**
   * @param next the path of the page after the sign-in
   * @param from the client's address
   * @returns the provider's address, and the cookie that ties the sign-in to this browser
   * @throws UserError "busy" if the provider does not answer, "forbidden" if its answer is wrong
   */
  async begin(next: string, from: string): Promise<{ readonly location: string; readonly cookie: string }> {
    const { clock, random } = this.#options;
    const server = await this.#ask(from, () => this.#server());
    const cookie = `${(clock() + oidcFlowMs).toString(36)}.${randomText(random, cookieBytes)}`;
    const { state, nonce, verifier } = this.#secretsOf(cookie, next.length > maxNextLength ? "/" : next);
    const location = new URL(server.authorization_endpoint ?? "");
    const parameters = {
      client_id: this.#client.client_id,
      redirect_uri: this.#redirectUri,
      response_type: "code",
      scope: "openid profile email",
      code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
      code_challenge_method: "S256",
      state,
      nonce,
    };
    for (const [name, value] of Object.entries(parameters)) location.searchParams.set(name, value);
    return { location: location.href, cookie };
  }

  /**
   * Ends a sign-in.
   * @param answer the query with which the provider sent the browser back
   * @param flow the cookie of `begin`
   * @returns the cookies of the new session and of the browser, and the path of the next page
   * @throws `TooManyAttempts`, UserError "forbidden" or "busy"
   */
  async finish(
    answer: URLSearchParams,
    flow: string | undefined,
    origin: SignInOrigin,
  ): Promise<{ readonly cookie: string; readonly device: string; readonly next: string }> {
    const { clock, random, store, log, failed, sessionMs } = this.#options;
    const { address: from } = origin;
    const next = nextIn(answer.get("state"));
    const isOpen = flow !== undefined && Number.parseInt(flow, 36) > clock();
    if (!isOpen || !isSameText(this.#secretsOf(flow, next).state, answer.get("state") ?? ""))
      throw new UserError(
        "forbidden",
        "This sign-in took too long, or another tab began a new one. Sign in again.",
      );
    const keys = failed.keysOf(deviceName, from, origin.device);
    const waitMs = failed.waitMs(keys);
    if (waitMs > 0) throw new TooManyAttempts(waitMs);
    const claims = await this.#ask(from, () => this.#claims(answer, this.#secretsOf(flow, next)), keys);
    failed.clear(keys);
    const person = this.#personOf(claims, from);
    const cookie = randomText(random, cookieBytes);
    const session = { ...newSession(cookie, origin), ms: sessionMs };
    const account = await runAs({ who: person.name, from }, () => store.sessions.addPerson(person, session));
    this.#checkAccess(person.name, account, from);
    log(`sign-in: let in: ${quoted(person.name)} from ${from}`);
    return { cookie, device: failed.deviceCookie(deviceName, random), next };
  }

  /** The address at the provider where people sign out there, too; undefined if none is known. */
  signOutUrl(): string | undefined {
    if (this.#known?.end_session_endpoint === undefined) return undefined;
    const url = new URL(this.#known.end_session_endpoint);
    url.searchParams.set("client_id", this.#client.client_id);
    url.searchParams.set("post_logout_redirect_uri", `${this.#options.publicUrl}/sign-in`);
    return url.href;
  }

  get #redirectUri(): string {
    return `${this.#options.publicUrl}/sign-in/oidc/callback`;
  }

  get #requestOptions() {
    const { protocol } = this.#options.settings.issuer;
    return {
      signal: () => AbortSignal.timeout(answerMs),
      [oauth.allowInsecureRequests]: protocol === "http:",
      [oauth.jwksCache]: this.#keys,
      [oauth.customFetch]: fetchBounded,
    };
  }

  /** The provider's addresses. Concurrent calls share one request; a failure is not kept. */
  #server(): Promise<oauth.AuthorizationServer> {
    const now = this.#options.clock();
    if (this.#metadata === undefined || this.#metadata.readAt + metadataMs <= now) {
      const { issuer } = this.#options.settings;
      const server = oauth
        .discoveryRequest(issuer, { algorithm: "oidc", ...this.#requestOptions })
        .then((response) => oauth.processDiscoveryResponse(issuer, response))
        .then((found) => {
          this.#known = checkMetadata(found, issuer);
          return this.#known;
        });
      const metadata = { server, readAt: now };
      this.#metadata = metadata;
      server.catch(() => {
        if (this.#metadata === metadata) this.#metadata = undefined;
      });
    }
    return this.#metadata.server;
  }

  /**
   * State, nonce and code verifier, made from one random value, so that nothing is kept for people who never return.
   * The state contains the next page.
   */
  #secretsOf(cookie: string, next: string) {
    const path = Buffer.from(next).toString("base64url");
    const secret = (what: string) => signatureOf(this.#key, [what, cookie, path]);
    return { state: `${secret("state")}.${path}`, nonce: secret("nonce"), verifier: secret("verifier") };
  }

  /** Exchanges the code for the person's claims, of which issuer, audience, time, nonce and signature are right. */
  async #claims(
    answer: URLSearchParams,
    expected: { readonly state: string; readonly nonce: string; readonly verifier: string },
  ): Promise<Claims> {
    const [server, client, options] = [await this.#server(), this.#client, this.#requestOptions];
    const code = oauth.validateAuthResponse(server, client, answer, expected.state);
    const response = await oauth.authorizationCodeGrantRequest(
      server,
      client,
      this.#clientAuthentication(server),
      code,
      this.#redirectUri,
      expected.verifier,
      options,
    );
    const tokens = await oauth.processAuthorizationCodeResponse(server, client, response, {
      expectedNonce: expected.nonce,
      requireIdToken: true,
    });
    await oauth.validateApplicationLevelSignature(server, response, options);
    const claims: Claims = oauth.getValidatedIdTokenClaims(tokens) ?? {};
    if (areComplete(this.#options.settings, claims) || server.userinfo_endpoint === undefined) return claims;
    const info = await oauth.userInfoRequest(server, client, tokens.access_token, options);
    return { ...(await oauth.processUserInfoResponse(server, client, String(claims.sub), info)), ...claims };
  }

  #clientAuthentication({ token_endpoint_auth_methods_supported: methods }: oauth.AuthorizationServer) {
    const { secret } = this.#options;
    if (secret === undefined) return oauth.None();
    const isBasic = methods === undefined || methods.includes("client_secret_basic");
    return isBasic ? oauth.ClientSecretBasic(secret) : oauth.ClientSecretPost(secret);
  }

  /** @throws UserError "forbidden" for a person without a name */
  #personOf(claims: Claims, from: string): OidcPerson {
    const { settings } = this.#options;
    const name = nameInClaims(claims);
    if (name === undefined) {
      this.#refused("no claim has a name", from);
      throw new UserError("forbidden", `${this.provider} sends no name for you. Ask your administrator.`);
    }
    const role = roleInClaims(settings, claims);
    const sub = String(claims.sub);
    return { issuer: settings.issuer.href, sub, name: `${name} (${this.provider})`, role };
  }

  /** @throws UserError "forbidden" for a person without a role, and for a disabled account */
  #checkAccess(name: string, account: Account | undefined, from: string): void {
    if (account?.isDisabled === false) return;
    this.#refused(`${name} ${account === undefined ? "has no role" : "is disabled"}`, from);
    const why =
      account === undefined ? "none of your groups has access" : "your access to Platen is disabled";
    const remedy = account === undefined ? " (OIDC_ROLES)" : "";
    throw new UserError(
      "forbidden",
      `You are signed in as “${name}”, but ${why}. Ask your administrator${remedy}.`,
    );
  }

  /**
   * Waits for the provider, and logs its errors.
   * @param keys under which a failure is counted: strangers invent codes, with which Platen asks in its own name
   * @throws UserError with a message for the person who signs in, and every error that is not the provider's
   */
  async #ask<T>(from: string, request: () => Promise<T>, keys: readonly FailureKey[] = []): Promise<T> {
    try {
      return await this.#waiting.runWith(from, 1, request);
    } catch (error) {
      const why = detailOf(error);
      if (why === undefined) throw error;
      // Strangers can invent codes. Other errors are the provider's or the administrator's.
      if (error instanceof oauth.ResponseBodyError && error.error === "invalid_grant")
        this.#options.failed.add(keys);
      this.#refused(why, from);
      throw this.#errorFor(error, why);
    }
  }

  #errorFor(error: unknown, why: string): UserError {
    if (error instanceof oauth.AuthorizationResponseError)
      return new UserError("forbidden", `${this.provider} refused the sign-in: ${why}. Try again.`);
    if (error instanceof oauth.ResponseBodyError && error.error === "invalid_grant")
      return new UserError(
        "forbidden",
        `${this.provider} does not accept this sign-in any more. Sign in again.`,
      );
    const isUnacceptable =
      error instanceof oauth.OperationProcessingError || error instanceof oauth.UnsupportedOperationError;
    // Another status, such as 503, is no answer.
    if (isUnacceptable && error.code !== oauth.RESPONSE_IS_NOT_CONFORM)
      return new UserError("forbidden", `Platen does not accept the answer of ${this.provider}: ${why}.`);
    return new UserError(
      "busy",
      `${this.provider} does not answer, or refuses Platen. Try again later, or ask your administrator. The log has the reason.`,
    );
  }

  #refused(why: string, from: string): void {
    this.#logFailure(
      `sign-in: refused at ${this.provider}: ${quoted(why)} (from ${from})`,
      hostNetwork(from),
    );
    this.#options.store.audit.record("sign-in-failed", {
      what: `${this.provider}: ${why}`,
      actor: { who: "an unknown name", from },
    });
  }
}

/** @throws OperationProcessingError for an answer that is too large */
async function fetchBounded(url: string, init: oauth.CustomFetchOptions<string, unknown>): Promise<Response> {
  const response = await fetch(url, init as RequestInit);
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.length;
    if (size > maxAnswerBytes) throw new oauth.OperationProcessingError("it is larger than 1 MB");
    chunks.push(chunk);
  }
  return new Response(size === 0 ? null : Buffer.concat(chunks), response);
}

const maxWhyCharacters = 300;

/** @throws OperationProcessingError for metadata whose addresses a browser must not open */
function checkMetadata(server: oauth.AuthorizationServer, issuer: URL): oauth.AuthorizationServer {
  const isWrong = (address: unknown) =>
    !URL.canParse(String(address)) ||
    !["https:", issuer.protocol].includes(new URL(String(address)).protocol);
  const { authorization_endpoint: begin, end_session_endpoint: end } = server;
  if (isWrong(begin) || (end !== undefined && isWrong(end)))
    throw new oauth.OperationProcessingError("an endpoint is no address with https");
  return server;
}

/** The page in a state: the dashboard if it has none. */
function nextIn(state: string | null): string {
  const path = Buffer.from(state?.split(".")[1] ?? "", "base64url").toString("utf8");
  return path === "" ? "/" : path;
}

/**
 * What went wrong at the provider, in one line without the parameters and tokens that the library attaches to its errors.
 * @returns undefined for other errors
 */
function detailOf(error: unknown): string | undefined {
  const text = textOf(error);
  // Anybody can send an answer with any text.
  return text?.replace(/\p{C}+/gu, " ").slice(0, maxWhyCharacters);
}

function textOf(error: unknown): string | undefined {
  if (error instanceof oauth.ResponseBodyError || error instanceof oauth.AuthorizationResponseError)
    return [error.error, error.error_description].filter(Boolean).join(": ");
  if (error instanceof oauth.WWWAuthenticateChallengeError)
    return `status ${error.status} ${error.cause[0]?.parameters.error ?? ""}`.trim();
  if (error instanceof oauth.OperationProcessingError || error instanceof oauth.UnsupportedOperationError)
    return error.message;
  // Of `fetch`, for a connection that fails, and for one that takes too long.
  if (error instanceof TypeError && error.cause instanceof Error) return errorMessage(error.cause);
  return error instanceof DOMException ? error.message : undefined;
}
