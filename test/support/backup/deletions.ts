import { readdirSync } from "node:fs";
import { join } from "node:path";
import { navigation, type TestApp } from "../app.ts";

/** All records, as the store reads them. */
export function recordsOf({ app: { store } }: Pick<TestApp, "app">) {
  const printers = store.printers.list().map(({ printer: { id } }) => ({
    printer: store.printers.get(id),
    icon: store.icons.find(id),
    preferences: store.preferences.find(id),
    downloads: store.downloads.ofPrinter(id),
  }));
  const drivers = store.drivers.list().map(({ id }) => store.drivers.get(id));
  return { clients: store.clients.list(), drivers, printers };
}

/** Undoes the last deletion as a browser without scripts does. @returns the redirect's location, or the refusal */
export async function undoLast({ app, post }: TestApp): Promise<string> {
  const id = app.undo.list()[0]?.id ?? 0;
  const answer = await post(`/deletions/${id}/undo`, {}, navigation);
  return answer.headers.get("location") ?? `${answer.status} ${await answer.text()}`;
}

/** The files of drivers and icons in a data folder, with those in `incoming` and `lost`. */
export function filesIn(dataDir: string): string[] {
  return [
    "drivers",
    "icons",
    "preferences",
    "incoming",
    "lost/drivers",
    "lost/icons",
    "lost/preferences",
  ].flatMap((folder) => {
    try {
      return readdirSync(join(dataDir, folder)).map((name) => `${folder}/${name}`);
    } catch {
      return [];
    }
  });
}
