import { hasRole, type Identity, nameOf, roleOf, type Scope } from "../../domain/access/access.ts";
import {
  type Link,
  type LinkMaker,
  type LinkOwner,
  linkEndDay,
  readOldLink,
  signLink,
  termsOf,
} from "../../domain/access/link.ts";
import { UserError } from "../../domain/errors.ts";
import { isSameText, keyFor } from "../../domain/secrets.ts";
import { dayMs, utcDay } from "../../domain/text.ts";
import type { Store } from "../../store/store.ts";

/** What a link is made for. */
interface LinkOptions {
  readonly owner: LinkOwner;
  /** The path of the file or script. */
  readonly path: string;
  /** How long it is valid. */
  readonly days: number;
  /** Who makes it. It ends with their access, and no later than a link or token that they use themselves. */
  readonly by: Identity;
}

/** The target of a request that came with a link. */
interface LinkRequest {
  readonly owner: LinkOwner;
  /** The path with its query, without the link. */
  readonly address: string;
  /** Whether the path is that of a driver's files. */
  readonly isFiles?: boolean;
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

  /** @returns the path with its query and the link, and its end: UTC, milliseconds since 1970 */
  async make({ owner, path, days, by }: LinkOptions): Promise<{ address: string; expires_at: number }> {
    const endDay = this.#endDayOf(days, by);
    const link = await this.#store.links.add({ maker: makerOf(by), owner, path, isInScript: false, endDay });
    return { address: this.#signed(link, endDay, path), expires_at: endDay * dayMs };
  }

  /**
   * Returns a function that adds a link to each address in a script. All are of one record, which is saved at most once a
   * day. Those in a script that a link opened are of that link.
   */
  async inScript({ owner, path, days, by }: LinkOptions): Promise<(address: string) => string> {
    if (by.kind === "link" && by.link.id > 0) return (address) => this.#signed(by.link, by.endDay, address);
    const endDay = this.#endDayOf(days, by);
    const wanted = { maker: makerOf(by), owner, path, isInScript: true, endDay };
    const known = this.#store.links.findInScript(wanted);
    const link = known !== undefined && known.endDay >= endDay ? known : await this.#store.links.add(wanted);
    return (address) => this.#signed(link, endDay, address);
  }

  /** @param text the value of the `link` parameter @throws UserError "forbidden" that says why the link is not valid */
  identify(wanted: LinkRequest, text: string): Identity {
    const found = this.#find(wanted, text) ?? this.#findOld(wanted, text);
    if (found === undefined || this.#createdAt(found.link.owner) === undefined) {
      const message =
        "This link is not valid. It may have been revoked. Ask for a new link, or download the script again.";
      throw new UserError("forbidden", message);
    }
    const { link, endDay } = found;
    const now = this.#clock();
    const day = utcDay(endDay * dayMs);
    if (endDay * dayMs <= now) throw endedError(` on ${day}`);
    const by = this.#access(link.maker, now);
    if (by === undefined) throw endedError("");
    const made = by.name === "" ? "" : `, made by ${by.name}`;
    const name = `${wanted.owner.kind} ${wanted.owner.id}${made}, until ${day}`;
    return { kind: "link", name, link, endDay, scope: by.scope };
  }

  #signed(link: Link, endDay: number, address: string): string {
    const text = signLink(this.#key, link, endDay, address);
    return `${address}${address.includes("?") ? "&" : "?"}link=${text}`;
  }

  #find({ address }: LinkRequest, text: string) {
    const terms = termsOf(text);
    const link = terms && this.#store.links.find(terms.id);
    if (terms === undefined || link === undefined) return undefined;
    const { endDay } = terms;
    return isSameText(signLink(this.#key, link, endDay, address), text) ? { link, endDay } : undefined;
  }

  #findOld(wanted: LinkRequest, text: string) {
    const { owner, address: path, isFiles = false } = wanted;
    const { links, drivers } = this.#store;
    const terms = readOldLink(this.#key, text, wanted, (records) => {
      const digest = isFiles ? (drivers.findSummary(owner.id)?.sha256 ?? "") : "";
      const versions = records.map((one) => [links.generationOf(one), this.#createdAt(one) ?? "gone"]);
      return JSON.stringify([links.epoch(), digest, ...versions]);
    });
    if (terms === undefined) return undefined;
    const { endDay, maker = { kind: "none", id: 0 } } = terms;
    const link = {
      id: 0,
      maker: { ...maker, name: "" },
      owner,
      path,
      isInScript: false,
      endDay,
      created_at: 0,
    };
    return { link, endDay };
  }

  /** The maker's name in the audit log and scope; undefined if their access has ended. */
  #access(
    { kind, id, name, role }: LinkMaker,
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
    const isLower = hasRole(role, "operator") && !hasRole(account.role, "operator");
    return account.isDisabled || isLower ? undefined : { name: account.name };
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
  const [name, role] = [nameOf(identity), roleOf(identity)];
  if (identity.kind === "token") return { kind: "token", id: identity.id, name };
  const account = identity.kind === "person" ? identity.account : undefined;
  return account === undefined
    ? { kind: "none", id: 0, name, role }
    : { kind: "account", id: account, name, role };
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
