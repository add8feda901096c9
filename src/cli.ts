import { readConfig, settingsHelp } from "./config.ts";
import { messageOf } from "./domain/errors.ts";
import { backupCommand, restoreCommand } from "./services/backup-commands.ts";
import { digestOf, inspectArchive, inspectionJson } from "./services/inspect.ts";
import { inspectionText } from "./services/inspect-text.ts";
import { openSource } from "./store/files.ts";

/** What the command line asks for; everything but `serve` has been done when this returns. */
type Command =
  | { readonly kind: "serve" /** Whether a damaged database is set aside. */; readonly recover: boolean }
  | { readonly kind: "done"; readonly exitCode: number };

interface Output {
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
}

/** Reads the arguments and does what they say, short of serving. */
export async function runCommand(args: readonly string[], version: string, output: Output): Promise<Command> {
  const [command, ...rest] = args;
  const serving = command === "serve" ? rest : args;
  if (serving.length === 0) return { kind: "serve", recover: false };
  if (serving.length === 1 && serving[0] === "--recover") return { kind: "serve", recover: true };
  if (command === "--version" || command === "-v") {
    output.out(`${version}\n`);
    return { kind: "done", exitCode: 0 };
  }
  if (command === "--help" || command === "-h") {
    output.out(helpText(version));
    return { kind: "done", exitCode: 0 };
  }
  if (command === "--licenses") {
    output.out(`${PLATEN_LICENCES}\n`);
    return { kind: "done", exitCode: 0 };
  }
  if (command === "--sbom") {
    output.out(`${JSON.stringify(JSON.parse(PLATEN_BILL), null, 2)}\n`);
    return { kind: "done", exitCode: 0 };
  }
  if (command === "inspect") return { kind: "done", exitCode: await inspect(rest, output) };
  if (command === "backup")
    return { kind: "done", exitCode: await onData(backupCommand, rest, version, output) };
  if (command === "restore")
    return { kind: "done", exitCode: await onData(restoreCommand, rest, version, output) };
  output.err(`platen: “${args.join(" ")}” is no command; --help lists them.\n`);
  return { kind: "done", exitCode: 2 };
}

/** Runs a command that works on DATA_DIR; a signal ends it, and it takes away what it made. */
async function onData(
  command: typeof backupCommand,
  args: readonly string[],
  version: string,
  { err }: Output,
): Promise<number> {
  const stopping = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const)
    process.once(signal, () => stopping.abort(new Error(`stopped by ${signal}`)));
  const { dataDir } = readConfig();
  return command(args, { dataDir, version, now: Date.now(), err, stop: stopping.signal });
}

async function inspect(args: readonly string[], output: Output): Promise<number> {
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
    output.err(`platen: ${file}: ${messageOf(error)}\n`);
    return 1;
  }
}

function helpText(version: string): string {
  const settings = settingsHelp.map(
    ([name, fallback, meaning]) => `  ${name.padEnd(16)} ${meaning} (${fallback})`,
  );
  return `Platen ${version}: from a vendor’s printer driver ZIP to scripts, RMM packages and Intune apps

usage: platen [serve] [--recover]  serve the web application; --recover: with the newest good backup where the
                                   database is damaged, which is set aside
       platen backup FILE.tar      write everything into one file, while it runs or not; - for standard output
       platen restore FILE.tar     put such a file in the place of what DATA_DIR holds, which is kept
       platen inspect FILE.zip     say what a driver ZIP holds, as JSON; --text for people
       platen --version | --help | --licenses | --sbom

Settings come from the environment:
${settings.join("\n")}
`;
}
