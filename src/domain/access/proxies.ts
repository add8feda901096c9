import { BlockList, isIPv4 } from "node:net";
import { plainAddress, prefixLength } from "../address.ts";
import { type Role, roles } from "./access.ts";

/** The settings of trusted proxies. */
export interface Proxies {
  /** `TRUSTED_PROXIES` */
  readonly trusted: BlockList | undefined;
  /** `REMOTE_USER_HEADER`, in lower case; undefined if people do not sign in at a proxy. */
  readonly userHeader: string | undefined;
  /** `REMOTE_GROUPS_HEADER`, in lower case. */
  readonly groupsHeader: string | undefined;
  /** `REMOTE_GROUPS` */
  readonly groups: readonly GroupRole[];
}

export interface GroupRole {
  readonly role: Role;
  /** `*` for everybody who signs in. */
  readonly group: string;
}

export const everyone = "*";
/** Without `REMOTE_GROUPS`, every user of the proxy is an operator. */
const defaultGroups: readonly GroupRole[] = [{ role: "operator", group: everyone }];

/** Reads the four settings, and adds a line to `problems` for each mistake. */
export function readProxies(setting: (name: string) => string | undefined, problems: string[]): Proxies {
  const userHeader = readHeader("REMOTE_USER_HEADER", setting, problems);
  const groupsHeader = readHeader("REMOTE_GROUPS_HEADER", setting, problems);
  const trusted = readTrusted(setting("TRUSTED_PROXIES"), problems);
  const groups = readGroups("REMOTE_GROUPS", setting("REMOTE_GROUPS"), problems);
  if (userHeader !== undefined && setting("TRUSTED_PROXIES") === undefined)
    problems.push("REMOTE_USER_HEADER needs TRUSTED_PROXIES: anybody could send that header.");
  if (groupsHeader !== undefined && userHeader === undefined)
    problems.push("REMOTE_GROUPS_HEADER needs REMOTE_USER_HEADER, which says whose groups they are.");
  if (groupsHeader !== undefined && groupsHeader === userHeader)
    problems.push("REMOTE_USER_HEADER and REMOTE_GROUPS_HEADER are the same header.");
  if (groupsHeader !== undefined && groups === undefined)
    problems.push("REMOTE_GROUPS_HEADER needs REMOTE_GROUPS, such as admin=platen-admins,viewer=*.");
  const hasNamedGroups = groups?.some(({ group }) => group !== everyone) ?? false;
  if (groupsHeader === undefined && hasNamedGroups)
    problems.push("REMOTE_GROUPS names groups, but REMOTE_GROUPS_HEADER is not set.");
  return { trusted, userHeader, groupsHeader, groups: groups ?? defaultGroups };
}

/** The highest role that a user's groups give; undefined for none. */
export function roleOfGroups(rules: readonly GroupRole[], groups: readonly string[]): Role | undefined {
  const given = rules.filter(({ group }) => group === everyone || groups.includes(group));
  return roles.findLast((role) => given.some((rule) => rule.role === role));
}

/** @param address as `plainAddress` spells it */
export function isTrusted({ trusted }: Proxies, address: string): boolean {
  return trusted?.check(address, isIPv4(address) ? "ipv4" : "ipv6") ?? false;
}

/** Headers that browsers and proxies send for other purposes. They cannot be settings. */
const reservedHeaders =
  /^(?:accept(?:-.+)?|authorization|connection|content-.+|cookie|expect|forwarded|host|if-.+|origin|range|referer|sec-.+|te|transfer-encoding|upgrade(?:-.+)?|user-agent|x-forwarded-(?:for|host|proto|port)|hx-.+)$/;

function readHeader(
  name: string,
  setting: (name: string) => string | undefined,
  problems: string[],
): string | undefined {
  const header = setting(name)?.toLowerCase();
  if (header === undefined) return undefined;
  // Many proxies drop or rewrite names with an underscore.
  if (!/^[a-z0-9][a-z0-9-]{0,99}$/.test(header))
    problems.push(`${name} is “${setting(name)}”; it is a header’s name such as Remote-User.`);
  else if (reservedHeaders.test(header))
    problems.push(
      `${name} is “${setting(name)}”, a header that clients and proxies send for other purposes.`,
    );
  return header;
}

function readTrusted(text: string | undefined, problems: string[]): BlockList | undefined {
  if (text === undefined) return undefined;
  const list = new BlockList();
  const parts = partsOf(text).map((part) => [part, addNetwork(list, part)] as const);
  const [wrong, wide] = (["wrong", "wide"] as const).map((wanted) =>
    parts.filter(([, problem]) => problem === wanted).map(([part]) => part),
  );
  if (wrong?.length) {
    problems.push(
      `TRUSTED_PROXIES has “${wrong.join("”, “")}”; it is addresses and networks such as 10.0.0.5, 172.18.0.0/16 or fd00::/64, separated by commas.`,
    );
  }
  if (wide?.length) {
    problems.push(
      `TRUSTED_PROXIES has “${wide.join("”, “")}”, which is too wide: every host in it could sign in as any user. Name the proxy’s own address or network.`,
    );
  }
  return list;
}

/** The widest private networks are 10.0.0.0/8 and fc00::/7. */
const minPrefixLength = { ipv4: 8, ipv6: 7 } as const;

/** @returns why a part was not added: `wrong`: it is no address or network; `wide`: the network is too wide */
function addNetwork(list: BlockList, part: string): "wrong" | "wide" | undefined {
  const [typed = "", length, ...more] = part.split("/");
  const address = typed.includes("%") ? undefined : plainAddress(typed);
  if (address === undefined || more.length > 0) return "wrong";
  const family = isIPv4(address) ? "ipv4" : "ipv6";
  const bits = family === "ipv4" ? 32 : 128;
  // An IPv4 network written as IPv6 has 96 bits more.
  const mapped = family === "ipv4" && typed.includes(":") ? 96 : 0;
  const prefix = length === undefined ? bits : prefixLength(length) - mapped;
  if (!(prefix >= 0 && prefix <= bits)) return "wrong";
  if (prefix < minPrefixLength[family]) return "wide";
  list.addSubnet(address, prefix, family);
  return undefined;
}

/** Reads a setting such as `admin=platen-admins,viewer=*`. @param name of the setting */
export function readGroups(
  name: string,
  text: string | undefined,
  problems: string[],
): GroupRole[] | undefined {
  if (text === undefined) return undefined;
  const groups: GroupRole[] = [];
  const wrong: string[] = [];
  for (const part of partsOf(text)) {
    const at = part.indexOf("=");
    const role = roles.find((known) => known === part.slice(0, Math.max(at, 0)).trim());
    const group = part.slice(at + 1).trim();
    if (role === undefined || group === "" || /\p{C}/u.test(group)) wrong.push(part);
    else groups.push({ role, group });
  }
  if (wrong.length > 0 || groups.length === 0) {
    problems.push(
      `${name} has “${wrong.join("”, “")}”; it looks like admin=platen-admins,operator=technicians,viewer=*.`,
    );
  }
  return groups;
}

function partsOf(text: string): string[] {
  const parts = text.split(",").map((part) => part.trim());
  return parts.filter((part) => part !== "");
}
