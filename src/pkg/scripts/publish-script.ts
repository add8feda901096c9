import { createHash } from "node:crypto";
import type { LinkOwner } from "../../domain/access/link.ts";
import type { ScriptSettings } from "./deployment.ts";
import { renderOperatorScript } from "./operator-scripts.ts";
import { asciiPowershell, Lines, type PowerShellValue } from "./powershell.ts";
import apps from "./publish/apps.ps1";
import assignments from "./publish/assignments.ps1";
import blocks from "./publish/blocks.ps1";
import certificate from "./publish/certificate.ps1";
import consoleLines from "./publish/console.ps1";
import content from "./publish/content.ps1";
import download from "./publish/download.ps1";
import fields from "./publish/fields.ps1";
import graph from "./publish/graph.ps1";
import http from "./publish/http.ps1";
import lease from "./publish/lease.ps1";
import notes from "./publish/notes.ps1";
import packageFile from "./publish/package.ps1";
import parameters from "./publish/parameters.ps1";
import payload from "./publish/payload.ps1";
import register from "./publish/register.ps1";
import relations from "./publish/relations.ps1";
import remove from "./publish/remove.ps1";
import results from "./publish/results.ps1";
import rules from "./publish/rules.ps1";
import run from "./publish/run.ps1";
import signIn from "./publish/sign-in.ps1";
import signInApp from "./publish/sign-in-app.ps1";
import signInPerson from "./publish/sign-in-person.ps1";
import tenants from "./publish/tenants.ps1";
import values from "./publish/values.ps1";
import publish from "./publish.ps1";
import { settingsBlock, templateOf } from "./render.ts";
import language from "./shared/language.ps1";
import log from "./shared/log.ps1";
import type { Signatures } from "./signatures.ts";

/** The parts of `publish.ps1`, in the order in which they run. */
const publishParts: readonly string[] = [
  language,
  log,
  consoleLines,
  results,
  values,
  http,
  tenants,
  parameters,
  signIn,
  signInPerson,
  certificate,
  signInApp,
  graph,
  packageFile,
  payload,
  download,
  notes,
  lease,
  rules,
  fields,
  content,
  blocks,
  relations,
  assignments,
  apps,
  run,
  remove,
  register,
];

interface PublishedPackage {
  /** Empty if the service does not know its own address. */
  readonly url: string;
  readonly etag: string;
  readonly fileName: string;
  /** In bytes. */
  readonly size: number;
  /** Digest of its `Detection.xml`, in hex. It identifies the whole content. */
  readonly detectionSha256: string;
}

export interface PublishedApp extends LinkOwner {
  /** Identifies the content of the package without its icon. */
  readonly revision: string;
  readonly package: PublishedPackage;
  /** Properties of a win32LobApp in Microsoft Graph, by name. */
  readonly fields: Readonly<Record<string, string>>;
  /** Text in the app's notes, besides the marker. */
  readonly notesText: string;
  /** The settings of the package's scripts, as JSON. */
  readonly scripts: string;
  /** The signatures of its detection and requirement scripts. */
  readonly signatures: Signatures;
  /** Whether a requirement script decides which machines get it. */
  readonly hasRequirement: boolean;
  /** SHA-256 of its icon in hex. */
  readonly icon: string | undefined;
  /** Driver apps that it needs. They come before it in the same script. */
  readonly dependsOn: readonly LinkOwner[];
}

/** The ids of all records of a kind, and the highest id that was ever used. */
interface RecordNumbers {
  readonly ids: readonly number[];
  readonly last: number;
}

/** What a script publishes to one tenant: a client's printers, or one printer or driver. */
export interface PublicationPart {
  readonly title: string;
  /** The name of the client. Empty for a driver, or a printer without a client. */
  readonly client: string;
  /** The client's tenant, as a domain or id. Empty if it has none. */
  readonly tenant: string;
  /** Where the script of this part alone can be downloaded without signing in. Empty if the service's address is unknown. */
  readonly url: string;
  readonly apps: readonly PublishedApp[];
  /** Findings to check before publishing, as sentences. */
  readonly attention: readonly string[];
  readonly leftOut: readonly { readonly name: string; readonly reason: string }[];
  /** All printers of a client as one app. */
  readonly together: PublishedApp | undefined;
  /** Why there is no such app, as a sentence. */
  readonly togetherRefusal: string;
}

/** Everything that a script publishes. It is plain data, so it can be sent to another thread. */
export interface Publication {
  readonly logName: string;
  /** Identifies this installation of Platen in the markers of its apps. */
  readonly instance: string;
  /** Whether it is for all clients, so that each needs a tenant of its own. */
  readonly isForAll: boolean;
  /** UTC, milliseconds since 1970. */
  readonly madeAt: number;
  /** By SHA-256 in hex. */
  readonly icons: ReadonlyMap<string, Uint8Array>;
  readonly parts: readonly PublicationPart[];
  /** Undefined if the recipient may not know all records. */
  readonly records: Readonly<Record<"printers" | "clients" | "drivers", RecordNumbers>> | undefined;
}

/** @param etag of the app's package without its icon, so that a new icon does not upload the content again */
export function etagRevision(etag: string): string {
  return createHash("sha256").update(etag).digest("hex").slice(0, 12);
}

/** Digests of a script's data. When the script runs, it first asks the service whether they are still current. */
export interface PublicationState {
  /** Digest of all apps, 16 hex digits. Time and addresses are not part of it. */
  readonly apps: string;
  /** Digest of the ids of all records, 16 hex digits. */
  readonly records: string;
}

/** @param records of everything in Platen, even if the script does not contain them */
export function publicationState(
  { title, client, tenant, apps, leftOut, together, togetherRefusal }: PublicationPart,
  records: Publication["records"],
): PublicationState {
  const made = { title, client, tenant, apps, leftOut, together, togetherRefusal };
  return {
    apps: shortDigest(JSON.stringify(made, (key, value) => (key === "url" ? undefined : value))),
    records: shortDigest(JSON.stringify(records)),
  };
}

function shortDigest(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 16);
}

/** Renders `publish.ps1` as an ASCII file. Blocks for a few milliseconds per app: for many, call it in a worker thread. */
export function renderPublishScript(
  publication: Publication,
  states = publication.parts.map((part) => publicationState(part, publication.records)),
): Buffer {
  const settings = asciiPowershell`$Settings = ${settingsFor(publication, states)}`;
  return renderOperatorScript(publish, publishParts, settings);
}

function settingsFor(publication: Publication, states: readonly PublicationState[]): PowerShellValue {
  const { logName, instance, isForAll, madeAt, parts, icons, records } = publication;
  const templates = new Templates();
  const icon = iconNames(icons);
  const settingsOfApp = (app: PublishedApp) => appSettings(app, templates, icon);
  const pictures = [...icons].map(
    ([sha256, bytes]) => [icon(sha256), Buffer.from(bytes).toString("base64")] as const,
  );
  const Clients = parts.map((part, i) => ({
    Title: part.title,
    Client: part.client,
    Tenant: part.tenant,
    Source: { Url: part.url, Apps: states[i]?.apps ?? "", Records: states[i]?.records ?? "" },
    Apps: part.apps.map(settingsOfApp),
    Attention: part.attention,
    LeftOut: part.leftOut.map(({ name, reason }) => ({ Name: name, Reason: reason })),
    Together: part.together === undefined ? null : settingsOfApp(part.together),
    TogetherRefusal: part.togetherRefusal,
  }));
  return {
    LogName: logName,
    Instance: instance,
    IsForAll: isForAll,
    Made: basicTime(madeAt),
    Frames: templates.settings(),
    Icons: Object.fromEntries(pictures),
    Clients,
    Records: records === undefined ? null : recordSettings(records),
  };
}

/** ISO 8601's basic format, which sorts as text: 20261123T081500Z. */
function basicTime(ms: number): string {
  return new Date(ms).toISOString().replace(/[-:]|\.\d+/g, "");
}

/** Names icons I1, I2, … in their order. The name is empty for an app without an icon. */
function iconNames(icons: Publication["icons"]): (sha256: string | undefined) => string {
  const names = new Map([...icons.keys()].map((sha256, i) => [sha256, `I${i + 1}`]));
  return (sha256) => (sha256 === undefined ? "" : (names.get(sha256) ?? ""));
}

function appSettings(
  app: PublishedApp,
  templates: Templates,
  iconName: (sha256: string | undefined) => string,
): PowerShellValue {
  const { kind, id, revision, fields, notesText, signatures, hasRequirement, icon, dependsOn } = app;
  const { url, etag, fileName, size, detectionSha256 } = app.package;
  const scripts = JSON.parse(app.scripts) as ScriptSettings;
  return {
    Kind: kind,
    Id: id,
    Revision: revision,
    Package: { Url: url, ETag: etag, FileName: fileName, Size: size, DetectionSha256: detectionSha256 },
    Fields: fields,
    Notes: notesText,
    Detection: templates.script("detect", scripts, signatures),
    Requirement: hasRequirement ? templates.script("requirement", scripts, signatures) : null,
    Icon: iconName(icon),
    DependsOn: dependsOn.map((other) => `${other.kind}:${other.id}`),
  };
}

function recordSettings({ printers, clients, drivers }: NonNullable<Publication["records"]>) {
  return {
    Printers: printers.ids,
    Clients: clients.ids,
    Drivers: drivers.ids,
    LastPrinter: printers.last,
    LastClient: clients.last,
    LastDriver: drivers.last,
  };
}

/** Collects the templates of scripts, so that the settings contain each of them once. */
class Templates {
  readonly #byText = new Map<
    string,
    { readonly name: string; readonly Before: Lines; readonly After: Lines }
  >();

  /** A script as the name of its template and its own settings. */
  script(kind: "detect" | "requirement", settings: ScriptSettings, signatures: Signatures) {
    const template = templateOf(kind, settings);
    // `publish.ps1` joins the pieces with line ends.
    const Before = new Lines(linesOf(template.before).replace(/\n$/, ""));
    const After = new Lines(linesOf(template.after).replace(/^\n/, ""));
    const key = `${Before.text} ${After.text}`;
    const known = this.#byText.get(key) ?? { name: `F${this.#byText.size + 1}`, Before, After };
    this.#byText.set(key, known);
    const Settings = new Lines(linesOf(settingsBlock(kind, template, settings)));
    const block = signatures[kind];
    // `publish.ps1` puts the block after the script's last byte.
    return {
      Frame: known.name,
      Settings,
      Signature: block === undefined ? "" : new Lines(linesOf(Buffer.from(block))),
    };
  }

  settings() {
    const templates = [...this.#byText.values()];
    return Object.fromEntries(templates.map(({ name, Before, After }) => [name, { Before, After }]));
  }
}

/** The lines of an ASCII script, with LF. */
function linesOf(piece: Uint8Array): string {
  return Buffer.from(piece).toString("latin1").replaceAll("\r\n", "\n");
}
