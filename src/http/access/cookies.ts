import type { IncomingMessage } from "node:http";
import type { Config } from "../../config.ts";
import { sessionMs } from "../../store/access/sessions.ts";
import { basePath } from "../base-path.ts";
import { senderOf } from "../sender.ts";

type CookieName = "platen" | "platen-device" | "platen-oidc";

/** Whether the browser uses https, by `PUBLIC_URL` or by a trusted proxy. */
export function isSecure(request: IncomingMessage, { publicUrl }: Pick<Config, "publicUrl">): boolean {
  return publicUrl?.startsWith("https:") === true || senderOf(request).scheme === "https";
}

/**
 * The value of a cookie. Also undefined for two cookies with the same name: another host of the domain may have set
 * one, to make the user work in the attacker's session.
 */
export function cookieOf(
  request: IncomingMessage,
  config: Pick<Config, "publicUrl">,
  name: CookieName,
): string | undefined {
  const full = fullName(request, config, name);
  // `trim` would remove more than browsers do, and then a cookie that another host set could have this name.
  const pairs = (request.headers.cookie ?? "").split(";").map((pair) => pair.replace(/^[ \t]+/, ""));
  const [found, ...others] = pairs.filter((pair) => pair.startsWith(`${full}=`));
  const value = found?.slice(full.length + 1) ?? "";
  return others.length === 0 && /^[\w.-]{16,200}$/.test(value) ? value : undefined;
}

/** The header `Set-Cookie`. @param ms how long the browser keeps the cookie; 0 deletes it */
export function setCookie(
  request: IncomingMessage,
  config: Pick<Config, "publicUrl">,
  { name, value, ms }: { readonly name: CookieName; readonly value: string; readonly ms: number },
): string {
  const secure = isSecure(request, config) ? "; Secure" : "";
  const age = Math.floor(ms / 1000);
  const path = basePath(config) || "/";
  return `${fullName(request, config, name)}=${value}; Path=${path}; Max-Age=${age}; HttpOnly; SameSite=Lax${secure}`;
}

/** The header `Set-Cookie` for a session; without a value, it deletes the cookie. @param ms how long it lasts */
export function sessionCookie(
  request: IncomingMessage,
  config: Pick<Config, "publicUrl">,
  value = "",
  ms: number = value === "" ? 0 : sessionMs.longest,
): string {
  return setCookie(request, config, { name: "platen", value, ms });
}

/**
 * Over https the name has the prefix `__Host-`: only this host can set such a cookie (RFC 6265bis, 4.1.3.2). With a base
 * path it has `__Secure-`, because `__Host-` requires `Path=/`, and the path: another Platen on this host has other cookies.
 */
function fullName(request: IncomingMessage, config: Pick<Config, "publicUrl">, name: CookieName): string {
  const path = basePath(config);
  const whole = name + path.replace(/[^\w]+/g, "-");
  if (!isSecure(request, config)) return whole;
  return path === "" ? `__Host-${whole}` : `__Secure-${whole}`;
}
