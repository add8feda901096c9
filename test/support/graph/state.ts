import type { Fields } from "./schema.ts";

/** An app with everything below it. */
export interface App {
  readonly id: string;
  fields: Fields;
  readonly versions: Map<string, Version>;
  lastVersion: number;
  children: Relationship[];
  assignments: Fields[];
  categories: Fields[];
  /** What is still to come of a new app's moods. */
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
  /** `dependencyType` or `supersedenceType` with its word. */
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
  /** What the state becomes, after so many polls, and when that is known. */
  next: { polls: number; state: () => string | undefined } | undefined;
  readonly blob: Blob;
  content: Content | undefined;
  /** Why its commit failed, for a test to look at. */
  failure: string;
}

/** What is uploaded, in a file on the disk: in the order in which it came. */
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

/** What is inside a committed payload. */
export interface Content {
  readonly size: number;
  readonly sha256: string;
  /** The ZIP. @throws where the tenant keeps no content */
  readonly bytes: () => Promise<Buffer>;
}

/** The file of a version that was committed. */
export function committedFile(version: Version | undefined): ContentFile | undefined {
  return [...(version?.files.values() ?? [])].find(({ content }) => content !== undefined);
}
