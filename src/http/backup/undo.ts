import { NotRestored, type RestoredRecord } from "../../domain/deletion.ts";
import { endedMessage, notRestoredMessage, restoredMessage, restoredPath } from "../../html/backup/undo.ts";
import { type Message, notify } from "../../html/layout.ts";
import { paths } from "../../html/paths.ts";
import { answerForm, type Result, tryUndo } from "../answer-form.ts";
import type { Reply } from "../answers/reply.ts";
import { dashboardOf } from "../dashboard.ts";
import { narrowedListPath } from "../list-filter.ts";
import { pageContextOf } from "../page-context.ts";
import type { Context } from "../router.ts";
import { withQuery } from "../undo-message.ts";

/** `POST /deletions/{id}/undo`: redirects to the filtered list that the form is on, or to the restored record */
export async function restore({ app, request, id }: Context<"id">): Promise<Reply> {
  const result = await tryUndo(() => app.undo.restore(id));
  return answerForm(request, result, {
    redirect: (record) =>
      withQuery(narrowedListPath(request) ?? restoredPath(record), "restored", String(id)),
    page: (error) => dashboardOf(app, pageContextOf(request, undoMessage({ error }))),
    fragment: (restored) => notify(undoMessage(restored)),
  });
}

/** `DELETE /deletions/{id}`, and `POST /deletions/{id}/delete`: makes the deletion final at once */
export async function end({ app, request, id }: Context<"id">): Promise<Reply> {
  const name = app.undo.find(id)?.name ?? "";
  const result = await tryUndo(() => app.undo.makeFinal(id));
  return answerForm(request, result, {
    redirect: () => withQuery(paths.dashboard, "ended", app.results.remember({ kind: "ended", name })),
    page: (error) => dashboardOf(app, pageContextOf(request, undoMessage({ error }))),
    fragment: ({ error }) => notify(error ? undoMessage({ error }) : endedMessage(name)),
  });
}

function undoMessage({ error, value }: Result<RestoredRecord>): Message | undefined {
  if (error instanceof NotRestored) return notRestoredMessage(error);
  return value && restoredMessage(value);
}
