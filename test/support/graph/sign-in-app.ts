import { constants, createHash, verify, X509Certificate } from "node:crypto";
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
