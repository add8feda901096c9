import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { readConfig } from "../src/config.ts";
import { undoMs } from "../src/domain/deletion.ts";
import { maxRows } from "../src/domain/import/import-row.ts";
import { maxBulkPrinters } from "../src/domain/printers/bulk.ts";
import { iconLimitBytes } from "../src/domain/printers/icon.ts";
import { preferencesLimitBytes } from "../src/domain/printers/preferences.ts";
import { ticketLimitBytes } from "../src/domain/printers/print-ticket.ts";
import { sddlRule } from "../src/domain/printers/sddl.ts";
import { maxSubnets } from "../src/domain/subnet.ts";
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
import { maxAnswerBytes } from "../src/services/access/oidc.ts";
import { maxUnknownBrowsers } from "../src/services/access/passwords.ts";
import { maxInnerArchives } from "../src/services/drivers/inspect-upload.ts";
import { maxChosenPrinters } from "../src/services/printers/printer-group.ts";
import { maxPerAccount } from "../src/store/access/sessions.ts";
import { maxTokens } from "../src/store/access/tokens.ts";
import { databaseLimitBytes, maxRecords, undoLimitBytes } from "../src/store/record-limits.ts";
import { Quota } from "../src/workers/admission.ts";
import { inspectionLimits } from "../src/workers/inspections.ts";

/** The limit in each row of the page. */
const limits = {
  "open connections": defaultLimits.connections,
  "request line and headers": bytes(headLimits.bytes),
  "request headers": headLimits.headers,
  "time for all headers to arrive": time(defaultLimits.headMs),
  "least request body per minute": bytes((defaultLimits.minBodyBytes * 60_000) / defaultLimits.slowMs),
  "time a client may stop reading": time(defaultLimits.stalledMs),
  "pages in work or waiting": defaultLimits.pages,
  "downloads at once": defaultLimits.downloads,
  "time for downloads when Platen stops": time(shutdownTimeoutMs),
  form: bytes(formLimitBytes),
  "printer form, with PrintTicket": bytes(printerFormLimitBytes),
  PrintTicket: bytes(ticketLimitBytes),
  icon: bytes(iconLimitBytes),
  "vendor preferences": bytes(preferencesLimitBytes),
  "subnets per printer or client": maxSubnets,
  "characters of queue permissions": sddlRule.maxLength,
  "import list": bytes(listLimitBytes),
  "printers per import": maxRows,
  "printers per bulk change": maxBulkPrinters,
  "printers per package": maxChosenPrinters,
  printers: maxRecords.printers,
  clients: maxRecords.clients,
  drivers: maxRecords.drivers,
  database: bytes(databaseLimitBytes),
  "database size at which changes can be undone": bytes(undoLimitBytes),
  "time to undo a deletion or change": time(undoMs),
  "upload (`UPLOAD_LIMIT_MB`)": bytes(readConfig({}).uploadLimitBytes),
  "uploads in work or waiting": inspectionLimits.max,
  "time to read an archive, plus 1 s per 32 MB": time(inspectionLimits.timeMs),
  "files per archive": entryLimit,
  "unpacked archive": bytes(unpackedLimitBytes),
  "unpacked size divided by ZIP size": bombRatio,
  "characters per path in an archive": maxPathLength,
  "INF files per archive": infCountLimit,
  "files in a ZIP that are tried as inner ZIPs": maxInnerArchives,
  "INF file": bytes(infLimitBytes),
  "lines per INF file": lineLimit,
  "languages per INF file": languageLimit,
  "all INF files of an archive": bytes(infsLimitBytes),
  "waiting sign-ins of new browsers": maxUnknownBrowsers,
  "sessions per account": maxPerAccount,
  tokens: maxTokens,
  links: maxRecords.links,
  accounts: maxRecords.accounts,
  "answer of an OpenID Connect provider": bytes(maxAnswerBytes),
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
  const [table = ""] = readFileSync("docs/limits.md", "utf8").split("\n## ");
  const rows = table
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

test("docs/limits.md has the beginning of every message with status 503", () => {
  const [, table = ""] = readFileSync("docs/limits.md", "utf8").split("## What a 503 says");
  const written = [...table.matchAll(/^\| ([A-Z][^|]+?) +\|/gm)].map(([, text = ""]) => text);
  const sources = readdirSync("src", { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts"))
    .map((name) => readFileSync(join("src", name), "utf8"))
    .join("\n");
  const own = [...sources.matchAll(/"([A-Z][^"$]+ Try again[^"]*\.)"/g)].map(([, text = ""]) => text);
  const ofQuotas = [...sources.matchAll(/new Quota\([\w.#]+, "([^"]+)"/g)].map(
    ([, what = ""]) => new Quota(0, what).refusal,
  );

  const messages = [...own, ...ofQuotas];

  assert.ok(own.length > 2 && ofQuotas.length > 5);
  assert.deepEqual(
    messages.filter((message) => !written.some((text) => message.startsWith(text))),
    [],
    "not in the document",
  );
  assert.deepEqual(
    written.filter((text) => !messages.some((message) => message.startsWith(text))),
    [],
    "not in the sources",
  );
});
