import assert from "node:assert/strict";
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { shippedBy } from "../../../src/domain/drivers/driver.ts";
import { isWindowsOwn } from "../../../src/domain/drivers/windows-drivers.ts";
import type { Deployable } from "../../../src/pkg/scripts/deployment.ts";
import { renderSettings, type ScriptKind } from "../../../src/pkg/scripts/render.ts";
import { type Deployed, type PackageParts, partsOf } from "../audit/deployed.ts";
import { printerInf } from "../drivers/driver-zip.ts";
import { makeDriver, makePrinter } from "../records.ts";

/** The PowerShell that runs scripts here. */
export const program = process.env.PLATEN_PWSH || "pwsh";
const found = spawnSync(program, ["-NoProfile", "-Command", "exit 7"], { stdio: "ignore" }).status === 7;

/** Why a test that needs a real PowerShell is skipped; false where there is one. */
export const withoutPowerShell = found ? false : "no PowerShell here (PLATEN_PWSH, or pwsh on the path)";

/** What a simulated machine starts with; what is left out is that of a fresh, healthy one. */
export interface Machine {
  Architecture?: "amd64" | "x86" | "arm64";
  ProcessArchitecture?: string;
  Wow64?: string;
  Admin?: boolean;
  Spooler?: { Status: string; StartType: string };
  Queues?: Record<string, unknown>[];
  Ports?: Record<string, unknown>[];
  Drivers?: { Name: string; Version: string; Date: string }[];
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
  /** Where its files stand, below the folder of the simulated machine. */
  readonly logFolders: readonly string[];
  /** Files and folders left in the temporary folder. */
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
    /** The addresses that were asked. */
    readonly Requested: string[];
    readonly Slept: number;
    readonly Clipboard: string;
  };
}

/** A PowerShell process with a simulated Windows in it. */
export class Simulation {
  readonly folder = mkdtempSync(join(tmpdir(), "platen-pwsh-"));
  readonly #process: ChildProcess;
  readonly #answers: AsyncIterator<string>;
  #wow64 = "";
  #processArchitecture = "AMD64";

  constructor() {
    const script = resolve("test/powershell/simulate.ps1");
    const args = [
      "-NoProfile",
      "-NonInteractive",
      "-File",
      script,
      "-Folder",
      this.folder,
      "-Build",
      resolve(".build"),
    ];
    this.#process = spawn(program, args, { stdio: ["pipe", "pipe", "inherit"] });
    const { stdin, stdout } = this.#process;
    if (stdout === null) throw new Error("PowerShell has no output");
    // What cannot be asked since PowerShell ended is said by its answers' end.
    stdin?.on("error", () => {});
    this.#answers = createInterface({ input: stdout })[Symbol.asyncIterator]();
  }

  async ask<T>(request: Record<string, unknown>): Promise<T> {
    this.#process.stdin?.write(`${JSON.stringify(request)}\n`);
    const { value, done } = await this.#answers.next();
    if (done) throw new Error("PowerShell ended");
    const answer = JSON.parse(value);
    if (answer.failed !== undefined) throw new Error(answer.failed);
    return answer as T;
  }

  /** Puts a machine in place of the one before. */
  async machine(machine: Machine = {}): Promise<void> {
    this.#wow64 = machine.Wow64 ?? "";
    this.#processArchitecture = machine.ProcessArchitecture ?? "AMD64";
    await this.ask({ do: "machine", machine: { ...freshMachine(), ...machine } });
  }

  /** Changes the machine between two runs. */
  async change(values: Record<string, unknown>): Promise<void> {
    await this.ask({ do: "change", values });
  }

  /** Runs a script of a deployment, with the driver's files beside it unless that is told otherwise. */
  async run(kind: ScriptKind, what: Deployed, options: RunOptions = {}): Promise<RunResult> {
    const { settings, drivers } = partsOf(what);
    const folder = join(this.folder, "package");
    rmSync(folder, { recursive: true, force: true });
    await mkdir(folder);
    if (options.withoutFiles !== true) await writeDrivers(folder, drivers, options.inf);
    const script = join(folder, `${kind}.ps1`);
    await writeFile(script, renderSettings(kind, settings));
    const request = {
      wow64: this.#wow64,
      processArchitecture: this.#processArchitecture,
      failWith: "error",
      ...options,
    };
    const result = await this.ask<RunResult>({ do: "run", script, ...request });
    // Whatever happens, nothing goes to STDERR: Intune takes it for a failure.
    assert.deepEqual(result.errors, [], `${kind}: ${result.output.join(" ")}`);
    return result;
  }

  /** The same of a script that must work. */
  async done(...args: Parameters<Simulation["run"]>): Promise<RunResult> {
    const result = await this.run(...args);
    assert.equal(result.code, 0, result.output.join(" "));
    return result;
  }

  /** Runs a text as it is pasted into a console. */
  async paste(text: string): Promise<RunResult> {
    const script = join(this.folder, "pasted.ps1");
    await writeFile(script, text);
    const [wow64, processArchitecture] = [this.#wow64, this.#processArchitecture];
    return this.ask({ do: "run", script, wow64, processArchitecture, failWith: "error" });
  }

  /** Installs on a machine and expects it to work and to be detected. */
  async installed(machine: Machine, office: Deployed = deployable()): Promise<RunResult> {
    await this.machine(machine);
    const result = await this.done("install", office);
    await this.done("detect", office);
    return result;
  }

  close(): void {
    this.#process.stdin?.end();
    this.#process.kill();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

export interface RunOptions {
  readonly parameters?: Record<string, unknown>;
  /** The number of the call that fails. */
  readonly failAt?: number;
  /** `error`: the call fails; `cut`: so does everything after it, as when the power goes. */
  readonly failWith?: "error" | "cut";
  readonly withoutFiles?: boolean;
  /** The INF's bytes, where they are not the driver's own. */
  readonly inf?: Buffer;
}

async function writeDrivers(folder: string, drivers: PackageParts["drivers"], inf?: Buffer): Promise<void> {
  for (const { driver, folder: name } of drivers) {
    if (isWindowsOwn(driver)) continue;
    const root = join(folder, name);
    const path = join(root, driver.inf_path);
    const summary = driver.report.infs[0];
    await mkdir(join(path, ".."), { recursive: true });
    const version = summary?.driverVer ?? undefined;
    const decoration = shippedBy(summary)
      .map((name) => `NT${name}`)
      .join();
    const text = printerInf({ models: summary?.descriptions ?? [], decoration, ...(version ?? {}) });
    await writeFile(path, inf ?? text);
    for (const catalog of summary?.catalogFiles ?? []) await writeFile(join(root, catalog), "catalog");
  }
}

function freshMachine(): Machine {
  return {
    Architecture: "amd64",
    ProcessArchitecture: "AMD64",
    Wow64: "",
    Admin: true,
    Spooler: { Status: "Running", StartType: "Automatic" },
    Queues: [],
    Ports: [{ Name: "LPT1:" }],
    Drivers: [],
    Store: [],
    Users: [],
    Registry: {},
    DeniedKeys: [],
    Publishers: [],
    Refuses: [],
    Ignores: [],
    AddPrinterLies: 0,
    SetPrinterLies: false,
    PnpCode: 0,
    LingerMs: 0,
    BusyUntil: 0,
    SpoolerDiesAt: 0,
    SpoolerDiesForGood: false,
    SpoolerNeverStarts: false,
    SettlesAt: 0,
    DriverNeedsInf: false,
    DriverNeedsRestart: false,
    DriverNever: false,
    MutexHeld: false,
    CatalogUnsigned: false,
    Download: "",
    JobsDoneAt: 0,
    ListLeaving: false,
    IntuneFolder: false,
    LogsBlocked: false,
    Clipboard: "",
    Devices: [],
    WindowsDrivers: ["Microsoft PCL6 Class Driver", "Microsoft PS Class Driver", "Generic / Text Only"],
    WithoutIppUrl: false,
    IppMonitor: "WSD Port Monitor",
    IgnoresQueueName: false,
    RenameRefused: false,
    DiesAfterAdd: false,
    WrongUrl: "nothing",
    PrintLog: { IsEnabled: false, Events: [] },
    Network: { Names: {}, Tcp: {}, Ipp: {}, Snmp: {} },
    RealNetwork: false,
    Addresses: ["192.168.178.20"],
    AddressesFail: false,
  };
}

/** A printer with its driver, both complete. @param arm64Driver a second driver, with another id */
export function deployable(
  printer: Parameters<typeof makePrinter>[0] = {},
  driver: Parameters<typeof makeDriver>[0] = {},
  arm64Driver?: Parameters<typeof makeDriver>[0],
): Deployable {
  const second = arm64Driver && makeDriver({ id: 2, sha256: "b".repeat(64), ...arm64Driver });
  return { printer: makePrinter(printer), driver: makeDriver(driver), arm64Driver: second };
}
