import { randomUUID } from "node:crypto";
import { type Answer, Refusal } from "./answers.ts";
import type { ReceivedRequest } from "./requests.ts";
import { authorize, giveAppToken, type IssuedCode, type RegisteredApp, redeemCode } from "./sign-in-ways.ts";
import type { Tenant } from "./tenant.ts";

interface StartedSignIn {
  readonly client: string;
  readonly scope: string;
  readonly at: number;
  lastPoll: number;
  interval: number;
  isUsed: boolean;
}

/** The sign-ins of a tenant. */
export class SignIns {
  readonly codes = new Map<string, StartedSignIn>();
  readonly refreshTokens = new Map<string, { client: string; scope: string }>();
  /** Authorization codes that browsers got. */
  readonly authorizations = new Map<string, IssuedCode>();
  /** App registrations that sign in without a person, by client id. */
  readonly apps = new Map<string, RegisteredApp>();
  /** The ids of used client assertions. */
  readonly assertions = new Set<string>();
  /** The tokens with the claim that Graph may ask for. */
  readonly withClaims = new Set<string>();
  /** The scope of each issued token. */
  readonly scopes = new Map<string, string>();
  /** All polls, and those that came too soon. */
  polls = 0;
  tooFast = 0;
  /** Number of tokens issued for refresh tokens. */
  refreshed = 0;
}

export type Form = Readonly<Record<string, string>>;

/** Microsoft's identity platform: device code (RFC 8628), authorization code, and client credentials, with its error texts. */
export function answerSignIn(
  tenant: Tenant,
  { path, method, query, headers, body }: ReceivedRequest,
): Answer {
  if (/^\/[\w.-]+\/v2\.0\/\.well-known\/openid-configuration$/.test(path))
    return { status: 200, body: { issuer: `https://login.example/${tenant.id}/v2.0` } };
  const [, action] = /^\/[\w.-]+\/oauth2\/v2\.0\/(devicecode|token|authorize)$/.exec(path) ?? [];
  if (action === undefined) throw new Refusal(404, "not_found", "AADSTS900144: There is nothing here.");
  if (action === "authorize") return authorize(tenant, Object.fromEntries(query));
  if (method !== "POST" || headers["content-type"] !== "application/x-www-form-urlencoded")
    throw new Refusal(400, "invalid_request", "AADSTS900144: only a form with POST is accepted.");
  const form = (body ?? {}) as Form;
  return action === "devicecode" ? start(tenant, form) : giveToken(tenant, form, path);
}

export function requiredField(form: Form, name: string): string {
  const value = form[name] ?? "";
  if (value === "") throw refusalFrom(`invalid_request AADSTS900144: The request must contain '${name}'.`);
  return value;
}

function start({ behaviour, signIns }: Tenant, form: Form): Answer {
  const client = requiredField(form, "client_id");
  const scope = requiredField(form, "scope");
  checkScope(scope);
  const { interval, expiresIn, refusal } = behaviour.signIn;
  if (refusal !== "") throw refusalFrom(refusal);
  const device_code = randomUUID();
  const now = Date.now();
  signIns.codes.set(device_code, { client, scope, at: now, lastPoll: now, interval, isUsed: false });
  const verification_uri = "https://microsoft.com/devicelogin";
  const message = `To sign in, use a web browser to open the page ${verification_uri} and enter the code ABCD-1234 to authenticate.`;
  const body = { user_code: "ABCD-1234", device_code, verification_uri, expires_in: expiresIn };
  return { status: 200, body: { ...body, interval, message } };
}

const knownScope = /(?:^|\/)(?:DeviceManagementApps\.Read(?:Write)?|Application\.ReadWrite)\.All$/;

/** @throws a refusal of a scope without a permission for what the script does */
export function checkScope(scope: string): void {
  if (!scope.split(" ").some((part) => knownScope.test(part)))
    throw refusalFrom("invalid_scope AADSTS70011: The provided value for 'scope' is not valid.");
}

/** @param words error code and description, separated by a space */
export function refusalFrom(words: string): Refusal {
  const [code = "", ...message] = words.split(" ");
  return new Refusal(400, code, message.join(" ") || `AADSTS70000: ${code}.`);
}

function giveToken(tenant: Tenant, form: Form, path: string): Answer {
  const type = requiredField(form, "grant_type");
  if (type === "refresh_token") return refresh(tenant, form);
  if (type === "authorization_code") return redeemCode(tenant, form);
  if (type === "client_credentials") return giveAppToken(tenant, form, `${tenant.loginUrl}${path}`);
  if (type !== "urn:ietf:params:oauth:grant-type:device_code")
    throw refusalFrom(`unsupported_grant_type AADSTS70003: The grant type '${type}' is not supported.`);
  const code = tenant.signIns.codes.get(requiredField(form, "device_code"));
  if (!code || code.isUsed || requiredField(form, "client_id") !== code.client)
    throw refusalFrom("bad_verification_code AADSTS70019: The device code is unknown.");
  poll(tenant, code);
  code.isUsed = true;
  return tokens(tenant, code);
}

/** @throws a refusal until the user has signed in, and when the poll came too soon */
function poll({ behaviour: { signIn }, signIns }: Tenant, code: StartedSignIn): void {
  const now = Date.now();
  const isTooFast = now - code.lastPoll < code.interval * 1000 - 100;
  code.lastPoll = now;
  signIns.polls++;
  if (now - code.at >= signIn.expiresIn * 1000)
    throw refusalFrom("expired_token AADSTS70020: The code has expired.");
  if (isTooFast) signIns.tooFast++;
  const answer = isTooFast ? "slow_down" : (signIn.answers.shift() ?? "ok");
  if (answer === "slow_down") code.interval += signIn.slowDown;
  if (answer === "bad_verification_code") throw refusalFrom(`${answer} AADSTS70019: The code is unknown.`);
  if (answer !== "ok") throw refusalFrom(answer);
}

function refresh(tenant: Tenant, form: Form): Answer {
  const { refreshTokens } = tenant.signIns;
  const token = requiredField(form, "refresh_token");
  const grant = refreshTokens.get(token);
  const isValid = grant !== undefined && grant.client === requiredField(form, "client_id");
  if (!isValid || !tenant.behaviour.signIn.acceptsRefreshTokens)
    throw refusalFrom("invalid_grant AADSTS70008: The refresh token has expired.");
  refreshTokens.delete(token);
  tenant.signIns.refreshed++;
  return tokens(tenant, grant);
}

/** @param more further fields of the answer */
export function tokens(
  { state, signIns }: Tenant,
  { client, scope }: { client: string; scope: string },
  more: Record<string, string> = {},
): Answer {
  const access_token = `issued.${randomUUID()}.${randomUUID()}`;
  state.tokens.set(access_token, 0);
  signIns.scopes.set(access_token, scope);
  if (more.claims !== undefined) signIns.withClaims.add(access_token);
  const body = { token_type: "Bearer", scope, expires_in: 3600, ...more, access_token };
  if (!scope.split(" ").includes("offline_access")) return { status: 200, body };
  const refresh_token = `refresh.${randomUUID()}`;
  signIns.refreshTokens.set(refresh_token, { client, scope });
  return { status: 200, body: { ...body, refresh_token } };
}
