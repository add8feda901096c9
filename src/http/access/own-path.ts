import { paths } from "../../html/paths.ts";

const mostLength = 2000;
const base = "http://platen";

/** An address of this service to go on to, as its path and query; the dashboard for whatever is none, or leads back. */
export function ownPath(text: string | null | undefined): string {
  if (!text?.startsWith("/") || text.length > mostLength || /[\\\p{Cc}\p{Cs}]/u.test(text))
    return paths.dashboard;
  if (!URL.canParse(text, base)) return paths.dashboard;
  const { origin, pathname, search } = new URL(text, base);
  // What a browser makes of the path counts: `/.//host` becomes `//host`, which is another host.
  if (origin !== base || pathname.startsWith("//")) return paths.dashboard;
  const leadsBack = [paths.signIn, paths.signOut, paths.firstPassword].some((path) => path === pathname);
  return leadsBack ? paths.dashboard : pathname + search;
}

/** Where a one-time password is changed before it goes on. @param next an address of this service */
export function firstPasswordPath(next: string): string {
  const query = next === paths.dashboard ? "" : `?${new URLSearchParams({ next })}`;
  return paths.firstPassword + query;
}
