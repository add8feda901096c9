import { UserError } from "./errors.ts";

/** For so many milliseconds a deletion can be taken back. */
export const undoMs = 10 * 60_000;

/** With fewer bytes free on the disk a driver's archive is not kept: it is what takes space. */
export const archiveRoomBytes = 128 * 1024 * 1024;

export const deletionKinds = ["printer", "printers", "client", "driver", "icon"] as const;
type DeletionKind = (typeof deletionKinds)[number];

/** What was deleted at once. */
export interface DeletedRecord {
  readonly kind: DeletionKind;
  /** The record's id; of an icon its printer's; 0 of several printers. */
  readonly recordId: number;
  /** What people know it by. */
  readonly name: string;
}

/** A deletion that can be taken back. */
export interface KeptDeletion extends DeletedRecord {
  readonly id: number;
  /** UTC, milliseconds since 1970, by the clock of that moment. */
  readonly deleted_at: number;
}

/** What was deleted a short while ago. */
export interface RecentDeletion extends KeptDeletion {
  /** For so many milliseconds it can still be taken back. */
  readonly leftMs: number;
}

/** What a deletion led to that was taken back. */
export interface RestoredRecord extends DeletedRecord {
  /** What is not as it was, a sentence each. */
  readonly notes: readonly string[];
}

/** Why a deletion cannot be taken back, with what leads out of it. */
type Obstacle =
  /** It is not kept: it was taken back, made final, or never there. */
  | { readonly kind: "over" }
  /** A client has the name again. */
  | { readonly kind: "name"; readonly client: { readonly id: number; readonly name: string } }
  /** The same ZIP was uploaded again. */
  | { readonly kind: "upload"; readonly driver: { readonly id: number; readonly title: string } }
  /** It refers to what was deleted too, and what can be taken back first. */
  | { readonly kind: "needs"; readonly deletion: KeptDeletion }
  /** The printer of the icon is gone. */
  | { readonly kind: "printer" };

/** A deletion that cannot be taken back, at least not yet. Nothing was changed. */
export class NotRestored extends UserError {
  readonly obstacle: Obstacle;

  /** @param deleted undefined where nothing is known of it any more */
  constructor(deleted: DeletedRecord | undefined, obstacle: Obstacle) {
    super(obstacle.kind === "over" ? "not-found" : "conflict", sentenceOf(deleted?.name ?? "", obstacle));
    this.obstacle = obstacle;
  }
}

function sentenceOf(name: string, obstacle: Obstacle): string {
  switch (obstacle.kind) {
    case "over":
      return "This was taken back already, or can no longer be taken back.";
    case "name":
      return `Another client is called “${obstacle.client.name}” by now: rename that one, then take this deletion back.`;
    case "upload":
      return `The same ZIP was uploaded again, and is “${obstacle.driver.title}” now: go on with that one, or delete it to get “${name}” back as it was.`;
    case "needs":
      return `“${name}” needs “${obstacle.deletion.name}”, which was deleted after it: take that back first.`;
    case "printer":
      return "The printer of this icon is deleted for good.";
  }
}
