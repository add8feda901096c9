import { createHash } from "node:crypto";
import { chosenInf } from "../domain/driver.ts";
import { driverRank } from "../domain/driver-version.ts";
import { UserError } from "../domain/errors.ts";
import { cleanText } from "../domain/fields.ts";
import type { ImportOptions, ImportPlan, Known } from "../domain/import-plan.ts";
import { planImport } from "../domain/import-planner.ts";
import type { ImportedList, ImportRow } from "../domain/import-row.ts";
import { KnownDrivers } from "../domain/known-drivers.ts";
import { readPrintServer } from "../domain/print-server.ts";
import { isTicketName, ticketName } from "../domain/print-ticket.ts";
import type { Printer } from "../domain/printer.ts";
import { readPrinterCsv } from "../domain/printer-csv-reader.ts";
import type { Store } from "../store/store.ts";
import { Admission } from "../workers/admission.ts";
import { planAndWrite } from "./one-moment.ts";
import { readRecords } from "./records.ts";
import { inSteps } from "./steps.ts";

/** A list of printers as it was sent, and what was asked for besides. */
export interface ImportSource extends ImportOptions {
  readonly text: string;
}

/** A plan, and what names its outcome: another plan of the same outcome has the same digest. */
export interface ImportPreview {
  readonly plan: ImportPlan;
  readonly digest: string;
}

/** What somebody agreed to. */
interface Agreement {
  /** Of the preview that was shown; undefined where none was. */
  readonly digest: string | undefined;
  readonly leavesWrongOut: boolean;
  /** Asks whether whoever agreed may do so still, right before anything is written. */
  readonly askAgain?: () => Promise<void>;
}

/** What became of an import; of one that was refused, nothing. */
type ImportOutcome = ImportPreview & { readonly refused: "stale" | "wrong" | undefined };

/** Lists that are worked on or wait for it. */
const mostWaiting = 16;

/** Brings printers from elsewhere. One list at a time is worked on: what that takes of memory is taken once. */
export class Imports {
  readonly #work: ImportWork;
  readonly #turns = new Admission(1, mostWaiting, "lists are being read");

  constructor(store: Store) {
    this.#work = new ImportWork(store);
  }

  /**
   * Does all that belongs to one list when it is its turn, unpacking it and showing it too.
   * @param client who sent it; half of those that wait may be of one
   * @throws UserError "busy" where too many wait, and what `work` throws
   */
  inTurn<T>(client: string, work: (imports: ImportWork) => Promise<T>): Promise<T> {
    return this.#turns.run(() => work(this.#work), client);
  }
}

/** What is done with a list while it is its turn. */
export class ImportWork {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  /** Says what an import would do. @throws UserError "invalid" where the list cannot be read */
  async preview(source: ImportSource): Promise<ImportPreview> {
    const list = await listOf(source);
    const { value } = await this.#store.atOneMoment(() => this.#plan(list, source));
    return value;
  }

  /** Does all of it or nothing, in one write. @throws UserError as `preview` does, and what `askAgain` throws */
  async run(source: ImportSource, agreement: Agreement): Promise<ImportOutcome> {
    const list = await listOf(source);
    const [store, planOf] = [this.#store, () => this.#plan(list, source)];
    function* plan(): Generator<undefined, ImportOutcome> {
      const preview = yield* planOf();
      return { ...preview, refused: refusalOf(preview, agreement) };
    }
    const changeOf = ({ plan: { rows }, refused }: ImportOutcome) => {
      const writes = rows.flatMap(({ write }) => write ?? []);
      return refused || writes.length === 0 ? undefined : () => store.manyPrinters.importAll(writes);
    };
    return planAndWrite(store, plan, changeOf, agreement.askAgain);
  }

  *#plan(list: ImportedList, options: ImportOptions): Generator<undefined, ImportPreview> {
    const known = yield* knownOf(this.#store, list);
    const plan = yield* planImport(list, known, options);
    return { plan, digest: yield* digestOf(plan) };
  }
}

async function listOf({ text, client }: ImportSource): Promise<ImportedList> {
  const [first] = text.trimStart();
  if (first === undefined) throw new UserError("invalid", "Choose a file, or paste the list.");
  const isJson = first === "{" || first === "[";
  return inSteps(isJson ? readPrintServer(text, client) : readPrinterCsv(text));
}

function refusalOf({ plan, digest }: ImportPreview, agreement: Agreement): ImportOutcome["refused"] {
  if (agreement.digest !== undefined && agreement.digest !== digest) return "stale";
  return plan.counts.wrong > 0 && !agreement.leavesWrongOut ? "wrong" : undefined;
}

/** Drivers' models stand in their reports, which may be large: each is read by itself. */
function* knownOf(store: Store, { rows }: ImportedList): Generator<undefined, Known> {
  const { printers, clients, drivers } = yield* readRecords(store);
  const wanted = new Set(
    rows.flatMap(({ values, driver, arm64Driver }) => {
      const hints = [driver, arm64Driver].flatMap((hint) => [hint?.model ?? "", hint?.title ?? ""]);
      const texts = [values.driver_desc ?? "", values.arm64_driver_desc ?? "", ...hints];
      return texts.map((text) => cleanText(text).toLowerCase());
    }),
  );
  wanted.delete("");
  const known = new KnownDrivers(wanted);
  const ranked = drivers.map((driver) => ({ driver, rank: driverRank(driver.listed?.driverVer ?? null) }));
  ranked.sort((a, b) => (a.rank === b.rank ? b.driver.id - a.driver.id : a.rank < b.rank ? 1 : -1));
  for (const { driver } of ranked) {
    yield;
    const whole = wanted.size === 0 ? undefined : store.drivers.find(driver.id);
    known.add(driver, (whole && chosenInf(whole)?.descriptions) ?? []);
  }
  const driversById = new Map(drivers.map((driver) => [driver.id, driver]));
  const tickets = yield* ticketsAmong(printers, rows);
  return { printers, clients, drivers: known, driversById, tickets };
}

/** Those that rows name, each by a printer that has it: the texts are large. */
function* ticketsAmong(
  printers: readonly Printer[],
  rows: readonly ImportRow[],
): Generator<undefined, Known["tickets"]> {
  const wanted = new Set(rows.map(({ ticket = "" }) => ticket.trim()).filter(isTicketName));
  const found = new Map<string, Printer>();
  for (const printer of printers) {
    if (found.size === wanted.size) break;
    const name = ticketName(printer.print_ticket);
    if (wanted.has(name) && !found.has(name)) found.set(name, printer);
    yield;
  }
  return found;
}

const rowsAStep = 100;

/** Of all that is written, and of what it was before. */
function* digestOf({ rows }: ImportPlan): Generator<undefined, string> {
  const hash = createHash("sha256");
  for (const [i, { mark, write, changes }] of rows.entries()) {
    if (i % rowsAStep === 0) yield;
    if (write === undefined) continue;
    const { settings, ...columns } = write;
    hash.update(`${JSON.stringify([mark, columns, changes])}\n${settings}\n`);
  }
  return hash.digest("hex");
}
