import { auditCommand } from "./cli/audit.ts";
import { backupCommand, restoreCommand } from "./cli/backups.ts";
import { readConfig, settingsHelp } from "./config.ts";
import { errorMessage } from "./domain/errors.ts";
import { digestOf, inspectionJson } from "./services/drivers/inspect.ts";
import { inspectionText } from "./services/drivers/inspect-text.ts";
import { inspectUpload } from "./services/drivers/inspect-upload.ts";
import { schemaVersion } from "./store/database/migrations.ts";
import { openSource, withTemporaryFile } from "./store/files.ts";

/** `serve` is left to the caller. `done`: the command has finished. */
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

/** Options that only print a text. */
const texts = new Map<string, (version: string) => string>([
  ["--version", (version) => `${version} (commit ${PLATEN_COMMIT}, schema ${schemaVersion})`],
  ["--help", helpText],
  ["--licenses", () => PLATEN_LICENCES],
  ["--sbom", () => JSON.stringify(JSON.parse(PLATEN_BILL), null, 2)],
]);
const longOptions = new Map([
  ["-v", "--version"],
  ["-h", "--help"],
]);

type Run = (args: readonly string[], version: string, output: Output) => Promise<number>;

/** Each command returns its exit code. */
const commands = new Map<string, Run>([
  ["inspect", inspect],
  ["backup", (args, version, { err }) => backupCommand(args, dataContext(version, err))],
  ["restore", (args, version, { err }) => restoreCommand(args, dataContext(version, err))],
  ["audit", (args, _version, output) => auditCommand(args, { dataDir: readConfig().dataDir, ...output })],
]);

/** The context of commands that work on DATA_DIR. */
function dataContext(version: string, err: Output["err"]) {
  return { dataDir: readConfig().dataDir, version, now: Date.now(), err };
}

/** Runs the command that the arguments name. It does not run `serve`, which is the default. */
export async function runCommand(args: readonly string[], version: string, output: Output): Promise<Command> {
  const [command = "serve", ...rest] = args;
  const serveOptions = command === "serve" ? rest : args;
  if (serveOptions.length === 0) return { kind: "serve", recover: false };
  if (serveOptions.length === 1 && serveOptions[0] === "--recover") return { kind: "serve", recover: true };
  const text = texts.get(longOptions.get(command) ?? command)?.(version);
  if (text !== undefined) {
    output.out(text.endsWith("\n") ? text : `${text}\n`);
    return { kind: "done", exitCode: 0 };
  }
  const run = commands.get(command);
  if (run !== undefined) return { kind: "done", exitCode: await run(rest, version, output) };
  output.err(`platen: unknown command “${args.join(" ")}”; see --help.\n`);
  return { kind: "done", exitCode: 2 };
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
      const { inspection, inner } = await withTemporaryFile((path) =>
        inspectUpload(source, { path, limitBytes: Number.POSITIVE_INFINITY }),
      );
      const json = inspectionJson(inspection, inner?.sha256 ?? (await digestOf(source)));
      const text = `${inner === undefined ? "" : `${inner.remark}\n`}${inspectionText(inspection)}`;
      output.out(options.length > 0 ? text : `${JSON.stringify(json, null, 2)}\n`);
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

usage: platen [serve] [--recover]  serve the web application; --recover: if the database is damaged, move it
                                   aside and use the newest intact backup
       platen backup FILE.tar      write all data into one file, also while the service runs; - for standard
                                   output; --force: overwrite an existing file
       platen restore FILE.tar     replace the contents of DATA_DIR with such a file; the old contents are kept
       platen audit verify [DIR]   check whether the audit log of DATA_DIR was changed, also while the service
                                   runs; DIR: another data folder, or a copy of its audit folder
       platen audit export --csv [DIR]
                                   print it as a table
       platen inspect FILE.zip     describe a driver ZIP as JSON; --text: as plain text
       platen --version | --help | --licenses | --sbom

Settings come from the environment:
${settings.join("\n")}
`;
}
