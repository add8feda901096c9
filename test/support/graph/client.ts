import { createCipheriv, createHash, createHmac } from "node:crypto";
import { makePng } from "../printers/png.ts";
import { isFields } from "./schema.ts";
import type { Tenant } from "./tenant.ts";

/** What an answer said. */
interface Said {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Record<string, unknown>;
  /** Graph's error code with its message. */
  readonly error: string;
}

const apps = "/beta/deviceAppManagement/mobileApps";

/** An app below `mobileApps`, with its content versions. */
export const contentOf = (id: string) => `/${id}/microsoft.graph.win32LobApp/contentVersions`;

/** Asks Graph as a script does that holds the tenant's token; the path is below `mobileApps`. */
export async function ask(tenant: Tenant, method: string, path: string, body?: unknown): Promise<Said> {
  const headers = new Headers({ authorization: `Bearer ${tenant.token}` });
  if (body !== undefined) headers.set("content-type", "application/json");
  const sent = body === undefined ? {} : { body: JSON.stringify(body) };
  return await said(await fetch(`${tenant.graphUrl}${apps}${path}`, { method, headers, ...sent }));
}

/** What an answer says, of any of the services. */
export async function said(response: Response): Promise<Said> {
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

/** An app that a tenant takes. */
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

/** A payload, encrypted as Intune wants it, with its keys. */
export function seal(plain: Buffer) {
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

export type Sealed = ReturnType<typeof seal>;

export async function createdApp(tenant: Tenant, changes: Record<string, unknown> = {}): Promise<string> {
  const { body } = await ask(tenant, "POST", "", { ...appFields(), ...changes });
  return String(body.id);
}

/** A new file of a new content version that waits for its upload; the path is below `mobileApps`. */
export async function addedFile(tenant: Tenant, id: string, { payload, size }: Sealed) {
  return await addedFileOf(tenant, id, { size, sizeEncrypted: payload.length });
}

/** The same for a payload of which no more than its sizes are known. */
export async function addedFileOf(
  tenant: Tenant,
  id: string,
  sizes: { size: number; sizeEncrypted: number },
) {
  const version = String((await ask(tenant, "POST", contentOf(id), {})).body.id);
  const { body } = await ask(tenant, "POST", `${contentOf(id)}/${version}/files`, {
    "@odata.type": "#microsoft.graph.mobileAppContentFile",
    name: "IntunePackage.intunewin",
    ...sizes,
    manifest: null,
    isDependency: false,
  });
  return { version, path: `${contentOf(id)}/${version}/files/${body.id}` };
}

/** Asks for a file until its state is no longer pending. */
export async function settled(tenant: Tenant, path: string): Promise<Record<string, unknown>> {
  for (;;) {
    const { body } = await ask(tenant, "GET", path);
    if (!String(body.uploadState).endsWith("Pending")) return body;
  }
}

const blockId = (number: number) =>
  Buffer.from(`block-${String(number).padStart(6, "0")}`).toString("base64");

/** Puts something to a signed address. */
export async function put(
  address: string,
  body: Uint8Array<ArrayBuffer> | string,
  headers = {},
): Promise<Said> {
  const all = { "x-ms-blob-type": "BlockBlob", ...headers };
  return await said(await fetch(address, { method: "PUT", headers: all, body }));
}

export const blockAddress = (uri: unknown, number: number) =>
  `${uri}&comp=block&blockid=${encodeURIComponent(blockId(number))}`;

export const blockList = (count: number) => {
  const ids = Array.from({ length: count }, (_, i) => `<Latest>${blockId(i)}</Latest>`);
  return `<?xml version="1.0" encoding="utf-8"?><BlockList>${ids.join("")}</BlockList>`;
};

/** Uploads a payload in two blocks, the second of them first. */
export async function uploaded(uri: unknown, { payload }: Sealed): Promise<void> {
  const half = Math.ceil(payload.length / 2);
  await put(blockAddress(uri, 1), new Uint8Array(payload.subarray(half)));
  await put(blockAddress(uri, 0), new Uint8Array(payload.subarray(0, half)));
  await put(`${uri}&comp=blocklist`, blockList(2));
}

/** The whole way of a payload into a tenant up to the commit. @returns the version, and the state that it ended in */
export async function uploadedVersion(tenant: Tenant, id: string, sealed: Sealed) {
  const { version, path } = await addedFile(tenant, id, sealed);
  await uploaded((await settled(tenant, path)).azureStorageUri, sealed);
  await ask(tenant, "POST", `${path}/commit`, { fileEncryptionInfo: sealed.fileEncryptionInfo });
  return { version, path, state: (await settled(tenant, path)).uploadState };
}

/** An app that was created, and whose content devices get. */
export async function publishedApp(tenant: Tenant, changes: Record<string, unknown> = {}): Promise<string> {
  const id = await createdApp(tenant, changes);
  const { version } = await uploadedVersion(tenant, id, seal(Buffer.from("a ZIP")));
  await ask(tenant, "PATCH", `/${id}`, {
    "@odata.type": "#microsoft.graph.win32LobApp",
    committedContentVersion: version,
    largeIcon: icon(),
  });
  return id;
}
