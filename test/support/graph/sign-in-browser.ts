import { createHash, randomUUID } from "node:crypto";
import { type Answer, Refusal } from "./answers.ts";
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
