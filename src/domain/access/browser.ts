/** Parts of `User-Agent` with the browsers. The first match counts, because most browsers also name others. */
const browsers = [
  ["Edg", "Edge"],
  ["OPR/", "Opera"],
  ["SamsungBrowser/", "Samsung Internet"],
  ["Firefox/", "Firefox"],
  ["FxiOS/", "Firefox"],
  ["CriOS/", "Chrome"],
  ["Chrome/", "Chrome"],
  ["Safari/", "Safari"],
  ["curl/", "curl"],
  ["PowerShell/", "PowerShell"],
] as const;

const systems = [
  ["Windows", "Windows"],
  ["Android", "Android"],
  ["iPhone", "iPhone"],
  ["iPad", "iPad"],
  ["Mac OS X", "macOS"],
  ["CrOS", "ChromeOS"],
  ["Linux", "Linux"],
] as const;

/** `Firefox on Windows` from a `User-Agent` header. The result has only words from these tables. */
export function browserOf(userAgent = ""): string {
  const text = userAgent.slice(0, 400);
  const named = (names: readonly (readonly [string, string])[]) =>
    names.find(([part]) => text.includes(part))?.[1];
  const [browser = "Another browser", system] = [named(browsers), named(systems)];
  return system === undefined ? browser : `${browser} on ${system}`;
}
