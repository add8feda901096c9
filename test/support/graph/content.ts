import { randomUUID } from "node:crypto";
import { rm } from "node:fs/promises";
import { type Answer, badRequest, notFound } from "./answers.ts";
import { appOf, readableApp } from "./apps.ts";
import { checkCommit, verifyPayload } from "./commit.ts";
import type { Call } from "./graph-routes.ts";
import { checkOptions, page } from "./queries.ts";
import {
  boolean,
  checkShape,
  type Fields,
  integer,
  mustBeNull,
  onlyField,
  type Shape,
  text,
} from "./schema.ts";
import { type App, type ContentFile, committedFile, type Version } from "./state.ts";
import type { Tenant } from "./tenant.ts";

export function listVersions({ tenant, received, params, address }: Call): Answer {
  checkOptions(received.query, ["$top", "$skiptoken"]);
  const { versions } = readableApp(tenant, params);
  const items = [...versions.values()].map(versionBody);
  return { status: 200, body: page(items, received.query, address, tenant.behaviour.pageSize) };
}

export function createVersion({ tenant, params, json }: Call): Answer {
  const app = appOf(tenant, params);
  onlyField(json(), "");
  const open = [...app.versions.values()].find((version) => !committedFile(version));
  if (open) throw badRequest(`The content version ${open.id} of this app is not committed yet.`);
  const version: Version = { id: String(++app.lastVersion), files: new Map() };
  app.versions.set(version.id, version);
  return { status: 201, body: versionBody(version) };
}

export function deleteVersion({ tenant, params }: Call): Answer {
  const app = appOf(tenant, params);
  const version = versionOf(app, params);
  if (app.fields.committedContentVersion === version.id) throw badRequest("The content version is in use.");
  if ([...version.files.values()].some(({ content }) => !content))
    throw badRequest("The content version still has a file that is not committed.");
  app.versions.delete(version.id);
  return { status: 204 };
}

export function listFiles({ tenant, received, params, address }: Call): Answer {
  checkOptions(received.query, ["$top", "$skiptoken"]);
  const { files } = versionOf(readableApp(tenant, params), params);
  const items = [...files.values()].map((file) => fileBody(tenant, file));
  return { status: 200, body: page(items, received.query, address, tenant.behaviour.pageSize) };
}

const newFile: Shape = {
  type: "#microsoft.graph.mobileAppContentFile",
  properties: {
    name: text(260, 1),
    size: integer(1, 30 * 2 ** 30),
    sizeEncrypted: integer(1, 30 * 2 ** 30),
    manifest: mustBeNull,
    isDependency: boolean,
  },
  required: ["name", "size", "sizeEncrypted"],
};

export function createFile({ tenant, params, json }: Call): Answer {
  const version = versionOf(appOf(tenant, params), params);
  const fields = checkShape(json(), "mobileAppContentFile", newFile);
  if (committedFile(version)) throw badRequest("The content version is committed.");
  const [size, sizeEncrypted] = [Number(fields.size), Number(fields.sizeEncrypted)];
  if (sizeEncrypted <= size) throw badRequest("sizeEncrypted must be larger than size.");
  const file = tenant.newFile({ name: String(fields.name), size, sizeEncrypted });
  const result = tenant.behaviour.uriResults.shift() ?? "Success";
  file.next = {
    polls: tenant.behaviour.uriPolls,
    state: () => issueUri(tenant, file, `azureStorageUriRequest${result}`),
  };
  version.files.set(file.id, file);
  return { status: 201, body: fileBody(tenant, file) };
}

export function showFile({ tenant, received, params }: Call): Answer {
  checkOptions(received.query, []);
  const file = fileOf(appOf(tenant, params), params);
  pollFile(file);
  return { status: 200, body: fileBody(tenant, file) };
}

export async function deleteFile({ tenant, params }: Call): Promise<Answer> {
  const app = appOf(tenant, params);
  const file = fileOf(app, params);
  if (file.content) throw badRequest("The file is committed.");
  versionOf(app, params).files.delete(file.id);
  tenant.state.blobs.delete(file.id);
  await rm(file.blob.path, { force: true });
  return { status: 204 };
}

export function renewUpload({ tenant, params, json }: Call): Answer {
  const file = fileOf(appOf(tenant, params), params);
  onlyField(json(), "");
  if (!hasUri(file))
    throw badRequest(`The file's upload cannot be renewed in the state ${file.uploadState}.`);
  const { uriPolls, renewalState } = tenant.behaviour;
  file.uploadState = "azureStorageUriRenewalPending";
  file.next = { polls: uriPolls, state: () => issueUri(tenant, file, renewalState) };
  return { status: 200 };
}

export function commitFile({ tenant, params, json }: Call): Answer {
  const app = appOf(tenant, params);
  const file = fileOf(app, params);
  const keys = checkCommit(json());
  if (!hasUri(file)) throw badRequest(`The file cannot be committed in the state ${file.uploadState}.`);
  if (!file.blob.list) throw badRequest("The file's blocks are not committed: there is no block list.");
  file.uploadState = "commitFilePending";
  let result: string | undefined;
  file.next = { polls: tenant.behaviour.commitPolls, state: () => result };
  const end = (failure: string) => {
    result = failure === "" ? "commitFileSuccess" : "commitFileFailed";
    file.failure = failure;
    if (failure === "") app.patchRefusals = tenant.behaviour.patchRefusals;
    else tenant.commitFailures.push(failure);
  };
  void verifyPayload(tenant, file, keys).then(end, (error: unknown) => end(String(error)));
  return { status: 200 };
}

function versionOf(app: App, params: readonly string[]): Version {
  const version = app.versions.get(params[1] ?? "");
  if (!version) throw notFound(params[1] ?? "");
  return version;
}

function fileOf(app: App, params: readonly string[]): ContentFile {
  const file = versionOf(app, params).files.get(params[2] ?? "");
  if (!file) throw notFound(params[2] ?? "");
  return file;
}

/** Counts a poll; after the last one the file gets its next state. */
function pollFile(file: ContentFile): void {
  if (!file.next || file.next.polls-- > 0) return;
  const state = file.next.state();
  if (state === undefined) return;
  file.uploadState = state;
  file.next = undefined;
}

const uriStates = ["azureStorageUriRequestSuccess", "azureStorageUriRenewalSuccess"];

function hasUri(file: ContentFile): boolean {
  return uriStates.includes(file.uploadState);
}

function issueUri({ behaviour }: Tenant, { blob }: ContentFile, state: string): string {
  if (!uriStates.includes(state)) return state;
  blob.uri = {
    signature: Buffer.from(randomUUID()).toString("base64"),
    expires: Date.now() + 3_600_000,
    blocksLeft: behaviour.blocksPerUri,
    refusalsLeft: behaviour.newUriRefusals,
  };
  return state;
}

function versionBody({ id }: Version): Fields {
  return { "@odata.type": "#microsoft.graph.mobileAppContent", id };
}

function fileBody(tenant: Tenant, file: ContentFile): Fields {
  const uri = hasUri(file) ? file.blob.uri : undefined;
  const signed =
    uri && new URLSearchParams({ sv: "2021-08-06", sr: "b", se: dateOf(uri), sig: uri.signature });
  return {
    "@odata.type": "#microsoft.graph.mobileAppContentFile",
    id: file.id,
    name: file.name,
    size: file.size,
    sizeEncrypted: file.sizeEncrypted,
    sizeInBytes: file.size,
    createdDateTime: file.createdDateTime,
    azureStorageUri: signed ? `${tenant.storageUrl}/${file.id}?${signed}` : null,
    azureStorageUriExpirationDateTime: uri ? dateOf(uri) : "0001-01-01T00:00:00Z",
    isCommitted: file.content !== undefined,
    isDependency: false,
    manifest: null,
    uploadState: file.uploadState,
  };
}

function dateOf({ expires }: { readonly expires: number }): string {
  return new Date(expires).toISOString();
}
