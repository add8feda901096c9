import { readdirSync } from "node:fs";
import { join } from "node:path";
import { navigation, type TestApp } from "../app.ts";

/** All that records are, as SQLite holds them. */
export function recordsOf({ app: { store } }: Pick<TestApp, "app">) {
  const printers = store.printers.list().map(({ printer: { id } }) => ({
    printer: store.printers.get(id),
    icon: store.icons.find(id),
    downloads: store.downloads.ofPrinter(id),
  }));
  const drivers = store.drivers.list().map(({ id }) => store.drivers.get(id));
  return { clients: store.clients.list(), drivers, printers };
}

/** Takes back the deletion that was made last, as a browser without scripts does; answers where it is sent. */
export async function undoLast({ app, post }: TestApp): Promise<string> {
  const id = app.undo.list()[0]?.id ?? 0;
  const answer = await post(`/deletions/${id}/undo`, {}, navigation);
  return answer.headers.get("location") ?? `${answer.status} ${await answer.text()}`;
}

/** The names of the files that a data folder holds of drivers and icons, and of what was lost. */
export function filesIn(dataDir: string): string[] {
  return ["drivers", "icons", "incoming", "lost/drivers", "lost/icons"].flatMap((folder) => {
    try {
      return readdirSync(join(dataDir, folder)).map((name) => `${folder}/${name}`);
    } catch {
      return [];
    }
  });
}
