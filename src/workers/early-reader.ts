import type { InspectionProcess } from "./inspection-process.ts";

/** What an upload has to bring in a time, or else it gives its process to the next one. */
const slowBytes = 4 * 1024 * 1024;

export interface EarlyLimits {
  /** An upload is read while it arrives as soon as it has so many bytes: less is read sooner than a process starts. */
  readonly earlyBytes: number;
  /** An upload that brings less than 4 MiB in so many milliseconds gives its process to the next one. */
  readonly earlyIdleMs: number;
}

interface Reading {
  readonly path: string;
  readonly process: InspectionProcess;
  /** When it last had `slowBytes` more than before, and how many it had then. */
  since: number;
  sinceBytes: number;
}

/**
 * Has uploads read while they arrive: one at a time, by a process that later does its inspection. Nothing depends on
 * it: an upload that finds another one being read is read when it is complete.
 */
export class EarlyReader {
  readonly #start: () => InspectionProcess;
  readonly #limits: EarlyLimits;
  readonly #clock: () => number;
  /** Paths of uploads that had their chance. */
  readonly #known = new Set<string>();
  #reading: Reading | undefined;

  constructor(start: () => InspectionProcess, limits: EarlyLimits, clock = () => performance.now()) {
    this.#start = start;
    this.#limits = limits;
    this.#clock = clock;
  }

  /** Says that so many bytes of an upload can be read from its file. */
  arrived(path: string, bytes: number): void {
    if (bytes < this.#limits.earlyBytes) return;
    if (!this.#known.has(path)) {
      this.#known.add(path);
      this.#begin(path, bytes);
    }
    const reading = this.#reading;
    if (reading?.path !== path) return;
    reading.process.ask({ kind: "arrived", path, bytes });
    if (bytes - reading.sinceBytes < slowBytes) return;
    reading.since = this.#clock();
    reading.sinceBytes = bytes;
  }

  #begin(path: string, bytes: number): void {
    const { earlyIdleMs } = this.#limits;
    if (this.#reading?.process.isWaiting && this.#clock() - this.#reading.since < earlyIdleMs) return;
    this.#stop();
    try {
      this.#reading = { path, process: this.#start(), since: this.#clock(), sinceBytes: bytes };
    } catch {
      // The system has no process to spare: the upload goes on.
    }
  }

  /** The process that has read this upload so far, which is the caller's from now on; undefined where there is none. */
  take(path: string): InspectionProcess | undefined {
    if (this.#reading?.path !== path) return undefined;
    const { process } = this.#reading;
    this.#reading = undefined;
    return process.isWaiting ? process : undefined;
  }

  /** Ends whatever is done for an upload that broke off, or is done with. */
  gone(path: string): void {
    this.#known.delete(path);
    if (this.#reading?.path === path) this.#stop();
  }

  #stop(): void {
    this.#reading?.process.kill();
    this.#reading = undefined;
  }
}
