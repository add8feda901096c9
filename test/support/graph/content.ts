import { randomUUID } from "node:crypto";
import { type Answer, badRequest, notFound } from "./answers.ts";
import { appOf, readableApp } from "./apps.ts";
import { type Call, checkOptions, page } from "./requests.ts";
import { checkShape, type Fields, integer, onlyField, type Shape, text } from "./schema.ts";
import { checkCommit, verifyPayload } from "./storage.ts";
import { type App, type ContentFile, committedFile, type Tenant, type Version } from "./tenant.ts";

export function listVersions(call: Call): Answer {
  return page(call, [...readableApp(call).versions.values()].map(versionBody));
}

export function createVersion(call: Call): Answer {
  const app = appOf(call);
  onlyField(call.json(), "");
  if ([...app.versions.values()].some((version) => !committedFile(version)))
    throw badRequest("A content version of this app is not committed yet.");
  const version: Version = { id: String(++app.lastVersion), files: new Map() };
  app.versions.set(version.id, version);
  return { status: 201, body: versionBody(version) };
}

export function deleteVersion(call: Call): Answer {
  const app = appOf(call);
  const { id, files } = versionOf(app, call);
  if (app.fields.committedContentVersion === id) throw badRequest("The content version is in use.");
  if ([...files.values()].some(({ content }) => !content))
    throw badRequest("The content version still has a file that is not committed.");
  app.versions.delete(id);
  return { status: 204 };
}

export function listFiles(call: Call): Answer {
  const files = [...versionOf(readableApp(call), call).files.values()];
  const items = files.map((file) => fileBody(call.tenant, file));
  return page(call, items);
}

const size = integer(1, 30 * 2 ** 30);

const newFile: Shape = {
  type: "#microsoft.graph.mobileAppContentFile",
  properties: {
    ...{ name: text(260, 1), size, sizeEncrypted: size },
    ...{ "manifest?": (value) => value === null, "isDependency?": (value) => value === false },
  },
};

export function createFile(call: Call): Answer {
  const { tenant, json } = call;
  const version = versionOf(appOf(call), call);
  const fields = checkShape(json(), newFile);
  if (committedFile(version)) throw badRequest("The content version is committed.");
  const [plain, sealed] = [Number(fields.size), Number(fields.sizeEncrypted)];
  if (sealed <= plain) throw badRequest("sizeEncrypted must be larger than size.");
  const file = tenant.newFile({ name: String(fields.name), size: plain, sizeEncrypted: sealed });
  const result = tenant.behaviour.uriResults.shift() ?? "Success";
  const state = () => issueUri(tenant, file, `azureStorageUriRequest${result}`);
  file.next = { polls: tenant.behaviour.uriPolls, state };
  version.files.set(file.id, file);
  return { status: 201, body: fileBody(tenant, file) };
}

/** Counts a poll; after the last one the file gets its next state. */
export function showFile(call: Call): Answer {
  checkOptions(call);
  const file = fileOf(call);
  if (file.next && file.next.polls-- <= 0) {
    file.uploadState = file.next.state();
    file.next = undefined;
  }
  return { status: 200, body: fileBody(call.tenant, file) };
}

export function deleteFile(call: Call): Answer {
  const { id, content } = fileOf(call);
  if (content) throw badRequest("The file is committed.");
  versionOf(appOf(call), call).files.delete(id);
  call.tenant.state.blobs.delete(id);
  return { status: 204 };
}

export function renewUpload(call: Call): Answer {
  const file = fileOf(call);
  onlyField(call.json(), "");
  if (!hasUri(file)) throw badRequest(`The upload cannot be renewed in the state ${file.uploadState}.`);
  const { uriPolls, renewalState } = call.tenant.behaviour;
  file.uploadState = "azureStorageUriRenewalPending";
  file.next = { polls: uriPolls, state: () => issueUri(call.tenant, file, renewalState) };
  return { status: 200 };
}

export function commitFile(call: Call): Answer {
  const { tenant, json } = call;
  const app = appOf(call);
  const file = fileOf(call);
  const info = checkCommit(json());
  if (!hasUri(file)) throw badRequest(`The file cannot be committed in the state ${file.uploadState}.`);
  if (!file.list) throw badRequest("The file's blocks are not committed: there is no block list.");
  const result = verifyPayload(tenant, file, info) ? "commitFileSuccess" : "commitFileFailed";
  app.patchRefusals = tenant.behaviour.patchRefusals;
  file.uploadState = "commitFilePending";
  file.next = { polls: tenant.behaviour.commitPolls, state: () => result };
  return { status: 200 };
}

function versionOf(app: App, { params: [, id = ""] }: Call): Version {
  const version = app.versions.get(id);
  if (!version) throw notFound(id);
  return version;
}

function fileOf(call: Call): ContentFile {
  const [, , id = ""] = call.params;
  const file = versionOf(appOf(call), call).files.get(id);
  if (!file) throw notFound(id);
  return file;
}

const uriStates = ["azureStorageUriRequestSuccess", "azureStorageUriRenewalSuccess"];
const hasUri = ({ uploadState }: ContentFile) => uriStates.includes(uploadState);

function issueUri({ behaviour }: Tenant, file: ContentFile, state: string): string {
  const signature = Buffer.from(randomUUID()).toString("base64");
  const left = { blocksLeft: behaviour.blocksPerUri, refusalsLeft: behaviour.newUriRefusals };
  if (uriStates.includes(state)) file.uri = { signature, ...left };
  return state;
}

function versionBody({ id }: Version): Fields {
  return { "@odata.type": "#microsoft.graph.mobileAppContent", id };
}

function fileBody({ storageUrl }: Tenant, file: ContentFile): Fields {
  const { id, name, size: sizeInBytes, sizeEncrypted, uploadState } = file;
  const signed = new URLSearchParams({ sv: "2021-08-06", sr: "b", sig: file.uri?.signature ?? "" });
  return {
    "@odata.type": "#microsoft.graph.mobileAppContentFile",
    ...{ id, name, size: sizeInBytes, sizeEncrypted, uploadState, manifest: null },
    azureStorageUri: hasUri(file) ? `${storageUrl}/${id}?${signed}` : null,
    isCommitted: file.content !== undefined,
  };
}
