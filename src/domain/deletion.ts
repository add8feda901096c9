import { UserError } from "./errors.ts";

/** How long a deletion or a change can be undone. */
export const undoMs = 10 * 60_000;

/** With fewer bytes free on the disk, the deletion of a driver is final: Platen frees the space of its archive at once. */
export const archiveRoomBytes = 128 * 1024 * 1024;

const changeKinds = ["changed-printer", "changed-printers", "changed-client", "changed-driver"] as const;
export const deletionKinds = [
  "printer",
  "printers",
  "client",
  "driver",
  "icon",
  "preferences",
  ...changeKinds,
] as const;
type DeletionKind = (typeof deletionKinds)[number];

/** Whether a deletion is that of a printer's file. */
export function isPrinterFile(kind: string): kind is "icon" | "preferences" {
  return kind === "icon" || kind === "preferences";
}

/** The tables whose changes can be undone. */
export type ChangedTable = "printers" | "clients" | "drivers";

/** The table of a kind's changes; undefined for deletions. */
export function changedTable(kind: DeletionKind): ChangedTable | undefined {
  if (!kind.startsWith("changed-")) return undefined;
  if (kind === "changed-client") return "clients";
  return kind === "changed-driver" ? "drivers" : "printers";
}

/** What undoes a change: the id of its entry among the deletions. Undefined if the change changed nothing. */
export type KeptChange = number | "no room" | undefined;

/** What a message says of a change besides its success. */
export interface ChangeDetails {
  readonly undo: KeptChange;
  /** The fields that only another user changed meanwhile, with their values in words. */
  readonly kept?: readonly { readonly label: string; readonly text: string }[];
  /** Whether the record's state is worse than before. */
  readonly isWorse?: boolean;
}

/** One deletion or change, of one or several records. */
export interface DeletedRecord {
  readonly kind: DeletionKind;
  /** The record's id; for an icon or preferences, their printer's id; 0 for several printers. */
  readonly recordId: number;
  readonly name: string;
}

/** A deletion or change that can be undone. */
export interface KeptDeletion extends DeletedRecord {
  readonly id: number;
  /** UTC, milliseconds since 1970. The server's clock may have been set since. */
  readonly deleted_at: number;
}

export interface RecentDeletion extends KeptDeletion {
  /** How much longer it can be undone. */
  readonly leftMs: number;
}

/** The result of an undone deletion or change. */
export interface RestoredRecord extends DeletedRecord {
  /** One sentence for each thing that is not as it was before. */
  readonly remarks: readonly string[];
}

/** Why a deletion or change cannot be undone, with the data for the message. */
type Obstacle =
  /** It was already undone, is final, or never existed. */
  | { readonly kind: "over" }
  /** Another client has the name now. */
  | { readonly kind: "name"; readonly client: { readonly id: number; readonly name: string } }
  /** The same ZIP was uploaded again. */
  | { readonly kind: "upload"; readonly driver: { readonly id: number; readonly title: string } }
  /** It refers to a record that was deleted too, or its records changed once more: that must be undone first. */
  | { readonly kind: "needs"; readonly deletion: KeptDeletion }
  /** The deletion of the printer of an icon or preferences is final. */
  | { readonly kind: "printer" }
  /** Every record was changed or deleted since. */
  | { readonly kind: "changed" };

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
      return "You cannot undo this any more: it is undone already, or ten minutes are over.";
    case "name":
      return `Another client has the name “${obstacle.client.name}” now. Rename it, then undo this again.`;
    case "upload":
      return `The same ZIP was uploaded again as “${obstacle.driver.title}”. Use that driver, or delete it to restore “${name}”.`;
    case "needs":
      return laterText(name, obstacle.deletion);
    case "printer":
      return "Its printer was permanently deleted.";
    case "changed":
      return `“${name}” was changed or deleted later: nothing is left to undo.`;
  }
}

function laterText(name: string, { kind, name: later }: KeptDeletion): string {
  if (changedTable(kind) !== undefined) return `“${later}” was changed again. Undo that change first.`;
  return `“${name}” needs “${later}”, which was deleted later. Undo that deletion first.`;
}
