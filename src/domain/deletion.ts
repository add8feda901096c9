import { UserError } from "./errors.ts";

/** How long a deletion can be undone. */
export const undoMs = 10 * 60_000;

/** With fewer bytes free on the disk, the deletion of a driver is final, because its archive takes the space. */
export const archiveRoomBytes = 128 * 1024 * 1024;

export const deletionKinds = ["printer", "printers", "client", "driver", "icon"] as const;
type DeletionKind = (typeof deletionKinds)[number];

/** One deletion, of one or several records. */
export interface DeletedRecord {
  readonly kind: DeletionKind;
  /** The record's id; for an icon, its printer's id; 0 for several printers. */
  readonly recordId: number;
  readonly name: string;
}

/** A deletion that can be undone. */
export interface KeptDeletion extends DeletedRecord {
  readonly id: number;
  /** UTC, milliseconds since 1970, by the clock of that time. */
  readonly deleted_at: number;
}

export interface RecentDeletion extends KeptDeletion {
  /** How long it can still be undone. */
  readonly leftMs: number;
}

/** The result of an undone deletion. */
export interface RestoredRecord extends DeletedRecord {
  /** One sentence for each difference from before the deletion. */
  readonly remarks: readonly string[];
}

/** Why a deletion cannot be undone, with what the message needs. */
type Obstacle =
  /** The deletion was already undone, is final, or never existed. */
  | { readonly kind: "over" }
  /** Another client has the name now. */
  | { readonly kind: "name"; readonly client: { readonly id: number; readonly name: string } }
  /** The same ZIP was uploaded again. */
  | { readonly kind: "upload"; readonly driver: { readonly id: number; readonly title: string } }
  /** It refers to another deleted record, whose deletion can be undone first. */
  | { readonly kind: "needs"; readonly deletion: KeptDeletion }
  /** The printer of the icon is finally deleted. */
  | { readonly kind: "printer" };

/** A deletion cannot be undone, at least not yet. Nothing was changed. */
export class NotRestored extends UserError {
  readonly obstacle: Obstacle;

  /** @param deleted undefined when the deletion does not exist any more */
  constructor(deleted: DeletedRecord | undefined, obstacle: Obstacle) {
    super(obstacle.kind === "over" ? "not-found" : "conflict", obstacleText(deleted?.name ?? "", obstacle));
    this.obstacle = obstacle;
  }
}

function obstacleText(name: string, obstacle: Obstacle): string {
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
