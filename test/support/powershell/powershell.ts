import assert from "node:assert/strict";
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { shippedBy } from "../../../src/domain/drivers/driver.ts";
import { isWindowsDriver } from "../../../src/domain/drivers/windows-drivers.ts";
import type { Deployable, ScriptSettings } from "../../../src/pkg/scripts/deployment.ts";
import {
  renderWithSettings,
  type ScriptKind,
  settingsBlock,
  templateOf,
} from "../../../src/pkg/scripts/render.ts";
import { type Deployed, type PackageParts, packageParts } from "../audit/deployed.ts";
import { printerInf } from "../drivers/driver-zip.ts";
import { uncounted } from "../processor-time.ts";
import { makeDriver, makePrinter } from "../records.ts";

/** The PowerShell executable. */
export const program = process.env.PLATEN_PWSH || "pwsh";
const isFound = spawnSync(program, ["-NoProfile", "-Command", "exit 7"], { stdio: "ignore" }).status === 7;

/** Why tests that need PowerShell are skipped; false when it is installed. */
export const withoutPowerShell = isFound ? false : "no PowerShell here (PLATEN_PWSH, or pwsh on the path)";

/** Whether scripts run as they are served. */
const isWhole = process.env.DEEP === "1";

/** The initial state of a simulated machine. Missing values are those of a fresh, healthy machine. */
export interface Machine {
  Architecture?: "amd64" | "x86" | "arm64";
  ProcessArchitecture?: string;
  Wow64?: string;
  Admin?: boolean;
  Spooler?: { Status: string; StartType: string };
  Queues?: Record<string, unknown>[];
  Ports?: Record<string, unknown>[];
  /** `IsStored`: its package is in the driver store, so scripts can save it. */
  Drivers?: { Name: string; Version: string; Date: string; IsStored?: boolean }[];
  Users?: string[];
  Registry?: Record<string, Record<string, unknown>>;
  [quirk: string]: unknown;
}

export interface RunResult {
  readonly code: number;
  readonly output: string[];
  readonly errors: string[];
  readonly calls: string[];
  readonly log: string;
  /** Folders of the log files, relative to the folder of the simulation. */
  readonly logFolders: readonly string[];
  /** Number of files and folders left in the temporary folder. */
  readonly left: number;
  readonly machine: {
    readonly Queues: Record<string, unknown>[];
    readonly Ports: Record<string, unknown>[];
    readonly Drivers: { Name: string; Version: string }[];
    readonly Store: string[];
    readonly Publishers: string[];
    readonly Spooler: { Status: string };
    readonly Registry: Record<string, Record<string, unknown>>;
    readonly Restarts: number;
    readonly Downloads: number;
    /** URLs of all downloads. */
    readonly Requested: string[];
    /** Milliseconds of simulated time since the machine was set. */
    readonly Slept: number;
    readonly Clipboard: string;
  };
}

/** A PowerShell process with a simulated Windows. */
export class Simulation {
  readonly folder = mkdtempSync(join(tmpdir(), "platen-pwsh-"));
  /** PowerShell and its answers; it starts with the first request. */
  #shell: { readonly process: ChildProcess; readonly answers: AsyncIterator<string> } | undefined;
  #requests = 0;
  #wow64 = "";
  #processArchitecture = "AMD64";

  #start() {
    const script = resolve("test/powershell/simulate.ps1");
    const places = ["-Folder", this.folder, "-Build", resolve(".build")];
    const args = ["-NoProfile", "-NonInteractive", "-File", script, ...places];
    const process = spawn(program, args, { stdio: ["pipe", "pipe", "inherit"] });
    // `request` reports the end of PowerShell when its output ends.
    process.stdin.on("error", () => {});
    return { process, answers: createInterface({ input: process.stdout })[Symbol.asyncIterator]() };
  }

  /** @throws when PowerShell ended or the request failed in it */
  async request<T>(request: Record<string, unknown>): Promise<T> {
    // The first requests start PowerShell and let it compile its own code.
    return this.#requests++ < 5 ? uncounted(this.#ask<T>(request)) : this.#ask<T>(request);
  }

  async #ask<T>(request: Record<string, unknown>): Promise<T> {
    this.#shell ??= this.#start();
    this.#shell.process.stdin?.write(`${JSON.stringify(request)}\n`);
    const { value, done } = await this.#shell.answers.next();
    if (done) throw new Error("PowerShell ended");
    const answer = JSON.parse(value);
    if (answer.failed !== undefined) throw new Error(answer.failed);
    return answer as T;
  }

  /** Replaces the machine. */
  async setMachine(machine: Machine = {}): Promise<void> {
    this.#wow64 = machine.Wow64 ?? "";
    this.#processArchitecture = machine.ProcessArchitecture ?? "AMD64";
    await this.request({ do: "machine", machine: this.#withFile({ ...freshMachine(), ...machine }) });
  }

  /** Changes the machine between two runs. Registry values are added to the existing ones. */
  async changeMachine(values: Record<string, unknown>): Promise<void> {
    await this.request({ do: "change", values: this.#withFile(values) });
  }

  /** Writes the bytes that are downloaded to a file. */
  #withFile(values: Record<string, unknown>): Record<string, unknown> {
    if (!(values.Download instanceof Uint8Array)) return values;
    const Download = join(this.folder, "download");
    writeFileSync(Download, values.Download);
    return { ...values, Download };
  }

  /** Runs a script of a deployment, with the driver's files beside it unless `withoutFiles`. */
  async run(kind: ScriptKind, what: Deployed, options: RunOptions = {}): Promise<RunResult> {
    const { settings, drivers } = packageParts(what);
    const folder = join(this.folder, "package");
    rmSync(folder, { recursive: true, force: true });
    await mkdir(folder);
    if (options.withoutFiles !== true) await writeDrivers(folder, drivers, options.inf);
    for (const [name, content] of Object.entries(options.files ?? {}))
      await writeFile(join(folder, name), content);
    const script = join(folder, `${kind}.ps1`);
    const isServed = isWhole || options.asServed === true;
    const text = isServed ? renderWithSettings(kind, settings) : await this.#withoutSettings(kind, settings);
    await writeFile(script, text);
    const result = await this.#runFile(script, options);
    // Intune takes any output on STDERR for a failure.
    assert.deepEqual(result.errors, [], `${kind}: ${result.output.join(" ")}`);
    return result;
  }

  /**
   * The script with its settings in a file of their own: PowerShell keeps a script that it has compiled, as long as path and
   * text are the same. The deep tier runs whole scripts.
   */
  async #withoutSettings(kind: ScriptKind, settings: ScriptSettings): Promise<Buffer> {
    const template = templateOf(kind, settings);
    const path = join(this.folder, "settings.ps1");
    await writeFile(path, `\ufeff${settingsBlock(kind, template, settings)}`);
    return Buffer.concat([template.before, Buffer.from(`. '${path}'\r\n`), template.after]);
  }

  /** As `run`, but the exit code must be 0. */
  async runSuccessfully(...args: Parameters<Simulation["run"]>): Promise<RunResult> {
    const result = await this.run(...args);
    assert.equal(result.code, 0, result.output.join(" "));
    return result;
  }

  /** Runs text as if it were pasted into a console. */
  paste(text: string): Promise<RunResult> {
    return this.runText(text);
  }

  /** Runs a script. */
  async runText(text: string | Buffer, options: RunOptions = {}): Promise<RunResult> {
    const script = join(this.folder, "text.ps1");
    await writeFile(script, text);
    return this.#runFile(script, options);
  }

  #runFile(script: string, options: RunOptions = {}): Promise<RunResult> {
    const [wow64, processArchitecture] = [this.#wow64, this.#processArchitecture];
    return this.request({ do: "run", script, wow64, processArchitecture, failWith: "error", ...options });
  }

  /** Installs on a new machine; installation and detection must succeed. */
  async install(machine: Machine, office: Deployed = deployable()): Promise<RunResult> {
    await this.setMachine(machine);
    const result = await this.runSuccessfully("install", office);
    await this.runSuccessfully("detect", office);
    return result;
  }

  close(): void {
    this.#shell?.process.stdin?.end();
    this.#shell?.process.kill();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

export interface RunOptions {
  /** A parameter may be `{ Secure: text }`. */
  readonly parameters?: Record<string, unknown>;
  /** The call that fails: its number from 1, its name, or `after` and the name of the one before it. */
  readonly failAt?: number | string;
  /** `error`: only this call fails; `cut`: all later calls fail too, as after a power cut. */
  readonly failWith?: "error" | "cut";
  readonly withoutFiles?: boolean;
  /** Further files beside the script, by name. */
  readonly files?: Readonly<Record<string, string>>;
  /** Runs the script as it is served, also in the quick tier. */
  readonly asServed?: boolean;
  /** Replaces the driver's INF. */
  readonly inf?: Buffer;
}

async function writeDrivers(folder: string, drivers: PackageParts["drivers"], inf?: Buffer): Promise<void> {
  for (const { driver, folder: name } of drivers) {
    if (isWindowsDriver(driver)) continue;
    const root = join(folder, name);
    const path = join(root, driver.inf_path);
    const summary = driver.report.infs[0];
    await mkdir(join(path, ".."), { recursive: true });
    const version = summary?.driverVer ?? undefined;
    const decoration = shippedBy(summary).map((name) => `NT${name}`);
    const models = summary?.descriptions ?? [];
    const text = printerInf({ models, decoration: decoration.join(), ...(version ?? {}) });
    await writeFile(path, inf ?? text);
    for (const catalog of summary?.catalogFiles ?? []) await writeFile(join(root, catalog), "catalog");
  }
}

const emptyLists =
  "Queues Drivers Store Users DeniedKeys Publishers Refuses Ignores Dependents Refusals Devices Answers".split(
    " ",
  );

const freshMachine = (): Machine => ({
  ...Object.fromEntries(emptyLists.map((name) => [name, []])),
  Architecture: "amd64",
  ProcessArchitecture: "AMD64",
  Admin: true,
  Spooler: { Status: "Running", StartType: "Automatic" },
  Ports: [{ Name: "LPT1:" }],
  Registry: {},
  WindowsDrivers: ["Microsoft PCL6 Class Driver", "Microsoft PS Class Driver", "Generic / Text Only"],
  IppMonitor: "WSD Port Monitor",
  WrongUrl: "nothing",
  PrintLog: { IsEnabled: false, Events: [] },
  Network: { Names: {}, Tcp: {}, Ipp: {}, Snmp: {} },
  Addresses: ["192.168.178.20"],
});

/** A printer with its driver. @param arm64Driver a second driver, with id 2 by default */
export function deployable(
  printer: Parameters<typeof makePrinter>[0] = {},
  driver: Parameters<typeof makeDriver>[0] = {},
  arm64Driver?: Parameters<typeof makeDriver>[0],
): Deployable {
  const second = arm64Driver && makeDriver({ id: 2, sha256: "b".repeat(64), ...arm64Driver });
  return { printer: makePrinter(printer), driver: makeDriver(driver), arm64Driver: second };
}
