import { siteOf } from "../domain/site.ts";
import type { Store } from "../store/store.ts";
import { BoundedLines } from "./bounded-lines.ts";

/** What becomes of attempts to sign in, in the service's log and in the audit log. */
export class SignInNotes {
  readonly #store: Pick<Store, "accounts" | "audit">;
  readonly #log: (line: string) => void;
  /** Of what was refused. */
  readonly #lines: BoundedLines;

  constructor(store: Pick<Store, "accounts" | "audit">, log: (line: string) => void) {
    this.#store = store;
    this.#log = log;
    this.#lines = new BoundedLines(log);
  }

  /**
   * Puts what happened into both logs, and is the one place that does.
   * A name that nobody has may be a password that was typed into the wrong field: it is not repeated.
   */
  note(event: keyof typeof inWords, name: string, from: string, what?: string): void {
    const { accounts, audit } = this.#store;
    const known = accounts.findByName(name)?.account.name;
    const who = known === undefined ? "somebody under a name that no account has" : `“${known}”`;
    const why = what === undefined ? "" : ` (${what})`;
    const line = `sign-in: ${inWords[event]}: ${who} from ${from}${why}`;
    // No number of refusals leaves out who is in.
    if (event === "sign-in-failed") this.#lines.say(line, siteOf(from));
    else this.#log(line);
    audit.note(event, {
      ...(what !== undefined && { what }),
      actor: { who: known ?? "an unknown name", from },
    });
  }
}

/** What happens, under the names that the audit log has for it. */
const inWords = { "signed-in": "let in", "sign-in-failed": "refused", "signed-out": "signed out" } as const;
