import { NotRestored, type RestoredRecord } from "../../domain/deletion.ts";
import { endedMessage, notRestoredMessage, restoredMessage, restoredPath } from "../../html/backup/undo.ts";
import { type Message, notify } from "../../html/layout.ts";
import { paths } from "../../html/paths.ts";
import { answerForm, type Result, undoing } from "../answer-form.ts";
import type { Reply } from "../answers/reply.ts";
import { dashboardOf } from "../dashboard.ts";
import { narrowedListBehind } from "../list-filter.ts";
import { frameOf } from "../page-context.ts";
import type { Context } from "../router.ts";
import { withQuery } from "../undo-message.ts";

/** `POST /deletions/{id}/undo`: back to the narrowed list that it was asked for on, else to what came back */
export async function restore({ app, request, id }: Context<"id">): Promise<Reply> {
  const result = await undoing(() => app.undo.restore(id));
  return answerForm(request, result, {
    redirect: (record) =>
      withQuery(narrowedListBehind(request) ?? restoredPath(record), "restored", String(id)),
    page: (error) => dashboardOf(app, frameOf(request, messageOf({ error }))),
    fragment: (undone) => notify(messageOf(undone)),
  });
}

/** `DELETE /deletions/{id}`, and `POST /deletions/{id}/delete`: for good, before its time */
export async function end({ app, request, id }: Context<"id">): Promise<Reply> {
  const name = app.undo.find(id)?.name ?? "";
  const result = await undoing(() => app.undo.end(id));
  return answerForm(request, result, {
    redirect: () => withQuery(paths.dashboard, "ended", app.outcomes.remember({ kind: "ended", name })),
    page: (error) => dashboardOf(app, frameOf(request, messageOf({ error }))),
    fragment: ({ error }) => notify(error ? messageOf({ error }) : endedMessage(name)),
  });
}

function messageOf({ error, value }: Result<RestoredRecord>): Message | undefined {
  if (error instanceof NotRestored) return notRestoredMessage(error);
  return value && restoredMessage(value);
}
