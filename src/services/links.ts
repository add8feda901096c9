import type { Identity } from "../domain/access.ts";
import { UserError } from "../domain/errors.ts";
import {
  endOfLink,
  isSigned,
  type LinkOwner,
  type LinkTarget,
  linkKey,
  makeLink,
  readLink,
} from "../domain/link.ts";
import type { Store } from "../store/store.ts";

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

/** Makes and checks addresses that machines can use without signing in. */
export class Links {
  readonly #store: Store;
  readonly #clock: () => number;
  readonly #key: Uint8Array;

  constructor(store: Store, clock: () => number) {
    this.#store = store;
    this.#clock = clock;
    this.#key = linkKey(store.secret);
  }

  /** An address with a link that holds until the end of a day. */
  make(wanted: Wanted, days: number): LinkedAddress {
    const { address } = wanted;
    const expires = endOfLink(this.#clock() / 1000, days);
    const link = makeLink(this.#key, this.#targetOf(wanted), expires);
    return {
      address: `${address}${address.includes("?") ? "&" : "?"}link=${link}`,
      expires_at: expires * 1000,
    };
  }

  /** Who comes with a link. @throws UserError "forbidden" that says why it does not hold */
  identify(wanted: Wanted, text: string): Identity {
    const link = readLink(text);
    if (link === undefined || !isSigned(this.#key, this.#targetOf(wanted), link)) {
      throw new UserError(
        "forbidden",
        "This link does not hold: it was changed on its way, or all links of its kind were made invalid. Ask for a new one, or fetch the script anew.",
      );
    }
    const day = new Date(link.expires * 1000).toISOString().slice(0, 10);
    if (link.expires <= this.#clock() / 1000) {
      throw new UserError(
        "forbidden",
        `This link ended on ${day}. Ask for a new one; a script that came with it has to be fetched anew.`,
      );
    }
    return { kind: "link", name: `${wanted.owner.kind} ${wanted.owner.id}, until ${day}` };
  }

  /** Makes all links to a record invalid that there are. */
  revoke(owner: LinkOwner): Promise<void> {
    return this.#store.linkGenerations.raise(owner);
  }

  #targetOf({ owner, address, isFiles = false }: Wanted): LinkTarget {
    const generation = this.#store.linkGenerations.of(owner);
    const digest = isFiles ? (this.#store.drivers.find(owner.id)?.sha256 ?? "") : "";
    return { owner, address, mark: `${generation} ${digest}`.trim() };
  }
}
