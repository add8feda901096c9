import { windowsKey } from "../../domain/windows-names.ts";
import { refuse } from "./archive-refusal.ts";

/** More names in the old form are no driver's. */
const mostShortNames = 10_000;

/** A name in the form that Windows gives long ones beside their own (8.3): `LONGFI~1.INF`. */
interface ShortName {
  readonly name: string;
  /** What stands before the `~`, and the ending, as Windows writes them. */
  readonly start: string;
  readonly ending: string;
}

/**
 * Windows keeps a second, short name for each long one. A file that is called so in the archive would be written over
 * the other one, by every unpacker that overwrites.
 * @param paths no two of them the same to Windows
 * @throws UserError "invalid" where one may be the short name of another
 */
export function checkShortNames(paths: readonly string[]): void {
  const folders = shortNames(paths);
  if (folders.size === 0) return;
  const known = new Set<string>();
  for (const path of paths) {
    for (const [folder, name] of stepsOf(path, known)) {
      const short = folders.get(folder)?.meaning(name);
      if (short === undefined) continue;
      throw refuse(
        `This ZIP is refused: “${short.name}” is what Windows may call “${name}” for short, and one would be written over the other. Give one of them another name, or leave it out.`,
      );
    }
  }
}

/** The names in the short form, by the keys of their folders. */
function shortNames(paths: readonly string[]): Map<string, ShortNames> {
  const folders = new Map<string, ShortNames>();
  let count = 0;
  for (const [folder, short] of everyShortName(paths)) {
    const known = folders.get(folder) ?? new ShortNames();
    folders.set(folder, known);
    if (known.add(short)) count++;
    if (count > mostShortNames) {
      throw refuse(
        `This ZIP is refused: over ${mostShortNames.toLocaleString("en")} of its names are short ones of old Windows (like “${short.name}”). Pack the folder with their full names, and upload that.`,
      );
    }
  }
  return folders;
}

function* everyShortName(paths: readonly string[]): Generator<[folder: string, short: ShortName]> {
  const known = new Set<string>();
  for (const path of paths) {
    if (!/~\d/.test(path)) continue;
    for (const [folder, name] of stepsOf(path, known)) {
      const short = shortName(name);
      if (short !== undefined) yield [folder, short];
    }
  }
}

/**
 * The file of a path and its folders, each behind the key of the folder that it stands in.
 * @param known keys of the folders that came before: those do not come again
 */
function* stepsOf(path: string, known: Set<string>): Generator<[folder: string, name: string]> {
  const key = windowsKey(path);
  for (let end = path.length; end > 0; ) {
    const slash = path.lastIndexOf("/", end - 1);
    const folder = key.slice(0, slash + 1);
    yield [folder, path.slice(slash + 1, end)];
    if (known.has(folder)) return;
    known.add(folder);
    end = slash;
  }
}

/** Base and ending of a name that is in the short form itself. */
function oldForm(name: string): readonly [base: string, ending: string] | undefined {
  const [base = "", ending = "", ...more] = name.toUpperCase().split(".");
  const isOld = base !== "" && base.length <= 8 && ending.length <= 3 && more.length === 0;
  return isOld && !/[ +,;=[\]\u0080-\uffff]/.test(name) ? [base, ending] : undefined;
}

function shortName(name: string): ShortName | undefined {
  const [base = "", ending = ""] = oldForm(name) ?? [];
  const tilde = base.lastIndexOf("~");
  if (tilde < 1 || !/^\d+$/.test(base.slice(tilde + 1))) return undefined;
  return { name, start: plain(base.slice(0, tilde)), ending: plain(ending) };
}

/** What a short name has no letter for becomes an underscore. */
function plain(text: string): string {
  return text.toUpperCase().replace(/[+,;=[\]\u0080-\uffff]/g, "_");
}

const fewestLetters = 4;
const usualLetters = 6;

/** The short names of one folder. */
class ShortNames {
  readonly #byStart = new Map<string, ShortName>();
  /** Of those that Windows makes where many are alike: two letters and a number of four digits. */
  readonly #numbered = new Map<string, ShortName>();

  /** Whether it was not known. */
  add(short: ShortName): boolean {
    const key = `${short.start}.${short.ending}`;
    const isNew = !this.#byStart.has(key);
    this.#byStart.set(key, short);
    if (/^.{1,2}[0-9A-F]{4}$/.test(short.start))
      this.#numbered.set(`${short.start.slice(0, -4)}.${short.ending}`, short);
    return isNew;
  }

  /** One that may be the short name of this one, which is a long one. */
  meaning(name: string): ShortName | undefined {
    if (oldForm(name) !== undefined) return undefined;
    const dot = name.lastIndexOf(".");
    const base = plain((dot > 0 ? name.slice(0, dot) : name).replace(/[ .]/g, ""));
    const ending = dot > 0 ? plain(name.slice(dot + 1).replaceAll(" ", "")).slice(0, 3) : "";
    const numbered = this.#numbered.get(`${base.slice(0, 2)}.${ending}`);
    if (numbered !== undefined) return numbered;
    for (let length = Math.min(fewestLetters, base.length); length <= usualLetters; length++) {
      const short = this.#byStart.get(`${base.slice(0, length)}.${ending}`);
      if (short !== undefined) return short;
    }
    return undefined;
  }
}
