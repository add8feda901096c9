import { type Proxies, readProxies } from "../../../src/domain/access/proxies.ts";

/** Settings of trusted proxies. By default this machine is one. */
export function proxiesOf(settings: Record<string, string> = {}): Proxies {
  const problems: string[] = [];
  const all: Record<string, string> = { TRUSTED_PROXIES: "127.0.0.1", ...settings };
  const proxies = readProxies((name) => all[name], problems);
  if (problems.length > 0) throw new Error(problems.join("\n"));
  return proxies;
}

/** Settings of a proxy that names the user. */
export const namingProxies = (settings: Record<string, string> = {}) =>
  proxiesOf({ REMOTE_USER_HEADER: "Remote-User", ...settings });

/** Settings of a proxy that names the user and their groups. */
export const groupedProxies = () =>
  namingProxies({
    REMOTE_GROUPS_HEADER: "Remote-Groups",
    REMOTE_GROUPS: "admin=platen-admins,operator=techs,viewer=sales",
  });

/** Environment variables for a proxy on this machine, whose group `admins` are administrators. */
export const proxySettings = {
  TRUSTED_PROXIES: "127.0.0.1",
  REMOTE_USER_HEADER: "Remote-User",
  REMOTE_GROUPS_HEADER: "Remote-Groups",
  REMOTE_GROUPS: "admin=admins,operator=techs",
};
/** The headers of that proxy for an administrator. */
export const adminHeaders = { "remote-user": "boss", "remote-groups": "admins" };
