import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { readConfig } from "../src/config.ts";
import { undoMs } from "../src/domain/deletion.ts";
import { mostRows } from "../src/domain/import/import-row.ts";
import { mostAtOnce } from "../src/domain/printers/bulk.ts";
import { iconLimitBytes } from "../src/domain/printers/icon.ts";
import { ticketLimitBytes } from "../src/domain/printers/print-ticket.ts";
import { mostSubnets } from "../src/domain/subnet.ts";
import { listLimitBytes } from "../src/http/import/import.ts";
import { defaultLimits } from "../src/http/requests/limits.ts";
import { formLimitBytes, printerFormLimitBytes } from "../src/http/requests/multipart.ts";
import { headLimits } from "../src/http/requests/request-heads.ts";
import { infLimitBytes, languageLimit } from "../src/inf/document.ts";
import { infCountLimit, infsLimitBytes } from "../src/inf/entries.ts";
import { lineLimit } from "../src/inf/lines.ts";
import { bombRatio, unpackedLimitBytes } from "../src/pkg/zip/archive.ts";
import { entryLimit } from "../src/pkg/zip/archive-directory.ts";
import { maxPathLength } from "../src/pkg/zip/archive-names.ts";
import { shutdownTimeoutMs } from "../src/serve.ts";
import { mostStrangers } from "../src/services/access/passwords.ts";
import { chosenLimit } from "../src/services/printers/printer-group.ts";
import { mostPerAccount } from "../src/store/access/sessions.ts";
import { mostTokens } from "../src/store/access/tokens.ts";
import { databaseLimitBytes, mostRecords } from "../src/store/record-limits.ts";
import { usualLimits } from "../src/workers/inspections.ts";

/** What each row of the page stands for. */
const limits = {
  "open connections": defaultLimits.connections,
  "a request's line and headers": bytes(headLimits.bytes),
  "headers of a request": headLimits.headers,
  "time until a request's head is complete": time(defaultLimits.headMs),
  "a request's body, at least, in a minute": bytes(
    (defaultLimits.leastBytes * 60_000) / defaultLimits.slowMs,
  ),
  "time in which a client takes nothing of its answer": time(defaultLimits.stalledMs),
  "pages that are made or wait for it": defaultLimits.pages,
  "downloads that are being sent": defaultLimits.downloads,
  "time that downloads have when the service stops": time(shutdownTimeoutMs),
  "a form": bytes(formLimitBytes),
  "a printer's form, with its PrintTicket": bytes(printerFormLimitBytes),
  "a PrintTicket": bytes(ticketLimitBytes),
  "an icon": bytes(iconLimitBytes),
  "subnets of a printer or client": mostSubnets,
  "a list to import": bytes(listLimitBytes),
  "printers in a list": mostRows,
  "printers changed at once": mostAtOnce,
  "printers in one package": chosenLimit,
  printers: mostRecords.printers,
  clients: mostRecords.clients,
  drivers: mostRecords.drivers,
  "the database": bytes(databaseLimitBytes),
  "time to undo a deletion": time(undoMs),
  "an upload, unless `UPLOAD_LIMIT_MB` says otherwise": bytes(readConfig({}).uploadLimitBytes),
  "uploads that are read or wait for it": usualLimits.most,
  "time to read an archive, and a second more for each 32 MB": time(usualLimits.timeMs),
  "files in an archive": entryLimit,
  "an archive's files, unpacked": bytes(unpackedLimitBytes),
  "the same, as a multiple of the archive": bombRatio,
  "characters of a path in an archive": maxPathLength,
  "INF files of an archive": infCountLimit,
  "an INF file": bytes(infLimitBytes),
  "lines of an INF file": lineLimit,
  "languages of an INF file": languageLimit,
  "INF files of an archive together": bytes(infsLimitBytes),
  "sign-ins of new browsers that wait, half for one address": mostStrangers,
  "sessions of an account": mostPerAccount,
  tokens: mostTokens,
};

function bytes(count: number): string {
  return count >= 1 << 20 ? `${number(Math.floor(count / (1 << 20)))} MB` : `${number(count / 1024)} KB`;
}

function time(ms: number): string {
  return ms >= 60_000 ? `${ms / 60_000} min` : `${ms / 1000} s`;
}

function number(value: number): string {
  return value.toLocaleString("en-US");
}

test("docs/limits.md has the figures of the sources", () => {
  const rows = readFileSync("docs/limits.md", "utf8")
    .split("\n")
    .filter((line) => /^\| (?!what|---)/.test(line))
    .map((line) => line.split("|").map((cell) => cell.trim()));

  const written = Object.fromEntries(rows.map(([, what, figure]) => [what, figure]));

  const real = Object.entries(limits).map(([what, limit]) => [
    what,
    typeof limit === "number" ? number(limit) : limit,
  ]);
  assert.deepEqual(written, Object.fromEntries(real));
});
