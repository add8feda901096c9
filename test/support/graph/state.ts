import type { Fields } from "./schema.ts";

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
  readonly id: string;
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
  readonly createdDateTime: string;
  uploadState: string;
  /** The next state. It is set after `polls` polls, once `state` no longer returns undefined. */
  next: { polls: number; state: () => string | undefined } | undefined;
  readonly blob: Blob;
  content: Content | undefined;
  /** Why the commit failed; empty otherwise. */
  failure: string;
}

/** The uploaded blocks, in a file in the order of their arrival. */
export interface Blob {
  readonly file: string;
  readonly path: string;
  end: number;
  readonly blocks: Map<string, Segment>;
  list: Segment[] | undefined;
  uri: SignedUri | undefined;
}

export interface Segment {
  readonly at: number;
  readonly length: number;
}

interface SignedUri {
  readonly signature: string;
  readonly expires: number;
  blocksLeft: number;
  refusalsLeft: number;
}

/** The decrypted content of a committed payload. */
export interface Content {
  readonly size: number;
  readonly sha256: string;
  /** @throws when the tenant keeps no content */
  readonly bytes: () => Promise<Buffer>;
}

export function committedFile(version: Version | undefined): ContentFile | undefined {
  return [...(version?.files.values() ?? [])].find(({ content }) => content !== undefined);
}
