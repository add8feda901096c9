import type { IncomingMessage } from "node:http";
import type { Config } from "../../config.ts";
import { sessionMs } from "../../store/access/sessions.ts";
import { senderOf } from "../sender.ts";

/** A cookie's name; behind https it is one that no other host and no page without https can set (RFC 6265bis, 4.1.3). */
type CookieName = "platen" | "platen-device";

/** Whether a browser reaches us over https: so says the setting, or a trusted proxy. */
export function isSecure(request: IncomingMessage, { publicUrl }: Pick<Config, "publicUrl">): boolean {
  return publicUrl?.startsWith("https:") === true || senderOf(request).scheme === "https";
}

/**
 * What a browser was given under a name. Undefined also where it sends the name twice: another host of the same domain
 * may have set one of them, to have somebody work under a session that is not theirs.
 */
export function cookieOf(
  request: IncomingMessage,
  config: Pick<Config, "publicUrl">,
  name: CookieName,
): string | undefined {
  const full = fullName(request, config, name);
  // `trim` would take more away, and make one of ours of a name that another host may set.
  const pairs = (request.headers.cookie ?? "").split(";").map((pair) => pair.replace(/^[ \t]+/, ""));
  const [found, ...others] = pairs.filter((pair) => pair.startsWith(`${full}=`));
  const value = found?.slice(full.length + 1) ?? "";
  return others.length === 0 && /^[\w.-]{16,200}$/.test(value) ? value : undefined;
}

/** The header that gives a browser a cookie. @param ms how long it is kept; 0 takes it away */
export function setCookie(
  request: IncomingMessage,
  config: Pick<Config, "publicUrl">,
  { name, value, ms }: { readonly name: CookieName; readonly value: string; readonly ms: number },
): string {
  const secure = isSecure(request, config) ? "; Secure" : "";
  const age = Math.floor(ms / 1000);
  return `${fullName(request, config, name)}=${value}; Path=/; Max-Age=${age}; HttpOnly; SameSite=Lax${secure}`;
}

/** The header that keeps somebody signed in; without a value, the one that takes that away. */
export function sessionCookie(
  request: IncomingMessage,
  config: Pick<Config, "publicUrl">,
  value?: string,
): string {
  const ms = value === undefined ? 0 : sessionMs.longest;
  return setCookie(request, config, { name: "platen", value: value ?? "", ms });
}

function fullName(request: IncomingMessage, config: Pick<Config, "publicUrl">, name: CookieName): string {
  return isSecure(request, config) ? `__Host-${name}` : name;
}
