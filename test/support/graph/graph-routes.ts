import { randomUUID } from "node:crypto";
import { type Answer, Refusal } from "./answers.ts";
import * as app from "./apps.ts";
import * as content from "./content.ts";
import * as directory from "./directory.ts";
import * as links from "./links.ts";
import { type Call, jsonOf, type ReceivedRequest } from "./requests.ts";
import type { Tenant } from "./tenant.ts";

const apps = "/beta/deviceAppManagement/mobileApps";
const versions = `${apps}/:id/microsoft.graph.win32LobApp/contentVersions`;
const file = `${versions}/:version/files/:file`;

const routes: readonly [string, string, (call: Call) => Answer][] = [
  ["GET", apps, app.listApps],
  ["POST", apps, app.createApp],
  ["GET", `${apps}/:id`, app.showApp],
  ["PATCH", `${apps}/:id`, app.changeApp],
  ["DELETE", `${apps}/:id`, app.deleteApp],
  ["GET", versions, content.listVersions],
  ["POST", versions, content.createVersion],
  ["DELETE", `${versions}/:version`, content.deleteVersion],
  ["GET", `${versions}/:version/files`, content.listFiles],
  ["POST", `${versions}/:version/files`, content.createFile],
  ["GET", file, content.showFile],
  ["DELETE", file, content.deleteFile],
  ["POST", `${file}/renewUpload`, content.renewUpload],
  ["POST", `${file}/commit`, content.commitFile],
  ["GET", `${apps}/:id/relationships`, links.listRelationships],
  ["POST", `${apps}/:id/updateRelationships`, links.updateRelationships],
  ["GET", `${apps}/:id/assignments`, links.listAssignments],
  ["POST", `${apps}/:id/assign`, links.assign],
  ["GET", `${apps}/:id/categories`, links.listCategories],
  ["POST", `${apps}/:id/categories/$ref`, directory.addCategory],
  ["GET", "/beta/deviceAppManagement/mobileAppCategories", directory.listDirectory("mobileAppCategories")],
  ["GET", "/beta/deviceManagement/assignmentFilters", directory.listDirectory("assignmentFilters")],
  ["GET", "/beta/deviceManagement/roleScopeTags", directory.listDirectory("roleScopeTags")],
  ["GET", "/v1.0/groups", directory.listDirectory("groups")],
  ["GET", "/v1.0/servicePrincipals", directory.listServicePrincipals],
  ["GET", "/v1.0/applications", directory.listApplications],
  ["POST", "/v1.0/applications", directory.createApplication],
];

export function answerGraph(tenant: Tenant, received: ReceivedRequest, bytes: Buffer): Answer {
  checkToken(tenant, received);
  for (const [method, pattern, handle] of routes) {
    const params = method === received.method ? paramsOf(pattern, received.path) : undefined;
    if (!params) continue;
    const address = `${tenant.graphUrl}${received.path}`;
    const json = () => jsonOf(received.headers, bytes);
    const answer = handle({ tenant, received, params, address, json });
    return { ...answer, headers: { "request-id": randomUUID(), ...answer.headers } };
  }
  throw new Refusal(400, "BadRequest", `Resource not found: ${received.method} ${received.path}`);
}

function checkToken({ state, behaviour, signIns }: Tenant, { headers, method }: ReceivedRequest): void {
  const [, token = ""] = /^Bearer (\S+)$/.exec(headers.authorization ?? "") ?? [];
  const used = state.tokens.get(token);
  if (used === undefined) throw unauthorized("Access token is empty or unknown.");
  if (used >= behaviour.claimsAfter && !signIns.withClaims.has(token)) {
    const claims = btoa('{"access_token":{"acrs":{"essential":true,"value":"c1"}}}');
    const challenge = `Bearer realm="", error="insufficient_claims", claims="${claims}"`;
    throw unauthorized("A further claim is required.", challenge);
  }
  if (used >= behaviour.requestsPerToken) throw unauthorized("The token is expired.");
  state.tokens.set(token, used + 1);
  const isForReading = method !== "GET" && signIns.scopes.get(token)?.includes("ReadWrite") === false;
  if (isForReading) throw new Refusal(403, "Forbidden", "The token is only for reading.");
  const Message = "Application is not authorized to perform this operation.";
  if (behaviour.isForbidden) throw new Refusal(403, "Forbidden", JSON.stringify({ _version: 3, Message }));
}

function unauthorized(message: string, challenge = "Bearer"): Refusal {
  return new Refusal(401, "InvalidAuthenticationToken", message, { "www-authenticate": challenge });
}

function paramsOf(pattern: string, path: string): string[] | undefined {
  const [wanted, found] = [pattern.split("/"), path.split("/")];
  const isSame = wanted.every((part, i) => part.startsWith(":") || part === found[i]);
  return isSame && wanted.length === found.length
    ? found.filter((_, i) => wanted[i]?.startsWith(":"))
    : undefined;
}
