import { constants, createHash, createPublicKey, verify, X509Certificate } from "node:crypto";
import { type Answer, Refusal } from "./answers.ts";
import type { ReceivedRequest } from "./requests.ts";
import { type Form, refusalFrom, requiredField, tokens } from "./sign-in.ts";
import type { Tenant } from "./tenant.ts";

/** An app registration with a secret or a certificate. */
export interface RegisteredApp {
  readonly secret?: string;
  /** In PEM. */
  readonly certificate?: string;
}

/** The client credentials flow (RFC 6749, 4.4), with a secret or a client assertion (RFC 7523). */
export function giveAppToken(tenant: Tenant, form: Form, audience: string): Answer {
  const client = requiredField(form, "client_id");
  const app = tenant.signIns.apps.get(client);
  if (app === undefined)
    throw refusalFrom(
      `unauthorized_client AADSTS700016: Application with identifier '${client}' was not found.`,
    );
  if (form.scope !== `${new URL(tenant.graphUrl).origin}/.default`)
    throw refusalFrom("invalid_scope AADSTS1002012: The scope is not valid for client credentials.");
  if (tenant.behaviour.signIn.refusal !== "") throw refusalFrom(tenant.behaviour.signIn.refusal);
  if (form.client_secret !== undefined) {
    if (form.client_secret !== app.secret)
      throw new Refusal(401, "invalid_client", "AADSTS7000215: Invalid client secret provided.");
  } else checkAssertion(tenant, form, client, app, audience);
  return tokens(tenant, { client, scope: "DeviceManagementApps.ReadWrite.All" });
}

function checkAssertion(
  tenant: Tenant,
  form: Form,
  client: string,
  { certificate = "" }: RegisteredApp,
  audience: string,
): void {
  if (form.client_assertion_type !== "urn:ietf:params:oauth:client-assertion-type:jwt-bearer")
    throw new Refusal(
      401,
      "invalid_client",
      "AADSTS7000218: The request body must contain: 'client_assertion'.",
    );
  const [head = "", body = "", signature = ""] = requiredField(form, "client_assertion").split(".");
  const header = JSON.parse(Buffer.from(head, "base64url").toString("utf8"));
  const claims = JSON.parse(Buffer.from(body, "base64url").toString("utf8"));
  const refuse = (text: string) => new Refusal(401, "invalid_client", text);
  const { raw, publicKey } = new X509Certificate(certificate);
  const thumbprint = createHash("sha256").update(raw).digest("base64url");
  if (header.alg !== "PS256" || header.typ !== "JWT" || header["x5t#S256"] !== thumbprint)
    throw refuse(
      "AADSTS700027: The certificate with identifier used to sign the client assertion is not registered.",
    );
  const pss = { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST };
  const key = { key: createPublicKey(publicKey.export({ format: "pem", type: "spki" })), ...pss };
  if (!verify("sha256", Buffer.from(`${head}.${body}`), key, Buffer.from(signature, "base64url")))
    throw refuse("AADSTS50013: Assertion failed signature validation.");
  const now = Date.now() / 1000 + tenant.behaviour.signIn.clockAhead;
  if (claims.aud !== audience) throw refuse("AADSTS700023: Client assertion audience claim does not match.");
  if (claims.iss !== client || claims.sub !== client)
    throw refuse("AADSTS700021: Client assertion application identifier does not match.");
  if (!(claims.nbf <= now + 300 && now <= claims.exp && claims.exp - claims.nbf <= 600))
    throw refuse("AADSTS700024: Client assertion is not within its valid time range.");
  if (tenant.signIns.assertions.has(claims.jti)) throw refuse("AADSTS70044: The assertion was used before.");
  tenant.signIns.assertions.add(claims.jti);
}

/** The header's value that a managed identity's endpoint asks for. */
export const identityHeader = "4f1c3e0a";

/** The endpoint of a managed identity in Automation and App Service. */
export function answerIdentity(tenant: Tenant, { headers, query }: ReceivedRequest): Answer {
  if (headers["x-identity-header"] !== identityHeader)
    throw new Refusal(401, "invalid_client", "The header is missing or wrong.");
  if (query.get("resource") !== new URL(tenant.graphUrl).origin || query.get("api-version") !== "2019-08-01")
    throw new Refusal(400, "invalid_resource", "The resource is unknown.");
  const { body } = tokens(tenant, { client: "", scope: "DeviceManagementApps.ReadWrite.All" });
  const { access_token, expires_in } = body as Record<string, unknown>;
  // This service writes numbers as texts.
  return { status: 200, body: { access_token, expires_in: String(expires_in), token_type: "Bearer" } };
}
