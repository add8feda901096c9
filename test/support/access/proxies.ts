import { type Proxies, readProxies } from "../../../src/domain/access/proxies.ts";

/** Settings of trusted proxies: this machine is one, unless they say otherwise. */
export function proxiesOf(settings: Record<string, string> = {}): Proxies {
  const problems: string[] = [];
  const all: Record<string, string> = { TRUSTED_PROXIES: "127.0.0.1", ...settings };
  const proxies = readProxies((name) => all[name], problems);
  if (problems.length > 0) throw new Error(problems.join("\n"));
  return proxies;
}

/** Of a proxy that says who it is. */
export const namingProxies = (settings: Record<string, string> = {}) =>
  proxiesOf({ REMOTE_USER_HEADER: "Remote-User", ...settings });

/** The same with groups. */
export const groupedProxies = () =>
  namingProxies({
    REMOTE_GROUPS_HEADER: "Remote-Groups",
    REMOTE_GROUPS: "admin=platen-admins,operator=techs,viewer=sales",
  });

/** As the environment says it, of a proxy on this machine, to which administrators belong to the group `admins`. */
export const proxySettings = {
  TRUSTED_PROXIES: "127.0.0.1",
  REMOTE_USER_HEADER: "Remote-User",
  REMOTE_GROUPS_HEADER: "Remote-Groups",
  REMOTE_GROUPS: "admin=admins,operator=techs",
};
/** What it says of an administrator. */
export const bossHeaders = { "remote-user": "boss", "remote-groups": "admins" };
