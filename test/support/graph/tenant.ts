import { randomUUID } from "node:crypto";
import { newRecord } from "./app-fields.ts";
import { type Behaviour, type BehaviourChanges, behaviourOf } from "./behaviour.ts";
import { type Fault, Faults } from "./faults.ts";
import type { ReceivedRequest } from "./requests.ts";
import type { Fields } from "./schema.ts";
import { SignIns } from "./sign-in.ts";

export interface App {
  readonly id: string;
  fields: Fields;
  readonly versions: Map<string, Version>;
  lastVersion: number;
  children: Relationship[];
  assignments: Fields[];
  categories: Fields[];
  /** Requests that still get the delayed answers of `Behaviour`. */
  unlistedFor: number;
  unreadableFor: number;
  unrelatableFor: number;
  processingFor: number;
  patchRefusals: number;
}

export interface Relationship {
  readonly targetId: string;
  readonly type: string;
  /** `dependencyType` or `supersedenceType` with its value. */
  readonly kind: Fields;
}

export interface Version {
  readonly id: string;
  readonly files: Map<string, ContentFile>;
}

export interface ContentFile {
  readonly id: string;
  readonly name: string;
  readonly size: number;
  readonly sizeEncrypted: number;
  uploadState: string;
  /** The next state, which is set after `polls` polls. */
  next: { polls: number; state: () => string } | undefined;
  /** The uploaded blocks, and those of the block list in its order. */
  readonly blocks: Map<string, Buffer>;
  list: Buffer[] | undefined;
  uri: { readonly signature: string; blocksLeft: number; refusalsLeft: number } | undefined;
  /** The decrypted content of a committed payload. */
  content: Content | undefined;
}

interface Content {
  readonly size: number;
  readonly sha256: string;
}

export function committedFile(version: Version | undefined): ContentFile | undefined {
  return [...(version?.files.values() ?? [])].find(({ content }) => content !== undefined);
}

export type DirectoryList = "groups" | "assignmentFilters" | "roleScopeTags" | "mobileAppCategories";

/** Fields of an app that an administrator made in the portal. */
export const madeByHand = {
  ...{ displayName: "Made by hand", description: "Made by hand", publisher: "Contoso" },
  ...{ fileName: "hand.intunewin", setupFilePath: "setup.exe" },
  ...{ installCommandLine: "setup.exe /s", uninstallCommandLine: "setup.exe /u" },
  ...{ applicableArchitectures: "none", allowedArchitectures: "x64", minimumSupportedWindowsRelease: "1607" },
  installExperience: { runAsAccount: "system", maxRunTimeInMinutes: 60, deviceRestartBehavior: "allow" },
  returnCodes: [{ returnCode: 0, type: "success" }],
  rules: [{ "@odata.type": "#microsoft.graph.win32LobAppFileSystemRule", ruleType: "detection" }],
};

/** A tenant's state, and the methods with which a test reads and changes it. */
export class Tenant {
  readonly graphUrl: string;
  readonly loginUrl: string;
  readonly storageUrl: string;
  readonly id = randomUUID();
  /** Accepted without a sign-in. */
  readonly token = `fixed.${randomUUID()}`;
  readonly behaviour: Behaviour;
  readonly requests: ReceivedRequest[] = [];
  /** Requests to the storage that carried a token. */
  readonly leaks: ReceivedRequest[] = [];
  /** Children that a call removed. */
  readonly lostChildren: { app: string; child: string }[] = [];
  /** Icons that a PATCH without one removed, by app. */
  readonly lostIcons: string[] = [];
  readonly signIns = new SignIns();
  /** App registrations. */
  readonly registrations: Fields[] = [];
  /** Groups, filters, scope tags and categories, with `id` and `displayName`. */
  readonly directory: Record<DirectoryList, Fields[]> = {
    groups: [],
    assignmentFilters: [],
    roleScopeTags: [],
    mobileAppCategories: [],
  };
  readonly faults = new Faults();
  /** Called before each request has its effect. */
  onRequest: ((received: ReceivedRequest) => void | Promise<void>) | undefined;
  readonly state = {
    apps: new Map<string, App>(),
    blobs: new Map<string, ContentFile>(),
    tokens: new Map<string, number>(),
  };

  constructor(name: string, origin: string, changes: BehaviourChanges) {
    this.graphUrl = `${origin}/t/${name}`;
    this.loginUrl = `${origin}/login/${name}`;
    this.storageUrl = `${origin}/blob/${name}`;
    this.behaviour = behaviourOf(changes);
    this.state.tokens.set(this.token, 0);
  }

  apps(): Fields[] {
    return [...this.state.apps.values()].map(({ fields }) => fields);
  }

  /** @throws when there is no such app */
  app(id: string): Fields {
    return this.getApp(id).fields;
  }

  /** @throws when there is no such app */
  getApp(id: string): App {
    const app = this.state.apps.get(id);
    if (!app) throw new Error(`there is no app ${id}`);
    return app;
  }

  /** Adds a published app as an administrator makes it in the portal. @returns its id */
  addApp(fields: Fields = {}): string {
    const id = randomUUID();
    const published = { publishingState: "published", committedContentVersion: "1" };
    const app = this.addRecord(id, { ...newRecord({ ...madeByHand, ...fields }, id), ...published });
    app.unlistedFor = app.unreadableFor = app.unrelatableFor = 0;
    app.lastVersion = 1;
    const file = this.newFile({ name: "IntunePackage.intunewin", size: 7, sizeEncrypted: 64 });
    file.uploadState = "commitFileSuccess";
    file.content = { size: 7, sha256: "" };
    app.versions.set("1", { id: "1", files: new Map([[file.id, file]]) });
    return id;
  }

  /** An administrator changes fields of an app. */
  change(id: string, fields: Fields): void {
    const app = this.getApp(id);
    app.fields = { ...app.fields, ...fields };
  }

  /** An administrator assigns an app to a group, or leaves a group out. */
  assign(id: string, groupId: string, intent = "required", isExclusion = false): void {
    const type = `#microsoft.graph.${isExclusion ? "exclusionGroup" : "group"}AssignmentTarget`;
    const target = { "@odata.type": type, groupId };
    const assignment = { id: `${groupId}_0_0`, intent, source: "direct", target, settings: null };
    this.getApp(id).assignments.push(assignment);
  }

  /** An administrator makes an app depend on another, or supersede it. */
  relate(id: string, targetId: string, word: "autoInstall" | "detect" | "update" | "replace"): void {
    const isDependency = word === "autoInstall" || word === "detect";
    const type = `#microsoft.graph.mobileApp${isDependency ? "Dependency" : "Supersedence"}`;
    const kind = isDependency ? { dependencyType: word } : { supersedenceType: word };
    this.getApp(id).children.push({ targetId, type, kind });
  }

  /** The apps that an app depends on or supersedes. */
  children(id: string): string[] {
    return this.getApp(id).children.map(({ targetId }) => targetId);
  }

  /** The content that devices download. @throws when the app has none */
  content(id: string): Content {
    const { fields, versions } = this.getApp(id);
    const content = committedFile(versions.get(String(fields.committedContentVersion)))?.content;
    if (!content) throw new Error(`the app ${id} has no content`);
    return content;
  }

  /** The upload states of the files, by content version. */
  versions(id: string): Record<string, string[]> {
    const versions = [...this.getApp(id).versions.values()];
    return Object.fromEntries(versions.map((v) => [v.id, [...v.files.values()].map((f) => f.uploadState)]));
  }

  fault(fault: Fault): void {
    this.faults.add(fault, this.requests.length);
  }

  /** Refuses all requests from this one on, counted from 1 from now. With `after` the first one still has its effect. */
  stopAt(number: number, when: "before" | "after"): void {
    this.faults.stopAt(this.requests.length + number, when);
  }

  /** Removes all apps. */
  clear(): void {
    this.state.apps.clear();
  }

  addRecord(id: string, fields: Fields): App {
    const { listedAfter, unreadableFor, unrelatableFor } = this.behaviour;
    const empty = { versions: new Map(), lastVersion: 0, children: [], assignments: [], categories: [] };
    const delays = { unlistedFor: listedAfter, unreadableFor, unrelatableFor, processingFor: 0 };
    const app: App = { id, fields, ...empty, ...delays, patchRefusals: 0 };
    this.state.apps.set(id, app);
    return app;
  }

  /** A file of a content version, before its upload. */
  newFile(description: { name: string; size: number; sizeEncrypted: number }): ContentFile {
    const id = randomUUID();
    const uploadState = "azureStorageUriRequestPending";
    const empty = { next: undefined, list: undefined, uri: undefined, content: undefined };
    const file: ContentFile = { id, ...description, uploadState, blocks: new Map(), ...empty };
    this.state.blobs.set(id, file);
    return file;
  }
}
