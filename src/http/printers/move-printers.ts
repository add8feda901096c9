import type { IncomingMessage } from "node:http";
import type { App } from "../../app.ts";
import { isForPrinters } from "../../domain/drivers/driver.ts";
import { UserError } from "../../domain/errors.ts";
import type { FormInput } from "../../domain/fields.ts";
import { worseCounts } from "../../domain/printers/change-effects.ts";
import { movedMessage } from "../../html/drivers/driver-messages.ts";
import type { FormState } from "../../html/form.ts";
import type { Html } from "../../html/html.ts";
import { notify } from "../../html/layout.ts";
import { paths } from "../../html/paths.ts";
import { movePage } from "../../html/printers/move-printers.ts";
import { changesOf, movePrinters, planMove } from "../../services/printers/move-printers.ts";
import { answerForm, sentForm, trySave } from "../answer-form.ts";
import { htmlReply, type Reply } from "../answers/reply.ts";
import { pageContextOf } from "../page-context.ts";
import { readForm } from "../requests/forms.ts";
import { type Context, parseId } from "../router.ts";
import { withDetails } from "../undo-message.ts";

/** `GET /drivers/{id}/move?to=` another driver: previews the move of the printers */
export async function show({ app, request, id, url }: Context<"id">): Promise<Reply> {
  const { driver } = await app.overview.driver(id);
  const requested = url.searchParams.get("to");
  const to = requested ? parseId(requested) : driver.newer?.id;
  return htmlReply(await movePageOf(app, request, id, to, sentForm({})));
}

async function movePageOf(
  app: App,
  request: IncomingMessage,
  id: number,
  to: number | undefined,
  form: FormState,
): Promise<Html> {
  const from = app.store.drivers.get(id);
  const drivers = await app.overview.offeredDrivers();
  const plan = to === undefined ? undefined : planMove(app.store, id, to);
  const data = {
    from,
    // Printers must keep their protocol.
    drivers: drivers.filter(
      (one) => one.id !== id && isForPrinters(one) && (one.origin === "ipp") === (from.origin === "ipp"),
    ),
    printerCount: app.store.printers.idsOfDriver(id).length,
    plan,
    effects: plan && (await app.overview.effectsOf(changesOf(plan))),
    form,
  };
  return movePage(pageContextOf(request), data);
}

/** `POST /drivers/{id}/move`: moves all printers of the driver, or none */
export async function move({ app, request, id }: Context<"id">): Promise<Reply> {
  const form = await readForm(request);
  app.store.drivers.get(id);
  const to = targetIn(app, form);
  const wanted = { fromId: id, toId: to, digest: form.preview ?? "" };
  const moved = await trySave(async () => {
    const worse = worseCounts(await app.overview.effectsOf(changesOf(planMove(app.store, id, to))));
    const change = movePrinters(app.store, wanted, (pair) => form[`model_${pair}`]);
    return { ...(await app.undo.keep(change)), worse };
  });
  // After a conflict, the form shows a new plan without the models that were typed for the old one.
  const refused = (error: UserError) =>
    movePageOf(app, request, id, to, sentForm(error.code === "conflict" ? {} : form, error));
  return answerForm(request, moved, {
    redirect: (result) =>
      paths.driverMoved(to, app.results.remember({ kind: "moved", driverId: to, ...result })),
    page: refused,
    fragment: ({ error, value }) => {
      if (error) return refused(error);
      const message = movedMessage(value.count, app.store.drivers.get(to), value.worse);
      return notify(withDetails(app, message, value));
    },
  });
}

/** @throws UserError "invalid" */
function targetIn(app: App, form: FormInput): number {
  const to = Number(form.to);
  if (Number.isSafeInteger(to) && app.store.drivers.has(to)) return to;
  const message = "Choose the driver that the printers move to.";
  throw new UserError("invalid", message, { to: message });
}
