import { auditCommand } from "./cli/audit.ts";
import { backupCommand, restoreCommand } from "./cli/backups.ts";
import { readConfig, settingsHelp } from "./config.ts";
import { errorMessage } from "./domain/errors.ts";
import { digestOf, inspectArchive, inspectionJson } from "./services/drivers/inspect.ts";
import { inspectionText } from "./services/drivers/inspect-text.ts";
import { openSource } from "./store/files.ts";

/** A command line. All commands except `serve` have finished when this is returned. */
type Command =
  | {
      readonly kind: "serve";
      /** Whether the newest intact backup replaces a damaged database. */
      readonly recover: boolean;
    }
  | { readonly kind: "done"; readonly exitCode: number };

interface Output {
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
}

/** Options that print one text. */
const texts: Readonly<Record<string, (version: string) => string>> = {
  "--version": (version) => version,
  "--help": helpText,
  "--licenses": () => PLATEN_LICENCES,
  "--sbom": () => JSON.stringify(JSON.parse(PLATEN_BILL), null, 2),
};
const shortOptions: Readonly<Record<string, string>> = { "-v": "--version", "-h": "--help" };

type Run = (args: readonly string[], version: string, output: Output) => Promise<number>;

/** Each command returns its exit code. */
const commands: Readonly<Record<string, Run>> = {
  inspect,
  backup: (args, version, { err }) => backupCommand(args, dataContext(version, err)),
  restore: (args, version, { err }) => restoreCommand(args, dataContext(version, err)),
  audit: (args, _version, output) => auditCommand(args, { dataDir: readConfig().dataDir, ...output }),
};

/** The context of commands that work on DATA_DIR. */
function dataContext(version: string, err: Output["err"]) {
  return { dataDir: readConfig().dataDir, version, now: Date.now(), err };
}

/** Runs the command that the arguments name, except `serve`. */
export async function runCommand(args: readonly string[], version: string, output: Output): Promise<Command> {
  const [command = "serve", ...rest] = args;
  const serving = command === "serve" ? rest : args;
  if (serving.length === 0) return { kind: "serve", recover: false };
  if (serving.length === 1 && serving[0] === "--recover") return { kind: "serve", recover: true };
  const text = ownValue(texts, ownValue(shortOptions, command) ?? command)?.(version);
  if (text !== undefined) {
    output.out(text.endsWith("\n") ? text : `${text}\n`);
    return { kind: "done", exitCode: 0 };
  }
  const run = ownValue(commands, command);
  if (run !== undefined) return { kind: "done", exitCode: await run(rest, version, output) };
  output.err(`platen: “${args.join(" ")}” is no command; --help lists them.\n`);
  return { kind: "done", exitCode: 2 };
}

/** A table's own value, not one of its prototype. */
function ownValue<T>(table: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined;
}

async function inspect(args: readonly string[], _version: string, output: Output): Promise<number> {
  const files = args.filter((argument) => !argument.startsWith("--"));
  const options = args.filter((argument) => argument.startsWith("--"));
  const [file] = files;
  if (file === undefined || files.length > 1 || options.some((option) => option !== "--text")) {
    output.err("usage: platen inspect FILE.zip [--text]\n");
    return 2;
  }
  try {
    const source = await openSource(file);
    try {
      const inspection = await inspectArchive(source);
      const json = inspectionJson(inspection, await digestOf(source));
      output.out(options.length > 0 ? inspectionText(inspection) : `${JSON.stringify(json, null, 2)}\n`);
      return 0;
    } finally {
      await source.close();
    }
  } catch (error) {
    output.err(`platen: ${file}: ${errorMessage(error)}\n`);
    return 1;
  }
}

function helpText(version: string): string {
  const nameWidth = Math.max(...settingsHelp.map(([name]) => name.length)) + 1;
  const settings = settingsHelp.map(
    ([name, fallback, meaning]) => `  ${name.padEnd(nameWidth)} ${meaning} (${fallback})`,
  );
  return `Platen ${version}: from a vendor’s printer driver ZIP to scripts, RMM packages and Intune apps

usage: platen [serve] [--recover]  serve the web application; --recover: with the newest good backup where the
                                   database is damaged, which is set aside
       platen backup FILE.tar      write everything into one file, while it runs or not; - for standard output;
                                   --force: also in the place of a file that is there
       platen restore FILE.tar     put such a file in the place of what DATA_DIR holds, which is kept
       platen audit verify [DIR]   say whether anybody changed the audit log of DATA_DIR, also while it runs; DIR:
                                   another data folder, or a copy of its folder audit
       platen audit export --csv [DIR]
                                   print it as a table
       platen inspect FILE.zip     say what a driver ZIP holds, as JSON; --text for people
       platen --version | --help | --licenses | --sbom

Settings come from the environment:
${settings.join("\n")}
`;
}
