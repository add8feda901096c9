import { getOrAdd } from "../domain/collections.ts";
import type { RequestEntry } from "../domain/log.ts";
import type { Store } from "../store/store.ts";
import type { Inspections } from "../workers/inspections.ts";
import type { Workers } from "../workers/pool.ts";
import type { BackupKeeper } from "./backup/backup-keeper.ts";

/** Upper limits of the latencies' buckets, in seconds: from a page to a driver over a slow line. */
const bucketSeconds = [0.01, 0.05, 0.1, 0.5, 1, 5, 30, 300];

interface MetricsOptions {
  readonly store: Store;
  readonly backups: BackupKeeper;
  readonly workers: Workers;
  readonly inspections: Inspections;
  /** UTC, milliseconds since 1970. */
  readonly clock: () => number;
  readonly version: string;
}

interface Answers {
  readonly method: string;
  readonly route: string;
  readonly status: number;
  count: number;
  bytes: number;
}

interface Latencies {
  readonly method: string;
  readonly route: string;
  /** One for each bucket: the answers that took at most its seconds. */
  readonly counts: number[];
  count: number;
  seconds: number;
}

interface Sample {
  readonly labels?: Readonly<Record<string, string | number>>;
  readonly value: number;
  /** Added to the metric's name. */
  readonly suffix?: string;
}

/** Counts requests, and shows the service's figures in Prometheus' text format 0.0.4. */
export class Metrics {
  readonly #options: MetricsOptions;
  /** By method, route and status. */
  readonly #answers = new Map<string, Answers>();
  /** By method and route. */
  readonly #latencies = new Map<string, Latencies>();

  constructor(options: MetricsOptions) {
    this.#options = options;
  }

  record({ method: sent, route, status, bytes, ms }: RequestEntry): void {
    const method = knownMethods.has(sent) ? sent : "other";
    const answers = getOrAdd(this.#answers, `${method} ${route} ${status}`, () => ({
      method,
      route,
      status,
      count: 0,
      bytes: 0,
    }));
    answers.count++;
    answers.bytes += bytes;
    const latencies = getOrAdd(this.#latencies, `${method} ${route}`, () => ({
      method,
      route,
      counts: bucketSeconds.map(() => 0),
      count: 0,
      seconds: 0,
    }));
    latencies.count++;
    latencies.seconds += ms / 1000;
    for (const [i, limit] of bucketSeconds.entries())
      if (ms / 1000 <= limit) latencies.counts[i] = (latencies.counts[i] ?? 0) + 1;
  }

  /** The whole answer to a scrape. */
  async text(): Promise<string> {
    const { store, backups, workers, inspections, clock, version } = this.#options;
    const { databaseBytes, driverBytes, freeBytes } = await store.sizes();
    const { rss, heapUsed } = process.memoryUsage();
    const lastBackup = Math.max(0, ...backups.list().map(({ savedAt }) => savedAt));
    const lines = [
      metric("platen_info", "gauge", "The version that runs.", [{ labels: { version }, value: 1 }]),
      ...this.#ofRequests(),
      counter("platen_encryptions_total", "Drivers encrypted for Intune packages.", workers.encryptions),
      counter("platen_inspections_total", "Driver ZIPs inspected.", inspections.begun),
      gauge("platen_inspections_running", "Driver ZIPs being inspected.", inspections.running),
      gauge("process_resident_memory_bytes", "Memory of the process.", rss),
      gauge("platen_heap_bytes", "V8’s heap of the main thread.", heapUsed),
      gauge(
        "process_start_time_seconds",
        "Start of the process, seconds since 1970.",
        Math.round(clock() / 1000 - process.uptime()),
      ),
      gauge("platen_database_bytes", "Size of the database.", databaseBytes),
      gauge("platen_driver_bytes", "Size of all driver ZIPs.", driverBytes),
      gauge("platen_disk_free_bytes", "Free space of the data folder’s disk.", freeBytes),
      gauge(
        "platen_last_backup_age_seconds",
        "Age of the newest kept state of the database.",
        lastBackup === 0 ? undefined : Math.round((clock() - lastBackup) / 1000),
      ),
      gauge(
        "platen_backup_failed",
        "1 if the last state could not be kept.",
        backups.failure() === undefined ? 0 : 1,
      ),
    ];
    return lines.join("");
  }

  #ofRequests(): string[] {
    const answers = [...this.#answers.values()];
    const samples = (value: (one: Answers) => number): Sample[] =>
      answers.map((one) => {
        const { method, route, status } = one;
        return { labels: { method, route, status }, value: value(one) };
      });
    const succeeded = (method: string, pattern: RegExp) =>
      answers
        .filter((one) => one.method === method && one.status === 200 && pattern.test(one.route))
        .reduce((sum, { count }) => sum + count, 0);
    const latencies = [...this.#latencies.values()].flatMap(samplesOf);
    return [
      metric(
        "platen_requests_total",
        "counter",
        "Answered requests.",
        samples(({ count }) => count),
      ),
      metric(
        "platen_sent_bytes_total",
        "counter",
        "Bytes sent, with headers.",
        samples(({ bytes }) => bytes),
      ),
      metric(
        "platen_request_seconds",
        "histogram",
        "Seconds from a request to its answer’s last byte.",
        latencies,
      ),
      counter("platen_uploads_total", "Drivers received.", succeeded("POST", /^\/drivers\/upload$/)),
      counter(
        "platen_packages_total",
        "Packages sent from beginning to end.",
        succeeded("GET", /\/packages\/:format$/),
      ),
    ];
  }
}

const knownMethods: ReadonlySet<string> = new Set(["GET", "HEAD", "POST", "DELETE"]);

function samplesOf({ method, route, counts, count, seconds }: Latencies): Sample[] {
  const buckets = bucketSeconds.map((le, i) => ({ le: String(le), value: counts[i] ?? 0 }));
  return [
    ...[...buckets, { le: "+Inf", value: count }].map(({ le, value }) => ({
      suffix: "_bucket",
      labels: { method, route, le },
      value,
    })),
    { suffix: "_sum", labels: { method, route }, value: seconds },
    { suffix: "_count", labels: { method, route }, value: count },
  ];
}

function counter(name: string, help: string, value: number): string {
  return metric(name, "counter", help, [{ value }]);
}

/** @param value undefined if it is not known: the metric is left out */
function gauge(name: string, help: string, value: number | undefined): string {
  return value === undefined ? "" : metric(name, "gauge", help, [{ value }]);
}

function metric(name: string, type: string, help: string, samples: readonly Sample[]): string {
  const lines = samples.map(({ labels = {}, value, suffix = "" }) => {
    const pairs = Object.entries(labels).map(([label, text]) => `${label}="${text}"`);
    return `${name}${suffix}${pairs.length === 0 ? "" : `{${pairs.join(",")}}`} ${value}\n`;
  });
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines.join("")}`;
}
