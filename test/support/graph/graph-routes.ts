import { randomUUID } from "node:crypto";
import { type Answer, Refusal } from "./answers.ts";
import { changeApp, createApp, deleteApp, listApps, showApp } from "./apps.ts";
import { assign, listAssignments, listCategories, removeCategory } from "./assignments.ts";
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
import { listRelationships, updateRelationships } from "./relations.ts";
import { jsonOf, type Seen } from "./requests.ts";
import type { Tenant } from "./tenant.ts";

/** A request to Graph with what its path says. */
export interface Call {
  readonly tenant: Tenant;
  readonly seen: Seen;
  /** The ids in the path: of the app, the version, the file. */
  readonly params: readonly string[];
  /** The whole address without its query. */
  readonly address: string;
  /** The body. @throws a refusal when it is no JSON */
  readonly json: () => unknown;
}

const apps = "/beta/deviceAppManagement/mobileApps";
const versions = `${apps}/:id/microsoft.graph.win32LobApp/contentVersions`;
const file = `${versions}/:version/files/:file`;

const routes: readonly [string, string, (call: Call) => Answer | Promise<Answer>][] = [
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
  ["DELETE", `${apps}/:id/categories/:category/$ref`, removeCategory],
];

export async function answerGraph(tenant: Tenant, seen: Seen, bytes: Buffer): Promise<Answer> {
  checkToken(tenant, seen);
  for (const [method, pattern, handle] of routes) {
    const params = method === seen.method ? paramsOf(pattern, seen.path) : undefined;
    if (!params) continue;
    const address = `${tenant.graphUrl}${seen.path}`;
    const json = () => jsonOf(seen.headers, bytes);
    const answer = await handle({ tenant, seen, params, address, json });
    return { ...answer, headers: { "request-id": randomUUID(), ...answer.headers } };
  }
  throw new Refusal(400, "BadRequest", `Resource not found for the segment: ${seen.method} ${seen.path}`);
}

function checkToken({ state, behaviour }: Tenant, { headers }: Seen): void {
  const [, token = ""] = /^Bearer (\S+)$/.exec(headers.authorization ?? "") ?? [];
  const used = state.tokens.get(token);
  if (used === undefined) throw unauthorized("Access token is empty or unknown.");
  if (used >= behaviour.tokenRequests)
    throw unauthorized("Lifetime validation failed, the token is expired.");
  state.tokens.set(token, used + 1);
  if (!behaviour.isForbidden) return;
  const Message =
    "Application is not authorized to perform this operation. DeviceManagementApps.ReadWrite.All";
  throw new Refusal(403, "Forbidden", JSON.stringify({ _version: 3, Message, CustomApiErrorPhrase: "" }));
}

function unauthorized(message: string): Refusal {
  return new Refusal(401, "InvalidAuthenticationToken", message, { "www-authenticate": "Bearer" });
}

function paramsOf(pattern: string, path: string): string[] | undefined {
  const [wanted, found] = [pattern.split("/"), path.split("/")];
  if (wanted.length !== found.length) return undefined;
  const params: string[] = [];
  for (const [i, part] of wanted.entries()) {
    if (part.startsWith(":")) params.push(found[i] ?? "");
    else if (part !== found[i]) return undefined;
  }
  return params;
}
