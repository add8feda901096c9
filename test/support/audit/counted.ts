import type { TestContext } from "node:test";
import { startApp, type TestApp } from "../app.ts";
import { until } from "../until.ts";

/** The counted downloads of a printer, each as `what who count`. */
export async function downloadCounts({ app }: Pick<TestApp, "app">, printer: number): Promise<string[]> {
  await app.deployments.flush();
  return app.deployments
    .ofPrinter(printer)
    .map(({ what, who, count }) => `${what} ${who} ${count}`)
    .sort();
}

/** Downloads a path completely, and waits until the download is counted. */
export async function download(
  app: TestApp,
  path: string,
  headers: Record<string, string> = {},
): Promise<Response> {
  const sum = () =>
    app.app.store.printers
      .list()
      .flatMap(({ printer }) => app.app.deployments.ofPrinter(printer.id))
      .reduce((total, { count }) => total + count, 0);
  const before = sum();
  const answer = await app.fetch(path, { headers });
  await answer.arrayBuffer();
  await until(() => sum() > before);
  return answer;
}

/** Records a complete download by a script with these printers. */
export function recordDownload(
  { app }: Pick<TestApp, "app">,
  printers: readonly { readonly id: number; readonly revision: string }[],
  what: string,
): void {
  const pairs = printers.map(({ id, revision }) => [id, revision] as const);
  app.store.audit.record("downloaded", { what, by: "script", digest: "", printers: pairs });
}

export async function startWithPrinter(t: TestContext) {
  const app = await startApp(t);
  await app.post("/clients", { name: "Alpha" });
  const printer = await app.addPrinter({ client_id: "1" });
  return { app, printer };
}
