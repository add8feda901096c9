import type { Identity } from "../../domain/access/access.ts";
import { makeTokenText, parseToken, tokenBeginning, tokenPrefix } from "../../domain/access/token.ts";
import { UserError } from "../../domain/errors.ts";
import type { FormInput } from "../../domain/fields.ts";
import { secretDigest } from "../../domain/secrets.ts";
import { dayMs, utcDay } from "../../domain/text.ts";
import type { Store } from "../../store/store.ts";
import { LastUsed } from "./sessions.ts";

interface Parts {
  readonly store: Store;
  /** UTC, milliseconds since 1970. */
  readonly clock: () => number;
  readonly random: (bytes: number) => Buffer;
  readonly log: (line: string) => void;
}

const unknown = "This token is not known: it was revoked, or mistyped.";
const notAToken = `This is no token, which begins with “${tokenPrefix}”: send one as “Authorization: Bearer ${tokenPrefix}…”, or as the password. Passwords of people do not work here.`;

/** Tokens of programs: made, checked, and remembered when they were used. */
export class Tokens {
  readonly #parts: Parts;
  readonly #uses: LastUsed;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#uses = new LastUsed("when tokens were used", parts.log);
  }

  /** @returns its text, which nobody can be told again @throws UserError "invalid" */
  async add(form: FormInput, madeBy: string): Promise<{ readonly id: number; readonly text: string }> {
    const { name, scope, days } = parseToken(form);
    const { store, clock, random } = this.#parts;
    const text = makeTokenText(random);
    const id = await store.tokens.add({
      name,
      scope,
      sha256: secretDigest(text),
      beginning: tokenBeginning(text),
      made_by: madeBy,
      expires_at: clock() + days * dayMs,
    });
    return { id, text };
  }

  /** Who a token stands for. @throws UserError "unauthorized" that says why it does not count */
  identify(text: string, address: string): Identity {
    const { store, clock } = this.#parts;
    const token = store.tokens.find(secretDigest(text));
    if (token === undefined)
      throw new UserError("unauthorized", text.startsWith(tokenPrefix) ? unknown : notAToken);
    const { id, name, scope, expires_at, used_at = 0 } = token;
    const now = clock();
    if (expires_at <= now)
      throw new UserError(
        "unauthorized",
        `The token “${name}” has expired on ${utcDay(expires_at)}: an administrator can make a new one.`,
      );
    this.#uses.note(id, used_at, now, () => store.tokens.used(id, now, address));
    return { kind: "token", id, name, scope, expires_at };
  }
}
