import {
  type AuditedEvent,
  type AuditedRecord,
  type DownloadedPrinter,
  type DownloadedRange,
  mostPrinters,
  type NotedEvent,
} from "../../domain/audit.ts";
import { type Actor, currentActor, itself } from "./actor.ts";

/** What there is to say of an event that changes no record. */
export interface Noted {
  readonly record?: AuditedRecord | undefined;
  /** In few words. */
  readonly what?: string;
  /** The same in words that whoever asks cannot choose: it is counted by them where it comes too often. */
  readonly countedAs?: string;
  readonly range?: DownloadedRange | undefined;
  /** Whoever asked, unless this says who it was. */
  readonly actor?: Actor;
}

/** A download that goes out. */
export interface AuditedDownload {
  readonly actor?: Actor;
  readonly record?: AuditedRecord | undefined;
  readonly what: string;
  /** A class of clients. */
  readonly by: string;
  /** Names its bytes. */
  readonly digest: string;
  /** Those that it holds. */
  readonly printers?: readonly DownloadedPrinter[] | undefined;
}

/** What happened, and what it is counted as where that comes too often. */
export function notedEvent(
  at: number,
  event: NotedEvent,
  { actor = currentActor(), countedAs, range, ...noted }: Noted,
): readonly [whole: AuditedEvent, counted: AuditedEvent] {
  const whole = { at, ...actor, event, ...noted, ...(range && { range }) };
  return [whole, countedAs === undefined ? whole : { ...whole, what: countedAs }];
}

/** A download of which the first byte goes out. @param range the part that was asked for */
export function begunEvents(
  at: number,
  { actor = currentActor(), printers, ...download }: AuditedDownload,
  range?: DownloadedRange,
): AuditedEvent[] {
  const whole = { at, ...actor, event: "download-begun", ...download, ...(range && { range }) } as const;
  if (printers === undefined) return [whole];
  const events: AuditedEvent[] = [];
  for (let from = 0; from < printers.length; from += mostPrinters)
    events.push({ ...whole, printers: printers.slice(from, from + mostPrinters) });
  return events;
}

/** The same when its client was sent all of it. */
export function sentEvent({ range, ...begun }: AuditedEvent): AuditedEvent {
  return { ...begun, event: "downloaded" };
}

/** What there was no room for. */
export function lossOf(at: number, count: number): AuditedEvent {
  return { at, ...itself, event: "entries-lost", what: "there was no room in memory to keep them", count };
}
