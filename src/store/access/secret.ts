import { createHash, randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import type { Database } from "../database/database.ts";
import type { Queries } from "../database/rows.ts";
import { undefinedIfAbsent, writeDurably } from "../durable-files.ts";
import { endAllLinks } from "./links.ts";

/**
 * The 32 bytes of the secret. A missing one is made. The database keeps their SHA-256; one that has none yet gets it.
 * @throws Error that says what to do when the file is not the one that the database knows
 */
export async function openSecret(path: string, db: Database): Promise<Uint8Array> {
  const saved = await readFile(path).catch(undefinedIfAbsent);
  const secret = saved ?? randomBytes(32);
  const digest = createHash("sha256").update(secret).digest("hex");
  const known = secretDigestIn(db);
  if (saved !== undefined && (saved.length !== 32 || (known !== "" && known !== digest)))
    throw new Error(
      `${path} is damaged, or belongs to another database. Put the one from a backup in its place. Or delete it: Platen then makes a new one, all links end, packages get other bytes, and apps in Intune are not recognized.`,
    );
  // The database is first: without the file, a start after a crash makes a new secret.
  if (known !== digest)
    await db.freeingWrite(() =>
      db.maintenance(() => {
        if (known !== "") endAllLinks(db);
        db.all("INSERT OR REPLACE INTO secret_digest VALUES (1, ?)", [digest]);
      }),
    );
  if (saved === undefined) await writeDurably(path, secret);
  return secret;
}

/** The SHA-256 of the secret in hex. Empty if the database does not know it. */
export function secretDigestIn(db: Queries): string {
  return String(db.first("SELECT sha256 FROM secret_digest")?.sha256 ?? "");
}

/** For a restored database that comes without its secret. A database from before the digest has no such table. */
export function forgetSecret(db: Queries): void {
  if (db.first("SELECT 1 FROM sqlite_schema WHERE name = 'secret_digest'") !== undefined)
    db.all("DELETE FROM secret_digest");
}
