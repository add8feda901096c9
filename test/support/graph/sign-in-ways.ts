import { constants, createHash, randomUUID, verify, X509Certificate } from "node:crypto";
import { type Answer, Refusal } from "./answers.ts";
import type { ReceivedRequest } from "./requests.ts";
import { checkScope, type Form, refusalFrom, requiredField, tokens } from "./sign-in.ts";
import type { Tenant } from "./tenant.ts";

/** An authorization code (RFC 6749, 4.1) with its PKCE challenge (RFC 7636). */
export interface IssuedCode {
  readonly client: string;
  readonly scope: string;
  readonly redirect: string;
  readonly challenge: string;
  readonly nonce: string;
  /** The claims that the script asked for, as JSON; empty: none. */
  readonly asked: string;
  isUsed: boolean;
}

/**
 * What a browser does after the person has signed in. `ok`: it opens the redirect address; `noise`: it opens others of the
 * same port before; `denied`: the person declines; the others change the redirect.
 */
export type BrowserBehaviour =
  | "ok"
  | "noise"
  | "denied"
  | "wrong state"
  | "wrong nonce"
  | "replayed code"
  | "closed";

/** The answer to the address that the script opens: the addresses that the browser opens next, in order. */
export function authorize(tenant: Tenant, query: Form): Answer {
  const redirect = requiredField(query, "redirect_uri");
  if (!/^http:\/\/localhost:\d{4,5}\/$/.test(redirect))
    throw new Refusal(400, "invalid_request", "AADSTS50011: The redirect URI does not match.");
  const { browser } = tenant.behaviour.signIn;
  const state = requiredField(query, "state");
  const back = (fields: Record<string, string>) => `${redirect}?${new URLSearchParams(fields)}`;
  if (browser === "closed") return { status: 200, body: { visits: [] } };
  if (browser === "denied") {
    const error_description = "AADSTS65004: User declined to consent to access the app.";
    return { status: 200, body: { visits: [back({ error: "access_denied", error_description, state })] } };
  }
  const code = issueCode(tenant, query, redirect, browser);
  const own = back({ code, state, session_state: randomUUID() });
  const noise = [`${redirect}favicon.ico`, redirect, back({ code, state: "other" }), `${own}&code=twice`];
  const visits = browser === "noise" ? [...noise, own] : [browser === "wrong state" ? noise[2] : own];
  return { status: 200, body: { visits } };
}

function issueCode(tenant: Tenant, query: Form, redirect: string, browser: BrowserBehaviour): string {
  const code = randomUUID();
  const scope = requiredField(query, "scope");
  checkScope(scope);
  const challenge = requiredField(query, "code_challenge");
  const isPkce = query.code_challenge_method === "S256" && /^[\w-]{43}$/.test(challenge);
  if (query.response_type !== "code" || !isPkce)
    throw new Refusal(400, "invalid_request", "AADSTS700054: response_type and PKCE with S256 are required.");
  const nonce = browser === "wrong nonce" ? "other" : requiredField(query, "nonce");
  const isUsed = browser === "replayed code";
  const client = requiredField(query, "client_id");
  const asked = query.claims ?? "";
  tenant.signIns.authorizations.set(code, { client, scope, redirect, challenge, nonce, isUsed, asked });
  return code;
}

export function redeemCode(tenant: Tenant, form: Form): Answer {
  const issued = tenant.signIns.authorizations.get(requiredField(form, "code"));
  if (issued === undefined || issued.isUsed)
    throw refusalFrom("invalid_grant AADSTS54005: The authorization code was already redeemed.");
  issued.isUsed = true;
  const verifier = requiredField(form, "code_verifier");
  if (createHash("sha256").update(verifier).digest("base64url") !== issued.challenge)
    throw refusalFrom("invalid_grant AADSTS501481: The Code_Verifier does not match the code_challenge.");
  if (form.redirect_uri !== issued.redirect || form.client_id !== issued.client)
    throw refusalFrom("invalid_grant AADSTS500112: The reply address does not match.");
  const { client, nonce, asked } = issued;
  const claims = { aud: client, nonce, tid: "0f0f", preferred_username: "anna@contoso.example" };
  const id_token = `e30.${Buffer.from(JSON.stringify(claims)).toString("base64url")}.`;
  return tokens(tenant, issued, { id_token, ...(asked !== "" && { claims: asked }) });
}

/** An app registration with a secret or a certificate. */
export interface RegisteredApp {
  readonly secret?: string;
  /** In PEM. */
  readonly certificate?: string;
}

const refused = (text: string) => new Refusal(401, "invalid_client", text);

/** The client credentials flow (RFC 6749, 4.4), with a secret or a client assertion (RFC 7523). */
export function giveAppToken(tenant: Tenant, form: Form, audience: string): Answer {
  const client = requiredField(form, "client_id");
  const app = tenant.signIns.apps.get(client);
  if (app === undefined) throw refusalFrom("unauthorized_client AADSTS700016: Application was not found.");
  if (form.scope !== `${new URL(tenant.graphUrl).origin}/.default`)
    throw refusalFrom("invalid_scope AADSTS1002012: The scope is not valid for client credentials.");
  const { refusal } = tenant.behaviour.signIn;
  if (refusal !== "") throw refusalFrom(refusal);
  if (form.client_secret === undefined) checkAssertion(tenant, form, client, app, audience);
  else if (form.client_secret !== app.secret) throw refused("AADSTS7000215: Invalid client secret provided.");
  return tokens(tenant, { client, scope: "DeviceManagementApps.ReadWrite.All" });
}

function checkAssertion(
  { signIns, behaviour }: Tenant,
  form: Form,
  client: string,
  { certificate = "" }: RegisteredApp,
  audience: string,
): void {
  if (form.client_assertion_type !== "urn:ietf:params:oauth:client-assertion-type:jwt-bearer")
    throw refused("AADSTS7000218: The request body must contain: 'client_assertion'.");
  const [head = "", body = "", signature = ""] = requiredField(form, "client_assertion").split(".");
  const [header, claims] = [head, body].map((part) => JSON.parse(Buffer.from(part, "base64url").toString()));
  const { raw, publicKey } = new X509Certificate(certificate);
  const thumbprint = createHash("sha256").update(raw).digest("base64url");
  if (header.alg !== "PS256" || header.typ !== "JWT" || header["x5t#S256"] !== thumbprint)
    throw refused("AADSTS700027: The certificate that signed the client assertion is not registered.");
  const pss = { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST };
  const signed = Buffer.from(`${head}.${body}`);
  if (!verify("sha256", signed, { key: publicKey, ...pss }, Buffer.from(signature, "base64url")))
    throw refused("AADSTS50013: Assertion failed signature validation.");
  if (claims.aud !== audience || claims.iss !== client || claims.sub !== client)
    throw refused("AADSTS700023: The claims of the assertion do not match.");
  const now = Date.now() / 1000 + behaviour.signIn.clockAhead;
  if (!(claims.nbf <= now + 300 && now <= claims.exp && claims.exp - claims.nbf <= 600))
    throw refused("AADSTS700024: Client assertion is not within its valid time range.");
  if (signIns.assertions.has(claims.jti)) throw refused("AADSTS70044: The assertion was used before.");
  signIns.assertions.add(claims.jti);
}

/** The header's value that a managed identity's endpoint asks for. */
export const identityHeader = "4f1c3e0a";

/** The endpoint of a managed identity in Automation and App Service. */
export function answerIdentity(tenant: Tenant, { headers, query }: ReceivedRequest): Answer {
  if (headers["x-identity-header"] !== identityHeader) throw refused("The header is missing or wrong.");
  if (query.get("resource") !== new URL(tenant.graphUrl).origin || query.get("api-version") !== "2019-08-01")
    throw new Refusal(400, "invalid_resource", "The resource is unknown.");
  const { body } = tokens(tenant, { client: "", scope: "DeviceManagementApps.ReadWrite.All" });
  // This service writes numbers as texts.
  return { status: 200, body: { ...(body as object), expires_in: "3600" } };
}
