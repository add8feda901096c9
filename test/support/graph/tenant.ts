import { createHash, randomUUID } from "node:crypto";
import { join } from "node:path";
import { newRecord, win32 } from "./app-fields.ts";
import { type Behaviour, type BehaviourChanges, behaviourOf } from "./behaviour.ts";
import { type Fault, Faults } from "./faults.ts";
import { madeByHand } from "./hand-made.ts";
import type { Seen } from "./requests.ts";
import type { Fields } from "./schema.ts";
import { SignIns } from "./sign-in.ts";
import { type App, type Content, type ContentFile, committedFile } from "./state.ts";

/** What a tenant knows, and what a test does to it behind the script's back. */
export class Tenant {
  readonly graphUrl: string;
  readonly loginUrl: string;
  readonly storageUrl: string;
  /** Taken without a sign-in. */
  readonly token = `fixed.${randomUUID()}`;
  readonly behaviour: Behaviour;
  readonly requests: Seen[] = [];
  /** Requests to the storage that carried a token. */
  readonly leaks: Seen[] = [];
  /** Children and assignments that a call removed. */
  readonly lostChildren: { app: string; child: string }[] = [];
  readonly lostAssignments: { app: string; assignment: Fields }[] = [];
  /** Icons that a PATCH without one removed, by app. */
  readonly lostIcons: string[] = [];
  /** Why commits failed. */
  readonly commitFailures: string[] = [];
  readonly signIns = new SignIns();
  readonly faults = new Faults();
  /** Called before each request has its effect. */
  onRequest: ((seen: Seen) => void | Promise<void>) | undefined;
  readonly state = {
    apps: new Map<string, App>(),
    blobs: new Map<string, ContentFile>(),
    tokens: new Map<string, number>(),
  };
  readonly #folder: string;

  constructor(name: string, origin: string, folder: string, changes: BehaviourChanges) {
    this.graphUrl = `${origin}/t/${name}`;
    this.loginUrl = `${origin}/login/${name}`;
    this.storageUrl = `${origin}/blob/${name}`;
    this.behaviour = behaviourOf(changes);
    this.#folder = folder;
    this.state.tokens.set(this.token, 0);
  }

  apps(): Fields[] {
    return [...this.state.apps.values()].map(({ fields }) => fields);
  }

  /** @throws when there is no such app */
  app(id: string): Fields {
    return this.found(id).fields;
  }

  /** Everything of an app. @throws when there is no such app */
  found(id: string): App {
    const app = this.state.apps.get(id);
    if (!app) throw new Error(`there is no app ${id}`);
    return app;
  }

  /** An app as somebody made it in the portal, published; another `@odata.type` makes it another kind. */
  addApp(fields: Fields = {}): string {
    const id = randomUUID();
    const type = fields["@odata.type"] ?? win32;
    const record = newRecord({ ...madeByHand, ...fields }, id);
    const published = { publishingState: "published", committedContentVersion: "1", "@odata.type": type };
    const app = this.place(id, { ...record, ...published, ...fields });
    app.unlistedFor = app.unreadableFor = app.unrelatableFor = 0;
    app.lastVersion = 1;
    const file = this.newFile({ name: "IntunePackage.intunewin", size: 7, sizeEncrypted: 64 });
    const bytes = Buffer.from("by hand");
    file.uploadState = "commitFileSuccess";
    file.content = { size: 7, sha256: sha256(bytes), bytes: async () => bytes };
    app.versions.set("1", { id: "1", files: new Map([[file.id, file]]) });
    return id;
  }

  /** An administrator changes fields of an app. */
  change(id: string, fields: Fields): void {
    const app = this.found(id);
    app.fields = { ...app.fields, ...fields };
  }

  remove(id: string): void {
    this.found(id);
    this.state.apps.delete(id);
  }

  /** An administrator assigns an app to a group, or leaves a group out. */
  assign(id: string, groupId: string, intent = "required", isExclusion = false): void {
    const type = `#microsoft.graph.${isExclusion ? "exclusionGroup" : "group"}AssignmentTarget`;
    const target = { "@odata.type": type, groupId };
    this.found(id).assignments.push({
      id: `${groupId}_0_0`,
      intent,
      source: "direct",
      target,
      settings: null,
    });
  }

  /** An administrator makes an app depend on another, or supersede it. */
  relate(id: string, targetId: string, word: "autoInstall" | "detect" | "update" | "replace"): void {
    const isDependency = word === "autoInstall" || word === "detect";
    const type = `#microsoft.graph.mobileApp${isDependency ? "Dependency" : "Supersedence"}`;
    const kind = isDependency ? { dependencyType: word } : { supersedenceType: word };
    this.found(id).children.push({ id: `${id}_${targetId}`, targetId: this.found(targetId).id, type, kind });
  }

  /** The apps that an app depends on or supersedes. */
  children(id: string): string[] {
    return this.found(id).children.map(({ targetId }) => targetId);
  }

  categorize(id: string, displayName: string): void {
    this.found(id).categories.push({ id: randomUUID(), displayName });
  }

  /** What devices get for an app. @throws when nothing was ever published */
  content(id: string): Content {
    const { fields, versions } = this.found(id);
    const content = committedFile(versions.get(String(fields.committedContentVersion)))?.content;
    if (!content) throw new Error(`the app ${id} has no content`);
    return content;
  }

  /** The states of the files of each version of an app's content. */
  versions(id: string): Record<string, string[]> {
    const versions = [...this.found(id).versions.values()];
    return Object.fromEntries(versions.map((v) => [v.id, [...v.files.values()].map((f) => f.uploadState)]));
  }

  fault(fault: Fault): void {
    this.faults.add(fault, this.requests.length);
  }

  /** Refuses everything from that request on, counted from 1 from now; with `after` that one still has its effect. */
  stopAt(number: number, when: "before" | "after" = "before"): void {
    this.faults.stopAt(this.requests.length + number, when);
  }

  /** Ends all faults, and what was stopped. */
  goOn(): void {
    this.faults.clear();
  }

  /** Puts an app among the others. */
  place(id: string, fields: Fields): App {
    const { listedAfter, unreadableFor, unrelatableFor } = this.behaviour;
    const below = { versions: new Map(), lastVersion: 0, children: [], assignments: [], categories: [] };
    const moods = {
      unlistedFor: listedAfter,
      unreadableFor,
      unrelatableFor,
      processingFor: 0,
      patchRefusals: 0,
    };
    const app: App = { id, fields, ...below, ...moods };
    this.state.apps.set(id, app);
    return app;
  }

  /** A file of a content version with nothing uploaded yet. */
  newFile(said: { name: string; size: number; sizeEncrypted: number }): ContentFile {
    const id = randomUUID();
    const place = { file: id, path: join(this.#folder, id), end: 0 };
    const blob = { ...place, blocks: new Map(), list: undefined, uri: undefined };
    const createdDateTime = new Date().toISOString();
    const states = { uploadState: "azureStorageUriRequestPending", next: undefined, failure: "" };
    const file: ContentFile = { id, ...said, createdDateTime, ...states, blob, content: undefined };
    this.state.blobs.set(id, file);
    return file;
  }
}

function sha256(bytes: Buffer): string {
  return createHash("sha256").update(bytes).digest("hex");
}
