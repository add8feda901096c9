import { randomBytes } from "node:crypto";
import { type Link, type LinkMaker, type LinkOwner, ownerIn } from "../../domain/access/link.ts";
import { missingRecord } from "../../domain/errors.ts";
import { randomText } from "../../domain/secrets.ts";
import { dayMs, utcDay } from "../../domain/text.ts";
import type { Database } from "../database/database.ts";
import { type Queries, type Row, readRow } from "../database/rows.ts";
import { checkRoom } from "../record-limits.ts";

type NewLink = Omit<Link, "id" | "created_at">;

/** All SQL about links. Those of a deleted record stay until they end, so that they work again after an undo. */
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

  /** Newest first. @param owner whose links; by default those of all records @param max how many; all by default */
  list(owner?: LinkOwner, max = -1): Link[] {
    const sql = "SELECT * FROM links WHERE path GLOB ? AND end_day > ? ORDER BY id DESC LIMIT ?";
    return this.#db.all(sql, [pathsOf(owner), this.#clock() / dayMs, max]).map(linkOf);
  }

  /** The link for the same script and maker. */
  findInScript({ maker, path }: Pick<Link, "maker" | "path">): Link | undefined {
    const sql = "SELECT * FROM links WHERE path = ? AND maker = ? AND in_script = 1";
    const row = this.#db.first(sql, [path, JSON.stringify(maker)]);
    return row && linkOf(row);
  }

  /**
   * Saves a link; of a script's, extends the one that exists. Works on a full disk, where scripts must still be served.
   * @throws UserError "full"
   */
  add(link: NewLink): Promise<Link> {
    return this.#db.freeingWrite(() => {
      const { maker, path, isInScript, endDay } = link;
      const known = isInScript ? this.findInScript(link) : undefined;
      if (known !== undefined) {
        this.#db.all("UPDATE links SET end_day = max(end_day, ?) WHERE id = ?", [endDay, known.id]);
        return known;
      }
      const now = this.#clock();
      this.#db.all("DELETE FROM links WHERE end_day <= ?", [now / dayMs]);
      const row = this.#db.first(
        "INSERT INTO links (maker, path, in_script, end_day, created_at) VALUES (?, ?, ?, ?, ?) RETURNING *",
        [JSON.stringify(maker), path, Number(isInScript), endDay, now],
      );
      checkRoom(this.#db);
      if (!isInScript) this.#record("link-made", ownerIn(path), untilText(link));
      return linkOf(row ?? {});
    });
  }

  /** @returns the link @throws UserError "not-found" */
  end(id: number): Promise<Link> {
    return this.#db.freeingWrite(() => {
      const link = this.find(id);
      if (link === undefined) throw missingRecord("Link", id);
      this.#db.all("DELETE FROM links WHERE id = ?", [id]);
      this.#record("links-ended", ownerIn(link.path), `${untilText(link)}, made by ${link.maker.name}`);
      return link;
    });
  }

  /** Ends the links of a record, and those that version 1.0 made. */
  endOf(owner: LinkOwner & { readonly name: string }): Promise<void> {
    return this.#db.freeingWrite(() => {
      this.#db.recordEvent("links-ended", { record: owner });
      this.#db.all("DELETE FROM links WHERE path GLOB ?", [pathsOf(owner)]);
      endOldLinks(this.#db, owner.kind, owner.id);
    });
  }

  /** Ends all links. */
  endAll(): Promise<void> {
    return this.#db.write(() => this.#db.maintenance(() => endAllLinks(this.#db)));
  }

  /** The name of a link's record; undefined if it is deleted. */
  nameOf({ kind, id }: LinkOwner): string | undefined {
    const row = this.#db.first(`SELECT name FROM ${kind}s WHERE id = ?`, [id]);
    return row && String(row.name);
  }

  /** A random text of the database, which links of version 1.0 are signed with. */
  epoch(): string {
    return String(this.#db.first("SELECT epoch FROM link_epoch")?.epoch);
  }

  /** How often the links of a record or account were ended, which links of version 1.0 are signed with. */
  generationOf({ kind, id }: Pick<LinkMaker | LinkOwner, "kind" | "id">): number {
    const sql = "SELECT generation FROM link_generations WHERE kind = ? AND id = ?";
    return Number(this.#db.first(sql, [kind, id])?.generation ?? 0);
  }

  /** Reads every row, at the service's start. @throws Error that names the row that cannot be read */
  check(): void {
    readRow("the epoch of links", () => {
      if (!/^[\w-]{22}$/.test(this.epoch())) throw new Error("it is none");
    });
    for (const row of this.#db.all("SELECT * FROM links")) readRow(`the link ${row.id}`, () => linkOf(row));
  }

  #record(event: "link-made" | "links-ended", owner: LinkOwner, what: string): void {
    this.#db.recordEvent(event, { record: { ...owner, name: this.nameOf(owner) ?? "" }, what });
  }
}

/** Within a write: ends the links of an account, and those that its user made at a proxy before the account existed. */
export function endLinksOfAccount(db: Queries, id: number): void {
  endLinksBy(db, "account", id);
  endOldLinks(db, "account", id);
  db.all(
    `DELETE FROM links WHERE maker ->> 'kind' = 'none'
      AND lower(maker ->> 'name') = (SELECT name_key FROM accounts WHERE id = ?)`,
    [id],
  );
}

/** Within a write: ends the saved links of a maker. */
export function endLinksBy(db: Queries, kind: LinkMaker["kind"], id: number): void {
  db.all("DELETE FROM links WHERE maker ->> 'kind' = ? AND maker ->> 'id' = ?", [kind, id]);
}

/** Within a write: ends the links of version 1.0 of a record or maker. */
function endOldLinks(db: Queries, kind: LinkOwner["kind"] | "account", id: number): void {
  db.all(
    `INSERT INTO link_generations (kind, id, generation) VALUES (?, ?, 1)
      ON CONFLICT DO UPDATE SET generation = generation + 1`,
    [kind, id],
  );
}

/** Ends all links. A database from before links has none; a migration adds a new epoch. */
export function endAllLinks(db: Queries): void {
  const has = (table: string) =>
    db.first("SELECT 1 FROM sqlite_schema WHERE name = ?", [table]) !== undefined;
  if (has("links")) db.all("DELETE FROM links");
  if (has("link_epoch")) db.all("UPDATE link_epoch SET epoch = ?", [randomText(randomBytes, 16)]);
}

/** A pattern for the paths of a record's links; without a record, for all. */
function pathsOf(owner: LinkOwner | undefined): string {
  return owner === undefined ? "*" : `/${owner.kind}s/${owner.id}/*`;
}

function untilText({ path, isInScript, endDay }: NewLink): string {
  return `${isInScript ? "in " : ""}${path}, until ${utcDay(endDay * dayMs)}`;
}

/** @throws SyntaxError */
function linkOf({ id, maker, path, in_script, end_day, created_at }: Row): Link {
  return {
    id: Number(id),
    maker: JSON.parse(String(maker)) as LinkMaker,
    path: String(path),
    isInScript: in_script === 1,
    endDay: Number(end_day),
    created_at: Number(created_at),
  };
}
