import { dashboardPage } from "../html/dashboard.ts";
import { packageFormats } from "../pkg/formats/formats.ts";
import { assets } from "./assets.ts";
import { htmlReply, type Reply } from "./reply.ts";
import type { Context } from "./router.ts";

const recentCount = 5;

/** `GET /` */
export function show({ app }: Context): Reply {
  const { clients, drivers, printers } = app.store;
  const recentPrinters = printers.recent(recentCount);
  const data = {
    recentPrinters,
    recentPackages: printers.recentWithDriver(recentCount),
    formats: packageFormats,
    counts: { clients: clients.count(), drivers: drivers.count(), printers: recentPrinters.length },
  };
  return htmlReply(dashboardPage({ assets }, data));
}
