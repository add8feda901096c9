import type { IncomingMessage } from "node:http";
import type { App } from "../../app.ts";
import { hostNetwork } from "../../domain/address.ts";
import type { AddedDriver } from "../../domain/drivers/driver.ts";
import { UserError } from "../../domain/errors.ts";
import { type Narrowing, parseNarrowing } from "../../domain/printers/search.ts";
import type { UploadResult } from "../../html/drivers/driver-upload.ts";
import { type DriverList, driverList, driversPage } from "../../html/drivers/drivers.ts";
import { narrowedPath } from "../../html/list-filter.ts";
import { paths } from "../../html/paths.ts";
import { renderFromPcScript } from "../../pkg/scripts/operator-scripts.ts";
import { addDriver } from "../../services/drivers/drivers.ts";
import { answerForm, type Result, tryUpload } from "../answer-form.ts";
import { bytesDownload, htmlReply, type Reply } from "../answers/reply.ts";
import { audited } from "../audited-downloads.ts";
import { packageReply } from "../deploy/packages.ts";
import { narrowingIn, narrowingOfPage, pageIn, withListUrl } from "../list-filter.ts";
import { pageContextOf } from "../page-context.ts";
import { receiveFile } from "../requests/multipart.ts";
import type { Context } from "../router.ts";
import { recheckSender, senderOf } from "../sender.ts";
import { serviceUrl } from "../service-url.ts";
import { undoMessage, withQuery } from "../undo-message.ts";

/** `GET /drivers`, filtered by words, client and state */
export async function index({ app, request, url }: Context): Promise<Reply> {
  const message = undoMessage(app, url);
  const narrowing = narrowingIn(url.searchParams, "drivers");
  const list = await driverListData(app, narrowing);
  const reply = htmlReply(driversPage(pageContextOf(request, message), list, app.config.uploadLimitBytes));
  return withListUrl(request, reply, narrowedPath(paths.drivers, narrowing));
}

/** The data of the driver list. Without `narrowing` it contains all drivers. */
export async function driverListData(app: App, narrowing = parseNarrowing({})): Promise<DriverList> {
  const { drivers, windowsDrivers } = await app.overview.read();
  const models = await app.models.find(drivers, narrowing.q);
  return { rows: drivers, windowsDrivers, clients: app.store.clients.names(), narrowing, models };
}

/** `POST /drivers/upload` */
export async function upload({ app, request }: Context): Promise<Reply> {
  const limitBytes = app.config.uploadLimitBytes;
  const uploaded = await tryUpload(() => receiveDriver(app, request));
  const listData = async (narrowing?: Narrowing) => ({
    ...(await driverListData(app, narrowing)),
    result: await uploadResult(app, uploaded),
    chosenClient: clientOfPage(request),
  });
  return answerForm(request, uploaded, {
    redirect: ({ driver, isNew, previousProblem, taken: text }) => {
      const path = paths.driverUploaded(driver.id, isNew ? "new" : (previousProblem ?? "known"));
      return text === undefined
        ? path
        : withQuery(path, "taken", app.results.remember({ kind: "taken", text }));
    },
    record: ({ driver: { id }, isNew, taken }) => ({
      path: paths.driver(id),
      line: `driver ${id} ${isNew ? "saved" : "exists already"}${taken === undefined ? "" : `. ${taken}`}`,
    }),
    page: async () => driversPage(pageContextOf(request), await listData(), limitBytes),
    fragment: async () => driverList(await listData(narrowingOfPage(request, "drivers"))),
  });
}

/** `GET /drivers/from-pc`: the script that uploads drivers of the PC on which it runs */
export function fromPc({ app, request }: Context): Reply {
  const bytes = renderFromPcScript(serviceUrl(request, app.config) ?? "");
  return bytesDownload(bytes, { type: "text/plain; charset=utf-8", fileName: "from-pc.ps1" });
}

/** The client whose page sent the request; undefined for other pages. */
function clientOfPage({ headers }: IncomingMessage): number | undefined {
  const [, id] = /^\/clients\/(\d{1,9})$/.exec(pageIn(headers["hx-current-url"])?.pathname ?? "") ?? [];
  return id === undefined ? undefined : Number(id);
}

async function uploadResult(
  { overview, store }: App,
  { error, value }: Result<AddedDriver>,
): Promise<UploadResult> {
  if (error !== undefined) return { problem: error.message };
  const { id } = value.driver;
  if (!store.drivers.has(id)) return { problem: "This driver was deleted meanwhile." };
  const { driver: withState } = await overview.driver(id);
  return { ...value, withState, older: overview.olderThan(withState) };
}

async function receiveDriver(app: App, request: IncomingMessage): Promise<AddedDriver> {
  const limitBytes = app.config.uploadLimitBytes;
  const limit = { limitBytes, tooLarge: () => driverTooLarge(limitBytes) };
  const { fileName, incoming } = await receiveFile(app.store, request, limit);
  const network = hostNetwork(senderOf(request).address);
  return addDriver(app, incoming, fileName, { network, recheckSender: () => recheckSender(request) });
}

function driverTooLarge(limit: number): UserError {
  const megabytes = Math.round(limit / 1024 / 1024);
  return new UserError(
    "too-large",
    `This ZIP is larger than ${megabytes} MB, the limit of this service (UPLOAD_LIMIT_MB).`,
  );
}

/** `GET /drivers/{id}/archive`: the ZIP as uploaded */
export async function archive(context: Context<"id">): Promise<Reply> {
  const { app, id } = context;
  const driver = app.store.drivers.get(id);
  const reply = packageReply(await app.packages.drivers.archiveOf(driver));
  return audited(context, { what: "archive", owner: { kind: "driver", id } }, reply);
}

/** `GET /drivers/{id}/files`: the driver's files as packages contain them */
export async function files(context: Context<"id">): Promise<Reply> {
  const { app, id } = context;
  const driver = app.store.drivers.get(id);
  const reply = packageReply(await app.packages.drivers.filesOf(driver));
  return audited(context, { what: "files", owner: { kind: "driver", id } }, reply);
}
