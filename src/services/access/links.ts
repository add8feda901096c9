import { hasRole, type Identity, mayUse, nameOf, type Scope } from "../../domain/access/access.ts";
import type { Account } from "../../domain/access/account.ts";
import {
  type Link,
  type LinkMaker,
  type LinkOwner,
  type ListedLink,
  linkEndDay,
  ownerIn,
  readOldLink,
  signLink,
  termsOf,
} from "../../domain/access/link.ts";
import { getOrAdd } from "../../domain/collections.ts";
import { UserError } from "../../domain/errors.ts";
import { isSameText, keyFor } from "../../domain/secrets.ts";
import { dayMs, utcDay } from "../../domain/text.ts";
import type { Store } from "../../store/store.ts";

/** What a link is made for. */
interface LinkOptions {
  /** The path of the file or script. */
  readonly path: string;
  /** How long it is valid. */
  readonly days: number;
  /** Who makes it. It ends with their access, and no later than a link or token that they use themselves. */
  readonly by: Identity;
}

/** Makes and checks links: addresses that machines can use without signing in. */
export class Links {
  readonly #store: Store;
  readonly #clock: () => number;
  readonly #canSignIn: (account: Account) => boolean;
  readonly #key: Uint8Array;

  /** @param canSignIn whether the settings let an account sign in */
  constructor(store: Store, clock: () => number, canSignIn: (account: Account) => boolean) {
    this.#store = store;
    this.#clock = clock;
    this.#canSignIn = canSignIn;
    this.#key = keyFor("links", store.secret);
  }

  /** @returns the path with its query and the link, and its end: UTC, milliseconds since 1970 */
  async make({ path, days, by }: LinkOptions): Promise<{ address: string; expires_at: number }> {
    const endDay = this.#endDayOf(days, by);
    const link = await this.#store.links.add({ maker: makerOf(by), path, isInScript: false, endDay });
    return { address: this.#signed(link, endDay, path), expires_at: endDay * dayMs };
  }

  /**
   * Returns a function that adds a link to each address in a script. All are of one record, which is saved at most once a
   * day. Those in a script that a link opened are of that link.
   */
  async inScript({ path, days, by }: LinkOptions): Promise<(address: string) => string> {
    if (by.kind === "link" && by.link.id > 0) return (address) => this.#signed(by.link, by.endDay, address);
    const endDay = this.#endDayOf(days, by);
    const wanted = { maker: makerOf(by), path, isInScript: true, endDay };
    const known = this.#store.links.findInScript(wanted);
    const link = known !== undefined && known.endDay >= endDay ? known : await this.#store.links.add(wanted);
    return (address) => this.#signed(link, endDay, address);
  }

  /**
   * @param address the requested path with its query, without the link @param text the value of the `link` parameter
   * @throws UserError "forbidden" that says why the link is not valid
   */
  identify(address: string, text: string): Identity {
    const found = this.#find(address, text) ?? this.#findOld(address, text);
    if (found === undefined || !this.#isCurrent(ownerIn(found.link.path), ownerIn(address))) {
      const message =
        "This link is not valid. It may have ended, or its record was deleted. Ask for a new link, or download the script again.";
      throw new UserError("forbidden", message);
    }
    const { link, endDay } = found;
    const now = this.#clock();
    const day = utcDay(endDay * dayMs);
    if (endDay * dayMs <= now) throw endedError(` on ${day}`);
    const by = this.#accessOf(link.maker, now);
    if (by === undefined) throw endedError(", because its maker no longer has access");
    const made = by.name === "" ? "" : `, made by ${by.name}`;
    const { kind, id } = ownerIn(address);
    return { kind: "link", name: `${kind} ${id}${made}, until ${day}`, link, endDay, scope: by.scope };
  }

  /** Newest first, without those that have ended. @param owner whose links; by default those of all records */
  list(owner?: LinkOwner, max?: number): ListedLink[] {
    const { links } = this.#store;
    const now = this.#clock();
    // Many links have the same record and maker.
    const known = new Map<string, boolean>();
    const once = (what: object, isTrue: () => boolean) => getOrAdd(known, JSON.stringify(what), isTrue);
    const problemOf = ({ path, maker }: Link) => {
      const record = ownerIn(path);
      if (!once(record, () => links.nameOf(record) !== undefined)) return "Deleted";
      return once(maker, () => this.#accessOf(maker, now) !== undefined) ? undefined : "No access";
    };
    return links.list(owner, max).map((link) => ({ ...link, problem: problemOf(link) }));
  }

  /** Whether the record exists, and the script of a client still has this printer: another client may have it now. */
  #isCurrent(source: LinkOwner, target: LinkOwner): boolean {
    if (this.#createdAt(source) === undefined) return false;
    const isOfClient = source.kind === "client" && target.kind === "printer";
    return !isOfClient || this.#store.printers.clientIdOf(target.id) === source.id;
  }

  #signed(link: Link, endDay: number, address: string): string {
    const text = signLink(this.#key, link, endDay, address);
    return `${address}${address.includes("?") ? "&" : "?"}link=${text}`;
  }

  #find(address: string, text: string) {
    const terms = termsOf(text);
    const link = terms && this.#store.links.find(terms.id);
    if (terms === undefined || link === undefined) return undefined;
    const { endDay } = terms;
    return isSameText(signLink(this.#key, link, endDay, address), text) ? { link, endDay } : undefined;
  }

  #findOld(address: string, text: string) {
    const { links, drivers } = this.#store;
    const { kind, id } = ownerIn(address);
    const files = kind === "driver" && address.endsWith("/files") ? drivers.findSummary(id) : undefined;
    const terms = readOldLink(this.#key, text, address, (records) => {
      const versions = records.map((one) => [links.generationOf(one), this.#createdAt(one) ?? "gone"]);
      return JSON.stringify([links.epoch(), files?.sha256 ?? "", ...versions]);
    });
    if (terms === undefined) return undefined;
    const { endDay, maker = { kind: "none", id: 0 } as const } = terms;
    if (links.generationOf(maker) > 0) return undefined;
    const name = this.#accessOf({ ...maker, name: "" }, this.#clock())?.name ?? "";
    const none = { id: 0, isInScript: false, created_at: 0 };
    return { link: { ...none, maker: { ...maker, name }, path: address, endDay }, endDay };
  }

  /** The maker's name in the audit log and scope; undefined if their access has ended. */
  #accessOf(
    { kind, id, name, isOperator = false }: LinkMaker,
    now: number,
  ): { readonly name: string; readonly scope?: Scope } | undefined {
    const { accounts, tokens } = this.#store;
    if (kind === "token") {
      const token = tokens.findById(id);
      if (token === undefined || token.expires_at <= now) return undefined;
      return { name: `token ${token.name}`, scope: token.scope };
    }
    const account = kind === "account" ? accounts.find(id) : accounts.findByName(name)?.account;
    if (account === undefined) return kind === "none" ? { name } : undefined;
    const isLower = isOperator && !hasRole(account.role, "operator");
    return account.isDisabled || isLower || !this.#canSignIn(account) ? undefined : { name: account.name };
  }

  #endDayOf(days: number, by: Identity): number {
    return Math.min(linkEndDay(this.#clock(), days), maxEndDayOf(by));
  }

  #createdAt({ kind, id }: LinkOwner): number | undefined {
    const { clients, drivers, printers } = this.#store;
    if (kind === "printer") return printers.find(id)?.printer.created_at;
    return kind === "client" ? clients.find(id)?.created_at : drivers.findSummary(id)?.uploaded_at;
  }
}

function makerOf(identity: Identity): LinkMaker {
  if (identity.kind === "link") return identity.link.maker;
  const name = nameOf(identity);
  if (identity.kind === "token") return { kind: "token", id: identity.id, name };
  const id = identity.kind === "person" ? identity.account : undefined;
  const isOperator = mayUse(identity, "operator");
  return id === undefined
    ? { kind: "none", id: 0, name, isOperator }
    : { kind: "account", id, name, isOperator };
}

/** A link made with a link or token ends no later than that link or token. */
function maxEndDayOf(identity: Identity): number {
  if (identity.kind === "link") return identity.endDay;
  return identity.kind === "token" ? Math.ceil(identity.expires_at / dayMs) : Number.POSITIVE_INFINITY;
}

function endedError(when: string): UserError {
  const message = `This link has ended${when}. Ask for a new link. If it is in a script, download the script again.`;
  return new UserError("forbidden", message);
}
