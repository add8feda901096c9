import { randomUUID } from "node:crypto";
import { type Answer, Refusal } from "./answers.ts";
import { changeApp, createApp, deleteApp, listApps, showApp } from "./apps.ts";
import { assign, listAssignments, listCategories } from "./assignments.ts";
import {
  commitFile,
  createFile,
  createVersion,
  deleteFile,
  deleteVersion,
  listFiles,
  listVersions,
  renewUpload,
  showFile,
} from "./content.ts";
import {
  addCategory,
  createApplication,
  listApplications,
  listDirectory,
  listServicePrincipals,
} from "./directory.ts";
import { listRelationships, updateRelationships } from "./relations.ts";
import { type Call, jsonOf, type ReceivedRequest } from "./requests.ts";
import type { Tenant } from "./tenant.ts";

const apps = "/beta/deviceAppManagement/mobileApps";
const versions = `${apps}/:id/microsoft.graph.win32LobApp/contentVersions`;
const file = `${versions}/:version/files/:file`;

const routes: readonly [string, string, (call: Call) => Answer][] = [
  ["GET", apps, listApps],
  ["POST", apps, createApp],
  ["GET", `${apps}/:id`, showApp],
  ["PATCH", `${apps}/:id`, changeApp],
  ["DELETE", `${apps}/:id`, deleteApp],
  ["GET", versions, listVersions],
  ["POST", versions, createVersion],
  ["DELETE", `${versions}/:version`, deleteVersion],
  ["GET", `${versions}/:version/files`, listFiles],
  ["POST", `${versions}/:version/files`, createFile],
  ["GET", file, showFile],
  ["DELETE", file, deleteFile],
  ["POST", `${file}/renewUpload`, renewUpload],
  ["POST", `${file}/commit`, commitFile],
  ["GET", `${apps}/:id/relationships`, listRelationships],
  ["POST", `${apps}/:id/updateRelationships`, updateRelationships],
  ["GET", `${apps}/:id/assignments`, listAssignments],
  ["POST", `${apps}/:id/assign`, assign],
  ["GET", `${apps}/:id/categories`, listCategories],
  ["POST", `${apps}/:id/categories/$ref`, addCategory],
  ["GET", "/beta/deviceAppManagement/mobileAppCategories", listDirectory("mobileAppCategories")],
  ["GET", "/beta/deviceManagement/assignmentFilters", listDirectory("assignmentFilters")],
  ["GET", "/beta/deviceManagement/roleScopeTags", listDirectory("roleScopeTags")],
  ["GET", "/v1.0/groups", listDirectory("groups")],
  ["GET", "/v1.0/servicePrincipals", listServicePrincipals],
  ["GET", "/v1.0/applications", listApplications],
  ["POST", "/v1.0/applications", createApplication],
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
