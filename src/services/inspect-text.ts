import { missingCountOf } from "../domain/driver.ts";
import type { Inspection } from "./inspect.ts";
import { reportOf } from "./inspect-report.ts";

const shown = 10;

/** What `inspect --text` prints: the same findings as the driver's page, for people. */
export function inspectionText(inspection: Inspection): string {
  const report = reportOf(inspection);
  const lines = [`${report.fileCount} files, ${report.totalBytes} bytes unpacked`, ...report.warnings];
  for (const inf of report.infs) {
    const mark = inf.path === report.printerInf ? " (the printer’s)" : "";
    lines.push("", `${inf.path}${mark}`);
    lines.push(`  class          ${inf.class ?? "none"}${inf.driverModel ? `, ${inf.driverModel}` : ""}`);
    lines.push(`  provider       ${inf.provider ?? "not given"}`);
    lines.push(
      `  version        ${inf.driverVer ? `${inf.driverVer.version} of ${inf.driverVer.date}` : "not given"}`,
    );
    lines.push(`  architectures  ${inf.architectures.join(", ") || "none"}`);
    if (inf.notShipped.length > 0) lines.push(`  not shipped    ${inf.notShipped.join(", ")}`);
    lines.push(`  catalog        ${inf.catalogFiles.join(", ") || "none: unsigned"}`);
    lines.push(
      `  models         ${inf.descriptions.length} in ${inf.modelLines} lines${listed(inf.descriptions)}`,
    );
    if (inf.copyInf.length > 0) lines.push(`  brings along   ${inf.copyInf.join(", ")}`);
    lines.push(`  missing        ${missingCountOf(inf)}${listed(inf.missing, missingCountOf(inf))}`);
    lines.push(
      `  unused         ${inf.unused.count}, ${inf.unused.bytes} bytes${listed(inf.unused.paths, inf.unused.count)}`,
    );
  }
  return `${lines.join("\n")}\n`;
}

function listed(names: readonly string[], total = names.length): string {
  const rest = total > shown ? [`… and ${total - shown} more`] : [];
  return [...names.slice(0, shown), ...rest].map((name) => `\n                   ${name}`).join("");
}
