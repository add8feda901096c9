import { createCipheriv, createHash, createHmac } from "node:crypto";
import { makePng } from "../printers/png.ts";
import { isFields } from "./schema.ts";
import type { Tenant } from "./tenant.ts";

interface GraphAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Record<string, unknown>;
  /** Graph's error code and message; the body's text when it is no Graph error. */
  readonly error: string;
}

const apps = "/beta/deviceAppManagement/mobileApps";

/** The path of an app's content versions below `mobileApps`. */
export const contentOf = (id: string) => `/${id}/microsoft.graph.win32LobApp/contentVersions`;

/** Sends a request with the tenant's token, as a script does. @param path below `mobileApps` */
export async function callGraph(
  tenant: Tenant,
  method: string,
  path: string,
  body?: unknown,
): Promise<GraphAnswer> {
  const headers = new Headers({ authorization: `Bearer ${tenant.token}` });
  if (body !== undefined) headers.set("content-type", "application/json");
  const options = body === undefined ? {} : { body: JSON.stringify(body) };
  return await readAnswer(await fetch(`${tenant.graphUrl}${apps}${path}`, { method, headers, ...options }));
}

/** Reads an answer of any of the three services. */
export async function readAnswer(response: Response): Promise<GraphAnswer> {
  const text = await response.text();
  const isJson = (response.headers.get("content-type") ?? "").startsWith("application/json");
  const parsed: unknown = isJson ? JSON.parse(text) : { text };
  const body = isFields(parsed) ? parsed : {};
  const error = isFields(body.error) ? `${body.error.code}: ${body.error.message}` : text;
  return { status: response.status, headers: response.headers, body, error };
}

export const icon = (edge = 8) => ({
  "@odata.type": "#microsoft.graph.mimeContent",
  type: "image/png",
  value: Buffer.from(makePng(edge, edge)).toString("base64"),
});

export const detectionRule = () => ({
  "@odata.type": "#microsoft.graph.win32LobAppPowerShellScriptRule",
  ruleType: "detection",
  enforceSignatureCheck: false,
  runAs32Bit: false,
  scriptContent: Buffer.from("Write-Output 'there'").toString("base64"),
  operationType: "notConfigured",
  operator: "notConfigured",
});

export const requirementRule = () => ({
  ...detectionRule(),
  ruleType: "requirement",
  displayName: "At this place",
  runAsAccount: "system",
  operationType: "string",
  operator: "equal",
  comparisonValue: "here",
});

/** The fields of an app that a tenant accepts. */
export const appFields = (): Record<string, unknown> => ({
  "@odata.type": "#microsoft.graph.win32LobApp",
  displayName: "Contoso: Front Desk’s",
  description: "A printer",
  publisher: "Kyocera",
  displayVersion: "1.0",
  notes: "platen:0123456789ab:printer:7 revision:aa",
  largeIcon: icon(),
  fileName: "front-desk.intunewin",
  setupFilePath: "install.ps1",
  installCommandLine: "powershell.exe -File install.ps1",
  uninstallCommandLine: "powershell.exe -File uninstall.ps1",
  applicableArchitectures: "none",
  allowedArchitectures: "x64,arm64",
  minimumSupportedWindowsRelease: "1607",
  installExperience: {
    runAsAccount: "system",
    maxRunTimeInMinutes: 60,
    deviceRestartBehavior: "basedOnReturnCode",
  },
  allowAvailableUninstall: true,
  returnCodes: [
    { returnCode: 0, type: "success" },
    { returnCode: 3010, type: "softReboot" },
  ],
  rules: [detectionRule(), requirementRule()],
});

/** Encrypts content as Intune requires it. @returns the payload with its keys */
export function encryptPayload(plain: Buffer) {
  const [key, macKey, iv] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2), Buffer.alloc(16, 3)];
  const cipher = createCipheriv("aes-256-cbc", key, iv);
  const sealed = Buffer.concat([iv, cipher.update(plain), cipher.final()]);
  const mac = createHmac("sha256", macKey).update(sealed).digest();
  const fileEncryptionInfo = {
    encryptionKey: key.toString("base64"),
    macKey: macKey.toString("base64"),
    initializationVector: iv.toString("base64"),
    mac: mac.toString("base64"),
    profileIdentifier: "ProfileVersion1",
    fileDigest: createHash("sha256").update(plain).digest("base64"),
    fileDigestAlgorithm: "SHA256",
  };
  return { payload: Buffer.concat([mac, sealed]), size: plain.length, fileEncryptionInfo };
}

export type EncryptedPayload = ReturnType<typeof encryptPayload>;

export async function createApp(tenant: Tenant, changes: Record<string, unknown> = {}): Promise<string> {
  const { body } = await callGraph(tenant, "POST", "", { ...appFields(), ...changes });
  return String(body.id);
}

/** Adds a file to a new content version. @returns the version, and the file's path below `mobileApps` */
export async function addFile(tenant: Tenant, id: string, { payload, size }: EncryptedPayload) {
  return await addFileOfSize(tenant, id, { size, sizeEncrypted: payload.length });
}

/** As `addFile`, for a payload of which only the sizes are known. */
export async function addFileOfSize(
  tenant: Tenant,
  id: string,
  sizes: { size: number; sizeEncrypted: number },
) {
  const version = String((await callGraph(tenant, "POST", contentOf(id), {})).body.id);
  const { body } = await callGraph(tenant, "POST", `${contentOf(id)}/${version}/files`, {
    "@odata.type": "#microsoft.graph.mobileAppContentFile",
    name: "IntunePackage.intunewin",
    ...sizes,
    manifest: null,
    isDependency: false,
  });
  return { version, path: `${contentOf(id)}/${version}/files/${body.id}` };
}

/** Polls a file until its state is no longer pending. */
export async function waitForUploadState(tenant: Tenant, path: string): Promise<Record<string, unknown>> {
  for (;;) {
    const { body } = await callGraph(tenant, "GET", path);
    if (!String(body.uploadState).endsWith("Pending")) return body;
  }
}

const blockId = (number: number) =>
  Buffer.from(`block-${String(number).padStart(6, "0")}`).toString("base64");

/** Sends a PUT to a signed URI of the storage. */
export async function put(
  address: string,
  body: Uint8Array<ArrayBuffer> | string,
  headers = {},
): Promise<GraphAnswer> {
  const all = { "x-ms-blob-type": "BlockBlob", ...headers };
  return await readAnswer(await fetch(address, { method: "PUT", headers: all, body }));
}

export const blockAddress = (uri: unknown, number: number) =>
  `${uri}&comp=block&blockid=${encodeURIComponent(blockId(number))}`;

export const blockList = (count: number) => {
  const ids = Array.from({ length: count }, (_, i) => `<Latest>${blockId(i)}</Latest>`);
  return `<?xml version="1.0" encoding="utf-8"?><BlockList>${ids.join("")}</BlockList>`;
};

/** Uploads a payload in two blocks, the second block first. */
export async function uploadPayload(uri: unknown, { payload }: EncryptedPayload): Promise<void> {
  const half = Math.ceil(payload.length / 2);
  await put(blockAddress(uri, 1), new Uint8Array(payload.subarray(half)));
  await put(blockAddress(uri, 0), new Uint8Array(payload.subarray(0, half)));
  await put(`${uri}&comp=blocklist`, blockList(2));
}

/** Uploads and commits a payload as a new version. @returns the version, and the file's path and final state */
export async function uploadVersion(tenant: Tenant, id: string, sealed: EncryptedPayload) {
  const { version, path } = await addFile(tenant, id, sealed);
  await uploadPayload((await waitForUploadState(tenant, path)).azureStorageUri, sealed);
  await callGraph(tenant, "POST", `${path}/commit`, { fileEncryptionInfo: sealed.fileEncryptionInfo });
  return { version, path, state: (await waitForUploadState(tenant, path)).uploadState };
}

/** Creates an app with committed content, so that it is published. */
export async function publishApp(tenant: Tenant, changes: Record<string, unknown> = {}): Promise<string> {
  const id = await createApp(tenant, changes);
  const { version } = await uploadVersion(tenant, id, encryptPayload(Buffer.from("a ZIP")));
  await callGraph(tenant, "PATCH", `/${id}`, {
    "@odata.type": "#microsoft.graph.win32LobApp",
    committedContentVersion: version,
    largeIcon: icon(),
  });
  return id;
}
