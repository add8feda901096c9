import { existsSync, readdirSync } from "node:fs";
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

/** Sends a deletion. */
export const remove = ({ fetch }: Pick<TestApp, "fetch">, path: string) => fetch(path, { method: "DELETE" });

/** The id of the last deletion or change that can be undone. */
export const lastId = ({ app }: Pick<TestApp, "app">) => app.undo.list()[0]?.id ?? 0;

/** Undoes a deletion or change as a browser without scripts does. @returns the page that it shows then, or the refusal */
export async function undo(service: Pick<TestApp, "app" | "post" | "fetch">, id = lastId(service)) {
  const answer = await service.post(`/deletions/${id}/undo`, {}, navigation);
  const path = answer.headers.get("location") ?? "";
  const page = await (path === "" ? answer : await service.fetch(path)).text();
  return { status: answer.status, path, page };
}

/** Undoes the last deletion. @returns the redirect's location, or the refusal */
export async function undoLast(service: TestApp): Promise<string> {
  const { status, path, page } = await undo(service);
  return path || `${status} ${page}`;
}

/** The files of records in a data folder, with those in `incoming` and `lost`. */
export function filesIn(dataDir: string): string[] {
  const kinds = ["drivers", "icons", "preferences"];
  return [...kinds, "incoming", ...kinds.map((kind) => `lost/${kind}`)].flatMap((folder) =>
    existsSync(join(dataDir, folder))
      ? readdirSync(join(dataDir, folder)).map((name) => `${folder}/${name}`)
      : [],
  );
}
