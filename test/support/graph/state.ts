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

export interface Content {
  readonly size: number;
  readonly sha256: string;
}

export function committedFile(version: Version | undefined): ContentFile | undefined {
  return [...(version?.files.values() ?? [])].find(({ content }) => content !== undefined);
}
