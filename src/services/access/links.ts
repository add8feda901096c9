import type { Identity, Scope } from "../../domain/access/access.ts";
import {
  type LinkMaker,
  type LinkOwner,
  type LinkSource,
  type LinkTarget,
  type LinkTerms,
  linkEndDay,
  makeLink,
  readLink,
} from "../../domain/access/link.ts";
import { UserError } from "../../domain/errors.ts";
import { keyFor } from "../../domain/secrets.ts";
import { dayMs, utcDay } from "../../domain/text.ts";
import type { Store } from "../../store/store.ts";

interface MadeLink {
  /** The path with its query and the link. */
  readonly address: string;
  /** UTC, milliseconds since 1970. */
  readonly expires_at: number;
}

/** The target of a new link, or of a request that came with a link. */
interface LinkRequest {
  readonly owner: LinkOwner;
  /** The path with its query, without a link. */
  readonly address: string;
  /** Whether the link is for a driver's files. It then ends when the driver's archive changes. */
  readonly isFiles?: boolean;
}

interface LinkOptions {
  /** How long the link is valid. */
  readonly days: number;
  /** Who makes the link. It ends with their account or token, and no later than a link that they use themselves. */
  readonly by: Identity;
  /** The record whose script contains the link. */
  readonly source?: LinkSource | undefined;
}

/** Makes and checks links: addresses that machines can use without signing in. */
export class Links {
  readonly #store: Store;
  readonly #clock: () => number;
  readonly #key: Uint8Array;

  constructor(store: Store, clock: () => number) {
    this.#store = store;
    this.#clock = clock;
    this.#key = keyFor("links", store.secret);
  }

  make(wanted: LinkRequest, { days, by, source }: LinkOptions): MadeLink {
    const { address } = wanted;
    const endDay = Math.min(linkEndDay(this.#clock(), days), maxEndDayOf(by));
    const terms = { endDay, maker: makerOf(by), source };
    const link = makeLink(this.#key, this.#targetOf(wanted, terms), terms);
    return {
      address: `${address}${address.includes("?") ? "&" : "?"}link=${link}`,
      expires_at: endDay * dayMs,
    };
  }

  /** @param text the value of the `link` parameter @throws UserError "forbidden" that says why the link is not valid */
  identify(wanted: LinkRequest, text: string): Identity {
    const terms = readLink(this.#key, text, (link) => this.#targetOf(wanted, link));
    if (terms === undefined) {
      const message =
        "This link is not valid. It may have been revoked. Ask for a new link, or download the script again.";
      throw new UserError("forbidden", message);
    }
    const { endDay, maker } = terms;
    const now = this.#clock();
    const day = utcDay(endDay * dayMs);
    if (endDay * dayMs <= now) throw endedError(` on ${day}`);
    const by = maker && this.#findMaker(maker, now);
    if (maker !== undefined && by === undefined) throw endedError("");
    const made = by === undefined ? "" : `, made by ${by.name}`;
    const name = `${wanted.owner.kind} ${wanted.owner.id}${made}, until ${day}`;
    return { kind: "link", name, endDay, maker, scope: by?.scope };
  }

  /** The account or token under its name in the audit log; undefined if it is gone, disabled or expired. */
  #findMaker(
    { kind, id }: LinkMaker,
    now: number,
  ): { readonly name: string; readonly scope?: Scope } | undefined {
    const account = kind === "account" ? this.#store.accounts.find(id) : undefined;
    if (account?.isDisabled === false) return { name: account.name };
    const token = kind === "token" ? this.#store.tokens.findById(id) : undefined;
    if (token === undefined || token.expires_at <= now) return undefined;
    return { name: `token ${token.name}`, scope: token.scope };
  }

  #targetOf({ owner, address, isFiles = false }: LinkRequest, { source }: LinkTerms): LinkTarget {
    const digest = isFiles ? (this.#store.drivers.findSummary(owner.id)?.sha256 ?? "") : "";
    const records = [owner, ...(source === undefined ? [] : [source])];
    const versions = records.map((record) => this.#versionOf(record));
    const version = JSON.stringify([this.#store.linkGenerations.epoch(), digest, ...versions]);
    return { owner, address, version };
  }

  /** Changes when a user ends the record's links, and if another record later gets the same id. */
  #versionOf(owner: LinkOwner): readonly unknown[] {
    return [this.#store.linkGenerations.of(owner), this.#createdAt(owner) ?? "gone"];
  }

  #createdAt({ kind, id }: LinkOwner): number | undefined {
    const { clients, drivers, printers } = this.#store;
    if (kind === "printer") return printers.find(id)?.printer.created_at;
    return kind === "client" ? clients.find(id)?.created_at : drivers.findSummary(id)?.uploaded_at;
  }
}

/** Undefined for a person without an account, and if sign-in is off. */
function makerOf(identity: Identity): LinkMaker | undefined {
  if (identity.kind === "token") return { kind: "token", id: identity.id };
  if (identity.kind === "person" && identity.account !== undefined)
    return { kind: "account", id: identity.account };
  return identity.kind === "link" ? identity.maker : undefined;
}

/** A link made with a link or token ends no later than that link or token. */
function maxEndDayOf(identity: Identity): number {
  if (identity.kind === "link") return identity.endDay;
  return identity.kind === "token" ? Math.ceil(identity.expires_at / dayMs) : Number.POSITIVE_INFINITY;
}

function endedError(when: string): UserError {
  const message = `This link expired${when}. Ask for a new link. If it is in a script, download the script again.`;
  return new UserError("forbidden", message);
}
