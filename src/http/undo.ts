import type { App } from "../app.ts";
import { NotRestored, type RestoredRecord } from "../domain/deletion.ts";
import { html } from "../html/html.ts";
import { type Message, notify } from "../html/layout.ts";
import { deletedMessage } from "../html/messages.ts";
import { paths } from "../html/paths.ts";
import { notRestoredMessage, restoredMessage, restoredPath } from "../html/undo.ts";
import { answerForm, type Outcome } from "./answer-form.ts";
import { dashboardOf } from "./dashboard.ts";
import type { Reply } from "./reply.ts";
import type { Context } from "./router.ts";

/** `POST /deletions/{id}/undo` */
export async function restore({ app, request, id }: Context<"id">): Promise<Reply> {
  const outcome = await undoing(() => app.undo.restore(id));
  return answerForm(request, outcome, {
    redirect: (record) => `${restoredPath(record)}?restored=${id}`,
    page: (error) => dashboardOf(app, messageOf({ error })),
    fragment: (undone) => notify(messageOf(undone)),
  });
}

/** `DELETE /deletions/{id}`, and `POST /deletions/{id}/delete`: for good, before its time */
export async function end({ app, request, id }: Context<"id">): Promise<Reply> {
  const name = app.undo.find(id)?.name;
  const outcome = await undoing(() => app.undo.end(id));
  const text = html`Deleted for good: <bdi>${name}</bdi>`;
  return answerForm(request, outcome, {
    redirect: () => `${paths.dashboard}?ended=1`,
    page: (error) => dashboardOf(app, messageOf({ error })),
    fragment: ({ error }) => notify(error ? messageOf({ error }) : { tone: "good", text }),
  });
}

async function undoing<T>(change: () => Promise<T>): Promise<Outcome<T>> {
  try {
    return { value: await change() };
  } catch (error) {
    if (error instanceof NotRestored) return { error };
    throw error;
  }
}

function messageOf({ error, value }: Outcome<RestoredRecord>): Message | undefined {
  if (error instanceof NotRestored) return notRestoredMessage(error);
  return value && restoredMessage(value);
}

/** Where a browser without scripts goes on to after a deletion, to be told what became of it. */
export function deletedPath(list: string, deletion: number | undefined): string {
  return `${list}${list.includes("?") ? "&" : "?"}undo=${deletion ?? "none"}`;
}

/** What a page says of a deletion that its address names, for as long as there is something to say. */
export function undoMessage(app: App, { searchParams }: URL): Message | undefined {
  const record = app.undo.restored(Number(searchParams.get("restored")));
  if (record !== undefined) return restoredMessage(record);
  const undo = searchParams.get("undo");
  if (undo === "none") return deletedMessage("", undefined);
  const deletion = app.undo.find(Number(undo));
  return deletion && deletedMessage(deletion.name, deletion.id);
}
