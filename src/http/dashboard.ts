import { dashboardPage } from "../html/dashboard.ts";
import { packageFormats } from "../pkg/formats/formats.ts";
import { assets } from "./assets.ts";
import { htmlReply, type Reply } from "./reply.ts";
import type { Context } from "./router.ts";

const recentCount = 5;

/** `GET /` */
export async function show({ app }: Context): Promise<Reply> {
  const { printers, drivers } = await app.overview.read();
  const newest = [...printers].sort((a, b) => b.printer.id - a.printer.id);
  const recentPrinters = newest.slice(0, recentCount);
  const data = {
    recentPrinters,
    recentPackages: newest.filter(({ driver }) => driver !== undefined).slice(0, recentCount),
    formats: packageFormats,
    counts: { clients: app.store.clients.count(), drivers: drivers.length, printers: printers.length },
  };
  return htmlReply(dashboardPage({ assets }, data));
}
