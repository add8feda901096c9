import type { Identity, Scope } from "../../domain/access/access.ts";
import {
  endOfLink,
  type LinkBringer,
  type LinkMaker,
  type LinkOwner,
  type LinkTarget,
  type LinkTerms,
  makeLink,
  readLink,
} from "../../domain/access/link.ts";
import { UserError } from "../../domain/errors.ts";
import { keyFor } from "../../domain/secrets.ts";
import { dayMs, utcDay } from "../../domain/text.ts";
import type { Store } from "../../store/store.ts";

/** An address that a link was made to. */
interface LinkedAddress {
  /** The path with its query and the link. */
  readonly address: string;
  /** UTC, milliseconds since 1970. */
  readonly expires_at: number;
}

/** What a link is asked for, or used for. */
interface Wanted {
  readonly owner: LinkOwner;
  /** The path with its query, without a link. */
  readonly address: string;
  /** Whether it leads to a driver's files, which must still be those of the same archive. */
  readonly isFiles?: boolean;
}

/** For whom a link is made, and how long it is to hold. */
interface Making {
  readonly days: number;
  /** It ends with their account or token, and no later than what they came with. */
  readonly by: Identity;
  /** The record whose script brings it. */
  readonly bringer?: LinkBringer | undefined;
}

/** Makes and checks addresses that machines can use without signing in. */
export class Links {
  readonly #store: Store;
  readonly #clock: () => number;
  readonly #key: Uint8Array;

  constructor(store: Store, clock: () => number) {
    this.#store = store;
    this.#clock = clock;
    this.#key = keyFor("links", store.secret);
  }

  /** An address with a link that holds until the end of a day. */
  make(wanted: Wanted, { days, by, bringer }: Making): LinkedAddress {
    const { address } = wanted;
    const endDay = Math.min(endOfLink(this.#clock(), days), lastDayOf(by));
    const terms = { endDay, maker: makerOf(by), bringer };
    const link = makeLink(this.#key, this.#targetOf(wanted, terms), terms);
    return {
      address: `${address}${address.includes("?") ? "&" : "?"}link=${link}`,
      expires_at: endDay * dayMs,
    };
  }

  /** Who comes with a link. @throws UserError "forbidden" that says why it does not hold */
  identify(wanted: Wanted, text: string): Identity {
    const terms = readLink(this.#key, text, (said) => this.#targetOf(wanted, said));
    if (terms === undefined) {
      throw new UserError(
        "forbidden",
        "This link does not hold: it was changed on its way, or all links of its kind were made invalid. Ask for a new one, or fetch the script anew.",
      );
    }
    const { endDay, maker } = terms;
    const now = this.#clock();
    const day = utcDay(endDay * dayMs);
    if (endDay * dayMs <= now) throw ended(` on ${day}`);
    const by = maker && this.#makerNow(maker, now);
    if (maker !== undefined && by === undefined) throw ended("");
    const made = by === undefined ? "" : `, made by ${by.name}`;
    const name = `${wanted.owner.kind} ${wanted.owner.id}${made}, until ${day}`;
    return { kind: "link", name, endDay, maker, scope: by?.scope };
  }

  /** An account or a token, by its name in the audit log; undefined of one that lets nobody in any more. */
  #makerNow(
    { kind, id }: LinkMaker,
    now: number,
  ): { readonly name: string; readonly scope?: Scope } | undefined {
    const account = kind === "account" ? this.#store.accounts.find(id) : undefined;
    if (account?.isDisabled === false) return { name: account.name };
    const token = kind === "token" ? this.#store.tokens.findById(id) : undefined;
    if (token === undefined || token.expires_at <= now) return undefined;
    return { name: `token ${token.name}`, scope: token.scope };
  }

  #targetOf({ owner, address, isFiles = false }: Wanted, { bringer }: LinkTerms): LinkTarget {
    const digest = isFiles ? (this.#store.drivers.findSummary(owner.id)?.sha256 ?? "") : "";
    const marks = [owner, ...(bringer === undefined ? [] : [bringer])].map((record) => this.#markOf(record));
    return { owner, address, mark: JSON.stringify([this.#store.linkGenerations.epoch(), digest, ...marks]) };
  }

  /** How often its links were made invalid, and when it was made: another record may come to have its number. */
  #markOf(owner: LinkOwner): readonly unknown[] {
    return [this.#store.linkGenerations.of(owner), this.#madeAt(owner) ?? "gone"];
  }

  #madeAt({ kind, id }: LinkOwner): number | undefined {
    const { clients, drivers, printers } = this.#store;
    if (kind === "printer") return printers.find(id)?.printer.created_at;
    return kind === "client" ? clients.find(id)?.created_at : drivers.findSummary(id)?.uploaded_at;
  }
}

/** Undefined where no record of ours says whether they still may. */
function makerOf(identity: Identity): LinkMaker | undefined {
  if (identity.kind === "token") return { kind: "token", id: identity.id };
  if (identity.kind === "person" && identity.account !== undefined)
    return { kind: "account", id: identity.account };
  return identity.kind === "link" ? identity.maker : undefined;
}

/** What is made by who came with a link ends no later than that. */
function lastDayOf(identity: Identity): number {
  if (identity.kind === "link") return identity.endDay;
  return identity.kind === "token" ? Math.ceil(identity.expires_at / dayMs) : Number.POSITIVE_INFINITY;
}

function ended(when: string): UserError {
  return new UserError(
    "forbidden",
    `This link ended${when}. Ask for a new one; a script that came with it has to be fetched anew.`,
  );
}
