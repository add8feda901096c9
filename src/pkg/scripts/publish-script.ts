import { createHash } from "node:crypto";
import type { LinkOwner } from "../../domain/access/link.ts";
import type { ScriptSettings } from "./deployment.ts";
import { asciiPowershell, type PowerShellValue } from "./powershell.ts";
import apps from "./publish/apps.ps1";
import blocks from "./publish/blocks.ps1";
import content from "./publish/content.ps1";
import download from "./publish/download.ps1";
import fields from "./publish/fields.ps1";
import graph from "./publish/graph.ps1";
import http from "./publish/http.ps1";
import notes from "./publish/notes.ps1";
import packageFile from "./publish/package.ps1";
import parameters from "./publish/parameters.ps1";
import payload from "./publish/payload.ps1";
import relations from "./publish/relations.ps1";
import remove from "./publish/remove.ps1";
import rules from "./publish/rules.ps1";
import run from "./publish/run.ps1";
import say from "./publish/say.ps1";
import signIn from "./publish/sign-in.ps1";
import values from "./publish/values.ps1";
import publish from "./publish.ps1";
import { frameOf, type ScriptKind, settingsOf } from "./render.ts";
import { aroundRegion, fileBytes, neededPieces, tabbed } from "./script-text.ts";
import log from "./shared/log.ps1";

/** What `publish.ps1` is put together from, in the order in which it runs. */
const publishParts: readonly string[] = [
  log,
  say,
  values,
  http,
  parameters,
  signIn,
  graph,
  packageFile,
  payload,
  download,
  notes,
  rules,
  fields,
  content,
  blocks,
  relations,
  apps,
  run,
  remove,
];

/** A package of an app, as it is downloaded. */
interface PublishedPackage {
  /** Empty where the service's own address cannot be said. */
  readonly url: string;
  readonly etag: string;
  readonly fileName: string;
  /** In bytes. */
  readonly size: number;
  /** In hex, of its `Detection.xml`: names all of the content. */
  readonly detectionSha256: string;
}

/** An app that the script makes or updates. */
export interface PublishedApp extends LinkOwner {
  /** Names what is in the package, whatever its icon. */
  readonly revision: string;
  readonly package: PublishedPackage;
  /** Of Graph, by their names there. */
  readonly fields: Readonly<Record<string, string>>;
  /** The settings of the package's scripts, as JSON. */
  readonly scripts: string;
  /** Whether a script says which machines it is for. */
  readonly hasRequirement: boolean;
  /** SHA-256 of its picture in hex; undefined where it has none. */
  readonly icon: string | undefined;
  /** Other apps of the same script, which stand before it. */
  readonly dependsOn: readonly LinkOwner[];
}

/** The numbers of all records of a kind, and the highest that there ever was. */
interface RecordNumbers {
  readonly ids: readonly number[];
  readonly last: number;
}

/** What a script publishes: nothing but data, so that it can cross threads. */
export interface Publication {
  readonly logName: string;
  readonly title: string;
  /** Names the installation in the marks of its apps. */
  readonly instance: string;
  /** When, in milliseconds since 1970. */
  readonly madeAt: number;
  /** Of the service; empty where it cannot be said. */
  readonly service: string;
  /** Where the script itself is fetched, by who need not sign in; empty likewise. */
  readonly url: string;
  readonly apps: readonly PublishedApp[];
  /** Pictures by their digest. */
  readonly icons: ReadonlyMap<string, Uint8Array>;
  /** What there is to look at first, for people. */
  readonly attention: readonly string[];
  readonly leftOut: readonly { readonly name: string; readonly reason: string }[];
  /** A client's one package. */
  readonly together: PublishedApp | undefined;
  /** Why there is none, for people. */
  readonly togetherRefusal: string;
  /** Undefined for who may not know of all records. */
  readonly records: Readonly<Record<"printers" | "clients" | "drivers", RecordNumbers>> | undefined;
}

/** The revision of an app whose package, without a picture, has this ETag: a new picture uploads nothing. */
export function etagRevision(etag: string): string {
  return createHash("sha256").update(etag).digest("hex").slice(0, 12);
}

/** What a script was made of, in short: whether it is the same now is asked before it is run. */
export interface PublicationState {
  /** 16 hex digits of all apps; neither time nor addresses count. */
  readonly apps: string;
  /** The same of the numbers of all records. */
  readonly records: string;
}

/** @param records of all records, also where the script does not have them */
export function publicationState(
  publication: Publication,
  records: Publication["records"],
): PublicationState {
  const { title, apps, icons, leftOut, together, togetherRefusal } = publication;
  const made = { title, apps, icons: [...icons.keys()], leftOut, together, togetherRefusal };
  return {
    apps: shortDigest(JSON.stringify(made, (key, value) => (key === "url" ? undefined : value))),
    records: shortDigest(JSON.stringify(records)),
  };
}

function shortDigest(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 16);
}

/** `publish.ps1` as a file: ASCII. Blocks for some milliseconds an app: where there are many, call it in a worker thread. */
export function renderPublishScript(
  publication: Publication,
  state = publicationState(publication, publication.records),
): Buffer {
  const [start, end] = aroundRegion(publish.replaceAll("\r\n", "\n"), "parts");
  const parts = publishParts.map((part) => neededPieces(part.replaceAll("\r\n", "\n"), () => false).trim());
  const [before, after] = aroundRegion(start + parts.join("\n\n") + end, "settings");
  const settings = asciiPowershell`$Settings = ${settingsFor(publication, state)}`;
  return fileBytes(tabbed(before) + settings + tabbed(after));
}

function settingsFor(publication: Publication, state: PublicationState): PowerShellValue {
  const { logName, title, instance, madeAt, service, url, apps, icons, together, records } = publication;
  const frames = new Frames();
  const icon = iconNames(icons);
  const settingsOfApp = (app: PublishedApp) => appSettings(app, frames, icon);
  const Apps = apps.map(settingsOfApp);
  const Together = together === undefined ? null : settingsOfApp(together);
  const pictures = [...icons].map(([sha256, bytes]) => [icon(sha256), base64(bytes)] as const);
  return {
    LogName: logName,
    Title: title,
    Instance: instance,
    Made: basicTime(madeAt),
    Service: service,
    Source: { Url: url, Apps: state.apps, Records: state.records },
    Frames: frames.settings(),
    Icons: Object.fromEntries(pictures),
    Apps,
    Attention: publication.attention,
    LeftOut: publication.leftOut.map(({ name, reason }) => ({ Name: name, Reason: reason })),
    Together,
    TogetherRefusal: publication.togetherRefusal,
    Records: records === undefined ? null : recordSettings(records),
  };
}

/** ISO 8601's basic format, which sorts as text: 20261123T081500Z. */
function basicTime(ms: number): string {
  return new Date(ms).toISOString().replace(/[-:]|\.\d+/g, "");
}

/** I1, I2, … in the order of the pictures; of none nothing. */
function iconNames(icons: Publication["icons"]): (sha256: string | undefined) => string {
  const names = new Map([...icons.keys()].map((sha256, i) => [sha256, `I${i + 1}`]));
  return (sha256) => (sha256 === undefined ? "" : (names.get(sha256) ?? ""));
}

function appSettings(
  app: PublishedApp,
  frames: Frames,
  iconName: (sha256: string | undefined) => string,
): PowerShellValue {
  const { kind, id, revision, fields, hasRequirement, icon, dependsOn } = app;
  const scripts = JSON.parse(app.scripts) as ScriptSettings;
  return {
    Kind: kind,
    Id: id,
    Revision: revision,
    Package: packageSettings(app.package),
    Fields: fields,
    Detection: frames.script("detect", scripts),
    Requirement: hasRequirement ? frames.script("requirement", scripts) : null,
    Icon: iconName(icon),
    DependsOn: dependsOn.map((other) => `${other.kind}:${other.id}`),
  };
}

function packageSettings({ url, etag, fileName, size, detectionSha256 }: PublishedPackage) {
  return {
    Url: url,
    ETag: etag,
    FileName: fileName,
    Size: size,
    DetectionSha256: detectionSha256,
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

/** What scripts have in common besides their settings, each once. */
class Frames {
  readonly #byText = new Map<
    string,
    { readonly name: string; readonly Before: string; readonly After: string }
  >();

  /** A script as its frame and what stands in it. */
  script(kind: ScriptKind, settings: ScriptSettings) {
    const frame = frameOf(kind, settings);
    const [Before, After] = [base64(frame.before), base64(frame.after)];
    const key = `${Before} ${After}`;
    const known = this.#byText.get(key) ?? { name: `F${this.#byText.size + 1}`, Before, After };
    this.#byText.set(key, known);
    return { Frame: known.name, Settings: base64(settingsOf(kind, settings)) };
  }

  settings() {
    const frames = [...this.#byText.values()];
    return Object.fromEntries(frames.map(({ name, Before, After }) => [name, { Before, After }]));
  }
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("base64");
}
