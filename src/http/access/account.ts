import type { IncomingMessage } from "node:http";
import type { App } from "../../app.ts";
import { accountPage } from "../../html/access/account.ts";
import { emptyForm, type FormState } from "../../html/form.ts";
import type { Html } from "../../html/html.ts";
import type { Message } from "../../html/layout.ts";
import { paths } from "../../html/paths.ts";
import { sentForm, trySave } from "../answer-form.ts";
import { refusedPage } from "../answers/errors.ts";
import { htmlReply, type Reply, redirect } from "../answers/reply.ts";
import { doneMessage, pageContextOf } from "../page-context.ts";
import { readForm } from "../requests/forms.ts";
import type { Context } from "../router.ts";
import { senderOf } from "../sender.ts";
import { sessionCookie } from "./cookies.ts";

const texts = {
  password: "Password changed. Your other browsers are signed out.",
  ended: "The other browser is signed out.",
  others: "All other browsers are signed out.",
};

/** `GET /account` */
export function show({ app, request, url }: Context): Reply {
  return htmlReply(pageOf(app, request, emptyForm, doneMessage(url, texts)));
}

function pageOf(app: App, request: IncomingMessage, form: FormState, message?: Message): Html {
  const signedIn = senderOf(request).signedIn;
  const pageContext = pageContextOf(request, message);
  if (signedIn === undefined) return accountPage(pageContext, undefined);
  const { account, session } = signedIn;
  const sessions = app.store.sessions.ofAccount(account.id);
  return accountPage(pageContext, { account, sessions, current: session.id, form });
}

/** `POST /account/password` */
export async function changePassword({ app, request }: Context): Promise<Reply> {
  const signedIn = senderOf(request).signedIn;
  if (signedIn === undefined || signedIn.account.role === "admin" || signedIn.account.issuer !== "")
    return redirect(paths.account);
  const form = await readForm(request);
  const saved = await trySave(() => app.signIn.changePassword(signedIn, form));
  if (saved.error !== undefined)
    return refusedPage(pageOf(app, request, sentForm({}, saved.error)), saved.error);
  return redirect(`${paths.account}?done=password`, [sessionCookie(request, app.config, saved.value)]);
}

/** `POST /account/sessions/{id}/end` */
export async function endSession({ app, request, id }: Context<"id">): Promise<Reply> {
  const signedIn = senderOf(request).signedIn;
  if (signedIn !== undefined) await app.store.sessions.endElsewhere(signedIn.account.id, "id = ?", id);
  return redirect(`${paths.account}?done=ended`);
}

/** `POST /account/sessions/end` */
export async function endOthers({ app, request }: Context): Promise<Reply> {
  const signedIn = senderOf(request).signedIn;
  if (signedIn !== undefined)
    await app.store.sessions.endElsewhere(signedIn.account.id, "id <> ?", signedIn.session.id);
  return redirect(`${paths.account}?done=others`);
}
