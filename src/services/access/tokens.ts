import type { Identity } from "../../domain/access/access.ts";
import { makeTokenText, parseToken, tokenBeginning, tokenPrefix } from "../../domain/access/token.ts";
import { UserError } from "../../domain/errors.ts";
import type { FormInput } from "../../domain/fields.ts";
import { secretDigest } from "../../domain/secrets.ts";
import { dayMs, utcDay } from "../../domain/text.ts";
import type { Store } from "../../store/store.ts";
import { LastUsed } from "./sessions.ts";

/** What services that sign in people and programs need. */
export interface AccessParts {
  readonly store: Store;
  /** UTC, milliseconds since 1970. */
  readonly clock: () => number;
  readonly random: (bytes: number) => Buffer;
  readonly log: (line: string) => void;
}

const unknownTokenMessage = "Platen does not know this token. It may have been revoked or mistyped.";
const notATokenMessage = `This is not a token. Tokens begin with “${tokenPrefix}”. Send one as “Authorization: Bearer ${tokenPrefix}…” or as the password. Account passwords do not work here.`;

/** Makes and checks the tokens of programs, and records when they were used. */
export class Tokens {
  readonly #options: AccessParts;
  readonly #lastUsed: LastUsed;

  constructor(options: AccessParts) {
    this.#options = options;
    this.#lastUsed = new LastUsed(options.log);
  }

  /** @returns the token's text, of which only the beginning and a digest are saved @throws UserError "invalid" */
  async add(form: FormInput, madeBy: string): Promise<{ readonly id: number; readonly text: string }> {
    const { name, scope, days } = parseToken(form);
    const { store, clock, random } = this.#options;
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

  /** @param address of the sender @throws UserError "unauthorized" that says why the token is not valid */
  identify(text: string, address: string): Identity {
    const { store, clock } = this.#options;
    const token = store.tokens.find(secretDigest(text));
    const refusal = text.startsWith(tokenPrefix) ? unknownTokenMessage : notATokenMessage;
    if (token === undefined) throw new UserError("unauthorized", refusal);
    const { id, name, scope, expires_at, used_at = 0 } = token;
    const now = clock();
    if (expires_at <= now)
      throw new UserError(
        "unauthorized",
        `The token “${name}” expired on ${utcDay(expires_at)}. Ask an administrator for a new token.`,
      );
    this.#lastUsed.record(id, used_at, now, () => store.tokens.recordUse(id, now, address));
    return { kind: "token", id, name, scope, expires_at };
  }
}
