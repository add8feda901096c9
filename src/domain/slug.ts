/** More than any field holds; normalising takes time that grows with the square of a run of marks. */
const consideredLength = 300;

/** Lower-case ASCII letters, digits and hyphens: safe as a part of a file name anywhere. May be empty. */
export function slug(text: string): string {
  const words = text
    .slice(0, consideredLength)
    .replaceAll("ß", "ss")
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter(Boolean);
  return words.join("-").slice(0, 80);
}
