import type { Identity } from "../domain/access.ts";
import { dayMs, utcDay } from "../domain/day.ts";
import { UserError } from "../domain/errors.ts";
import type { FormInput } from "../domain/fields.ts";
import { secretDigest } from "../domain/signed.ts";
import { isTokenText, makeTokenText, parseToken, type Token, tokenBeginning } from "../domain/token.ts";
import type { Store } from "../store/store.ts";
import type { TokenUse } from "../store/tokens.ts";
import { LastUsed } from "./last-used.ts";
import { Latest } from "./latest.ts";

interface Parts {
  readonly store: Store;
  /** UTC, milliseconds since 1970. */
  readonly clock: () => number;
  readonly random: (bytes: number) => Buffer;
  readonly log: (line: string) => void;
}

/** So many wrong ones may come from one client in a minute; who holds a right one is never held up. */
export const mostWrong = 30;
const wrongMs = 60_000;
/** So many clients are remembered. */
const mostClients = 2000;

const unknown = "This token is not known: it was revoked, or mistyped.";
const notAToken =
  "This is no token, which begins with “platen_”: passwords of people do not work here, and a token takes their place.";

/** Tokens of programs: made, checked, and remembered when they were used. */
export class Tokens {
  readonly #parts: Parts;
  readonly #uses: LastUsed<TokenUse>;
  readonly #wrong = new Latest<string, { readonly until: number; count: number }>(mostClients);

  constructor(parts: Parts) {
    this.#parts = parts;
    const { store, log } = parts;
    const save = (uses: ReadonlyMap<number, TokenUse>) => store.tokens.used([...uses.values()]);
    this.#uses = new LastUsed({ save, what: "when tokens were used", log });
  }

  /** By the clock of their ends. */
  now(): number {
    return this.#parts.clock();
  }

  /** All of them, also with what is not saved yet; the newest first. */
  list(): Token[] {
    return this.#parts.store.tokens.list().map((token) => {
      const use = this.#uses.all().get(token.id);
      return use === undefined ? token : { ...token, used_at: use.at, used_from: use.from };
    });
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

  /**
   * Who a token stands for.
   * @param client whose wrong ones are counted
   * @throws UserError "unauthorized" that says why it does not count, or "too-often"
   */
  identify(text: string, address: string, client: string): Identity {
    const token = isTokenText(text) ? this.#parts.store.tokens.find(secretDigest(text)) : undefined;
    const now = this.#parts.clock();
    if (token === undefined) throw this.#refusal(client, text.startsWith("platen_") ? unknown : notAToken);
    if (token.expires_at <= now) {
      const day = utcDay(token.expires_at);
      throw this.#refusal(
        client,
        `The token “${token.name}” has expired on ${day}: an administrator can make a new one.`,
      );
    }
    this.#uses.note(token.id, { id: token.id, at: now, from: address });
    const { id, name, scope, expires_at } = token;
    return { kind: "token", id, name, scope, expires_at };
  }

  #refusal(client: string, why: string): UserError {
    const now = this.#parts.clock();
    const known = this.#wrong.get(client);
    const counted = known !== undefined && known.until > now ? known : { until: now + wrongMs, count: 0 };
    counted.count++;
    this.#wrong.set(client, counted);
    if (counted.count <= mostWrong) return new UserError("unauthorized", why);
    return new UserError("too-often", "Too many wrong tokens came from here. Try again in a minute.");
  }

  /** Saves what is left. */
  close(): Promise<void> {
    return this.#uses.close();
  }
}
