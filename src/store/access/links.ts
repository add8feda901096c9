import { randomBytes } from "node:crypto";
import { roles } from "../../domain/access/access.ts";
import { type Link, type LinkMaker, type LinkOwner, linkText } from "../../domain/access/link.ts";
import { missingRecord } from "../../domain/errors.ts";
import { randomText } from "../../domain/secrets.ts";
import { dayMs } from "../../domain/text.ts";
import type { Database } from "../database/database.ts";
import { type Queries, type Row, readRow } from "../database/rows.ts";
import { checkRoom } from "../record-limits.ts";

export type NewLink = Omit<Link, "id" | "created_at">;

const sameMaker = "maker_kind = ? AND maker_id = ? AND maker_name = ? AND maker_role = ?";

/** All SQL about links. Records that are gone keep their links until these end: an undo brings both back. */
export class Links {
  readonly #db: Database;
  readonly #clock: () => number;

  constructor(db: Database, clock: () => number) {
    this.#db = db;
    this.#clock = clock;
  }

  find(id: number): Link | undefined {
    const row = this.#db.first("SELECT * FROM links WHERE id = ?", [id]);
    return row && linkOf(row);
  }

  /** Newest first, those of one record by default. @param max how many; all by default */
  list(owner?: LinkOwner, max = -1): Link[] {
    const where = owner ? "AND owner_kind = ? AND owner_id = ?" : "";
    const rows = this.#db.all(`SELECT * FROM links WHERE end_day > ? ${where} ORDER BY id DESC LIMIT ?`, [
      this.#clock() / dayMs,
      ...(owner ? [owner.kind, owner.id] : []),
      max,
    ]);
    return rows.map(linkOf);
  }

  /** The link for the same script, maker and role. */
  findInScript({ maker, owner, path }: NewLink): Link | undefined {
    const row = this.#db.first(
      `SELECT * FROM links WHERE owner_kind = ? AND owner_id = ? AND path = ? AND in_script = 1 AND ${sameMaker}`,
      [owner.kind, owner.id, path, ...makerColumns(maker)],
    );
    return row && linkOf(row);
  }

  /**
   * Saves a link; of a script's, extends the one that exists. Works on a full disk, where scripts must still be served.
   * @throws UserError "full"
   */
  add(link: NewLink): Promise<Link> {
    return this.#db.freeingWrite(() => {
      const { maker, owner, path, isInScript, endDay } = link;
      const known = isInScript ? this.findInScript(link) : undefined;
      if (known !== undefined) {
        this.#db.all("UPDATE links SET end_day = max(end_day, ?) WHERE id = ?", [endDay, known.id]);
        return known;
      }
      const now = this.#clock();
      this.#db.all("DELETE FROM links WHERE end_day <= ?", [now / dayMs]);
      const row = this.#db.first(
        `INSERT INTO links (owner_kind, owner_id, path, in_script, end_day, created_at, maker_kind, maker_id, maker_name, maker_role)
          VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id`,
        [owner.kind, owner.id, path, Number(isInScript), endDay, now, ...makerColumns(maker)],
      );
      checkRoom(this.#db);
      if (!isInScript) this.#record("link-made", owner, linkText(link));
      return { ...link, id: Number(row?.id), created_at: now };
    });
  }

  /** @returns the link @throws UserError "not-found" */
  end(id: number): Promise<Link> {
    return this.#db.freeingWrite(() => {
      const link = this.find(id);
      if (link === undefined) throw missingRecord("Link", id);
      this.#db.all("DELETE FROM links WHERE id = ?", [id]);
      this.#record("links-ended", link.owner, `${linkText(link)}, made by ${link.maker.name}`);
      return link;
    });
  }

  /** Ends the links of a record, and those that version 1.0 made. */
  endOf(owner: LinkOwner): Promise<void> {
    return this.#db.write(() => {
      this.#record("links-ended", owner, "all");
      this.#db.all("DELETE FROM links WHERE owner_kind = ? AND owner_id = ?", [owner.kind, owner.id]);
      this.#db.all(
        `INSERT INTO link_generations (kind, id, generation) VALUES (?, ?, 1)
          ON CONFLICT DO UPDATE SET generation = generation + 1`,
        [owner.kind, owner.id],
      );
    });
  }

  /** Ends all links. */
  endAll(): Promise<void> {
    return this.#db.write(() => this.#db.maintenance(() => endAllLinks(this.#db)));
  }

  /** For the signatures of version 1.0: a random text of the database, and how often the links of a record were ended. */
  epoch(): string {
    return String(this.#db.first("SELECT epoch FROM link_epoch")?.epoch);
  }

  generationOf({ kind, id }: LinkOwner): number {
    const row = this.#db.first("SELECT generation FROM link_generations WHERE kind = ? AND id = ?", [
      kind,
      id,
    ]);
    return Number(row?.generation ?? 0);
  }

  /** Reads every row, at the service's start. @throws Error that names the row that cannot be read */
  check(): void {
    readRow("the epoch of links", () => {
      if (!/^[\w-]{22}$/.test(this.epoch())) throw new Error("it is none");
    });
    for (const row of this.#db.all("SELECT * FROM links")) readRow(`the link ${row.id}`, () => linkOf(row));
  }

  #record(event: "link-made" | "links-ended", { kind, id }: LinkOwner, what: string): void {
    const name = String(this.#db.first(`SELECT name FROM ${kind}s WHERE id = ?`, [id])?.name ?? "");
    this.#db.recordEvent(event, { record: { kind, id, name }, what });
  }
}

/** Ends all links. A database from before links has none; a migration adds a new epoch. */
export function endAllLinks(db: Queries): void {
  const has = (table: string) =>
    db.first("SELECT 1 FROM sqlite_schema WHERE name = ?", [table]) !== undefined;
  if (has("links")) db.all("DELETE FROM links");
  if (has("link_epoch")) db.all("UPDATE link_epoch SET epoch = ?", [randomText(randomBytes, 16)]);
}

function makerColumns({ kind, id, name, role }: LinkMaker): (string | number)[] {
  return [kind, id, name, role ?? ""];
}

const makerKinds = ["account", "token", "none"] as const;
const ownerKinds = ["printer", "client", "driver"] as const;

/** @throws Error for an unknown kind or role */
function linkOf(row: Row): Link {
  const maker = makerKinds.find((kind) => kind === row.maker_kind);
  const owner = ownerKinds.find((kind) => kind === row.owner_kind);
  const role = roles.find((known) => known === row.maker_role);
  if (maker === undefined || owner === undefined || (role === undefined && row.maker_role !== ""))
    throw new Error("its maker or record is unknown");
  return {
    id: Number(row.id),
    maker: { kind: maker, id: Number(row.maker_id), name: String(row.maker_name), role },
    owner: { kind: owner, id: Number(row.owner_id) },
    path: String(row.path),
    isInScript: row.in_script === 1,
    endDay: Number(row.end_day),
    created_at: Number(row.created_at),
  };
}
