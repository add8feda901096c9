import { type InfSummary, missingCountOf } from "../../domain/drivers/driver.ts";
import type { Inspection } from "./inspect.ts";
import { reportOf } from "./inspect-report.ts";

const maxNames = 10;

/** The text that `inspect --text` prints, with the findings of the driver's page. */
export function inspectionText(inspection: Inspection): string {
  const report = reportOf(inspection);
  const lines = [`${report.fileCount} files, ${report.totalBytes} bytes unpacked`, ...report.warnings];
  if (report.unused !== undefined) {
    const { count, bytes, paths } = report.unused;
    lines.push(`unused by its printer INFs: ${count}, ${bytes} bytes${nameList(paths, count)}`);
  }
  for (const inf of report.infs) lines.push("", ...linesOf(inf, inf.path === report.printerInf));
  return `${lines.join("\n")}\n`;
}

function linesOf(inf: InfSummary, isPrinterInf: boolean): string[] {
  const version = inf.driverVer ? `${inf.driverVer.version} of ${inf.driverVer.date}` : "not given";
  const notShipped = inf.notShipped.length > 0 ? [`  not shipped    ${inf.notShipped.join(", ")}`] : [];
  const copyInf = inf.copyInf.length > 0 ? [`  brings along   ${inf.copyInf.join(", ")}`] : [];
  const { descriptions, unused } = inf;
  return [
    `${inf.path}${isPrinterInf ? " (the printer’s)" : ""}`,
    `  class          ${inf.class ?? "none"}${inf.driverModel ? `, ${inf.driverModel}` : ""}`,
    `  provider       ${inf.provider ?? "not given"}`,
    `  version        ${version}`,
    `  architectures  ${inf.architectures.join(", ") || "none"}`,
    ...notShipped,
    `  catalog        ${inf.catalogFiles.join(", ") || "none: unsigned"}`,
    `  models         ${descriptions.length} in ${inf.modelLines} lines${nameList(descriptions)}`,
    ...copyInf,
    `  missing        ${missingCountOf(inf)}${nameList(inf.missing, missingCountOf(inf))}`,
    `  unused         ${unused.count}, ${unused.bytes} bytes${nameList(unused.paths, unused.count)}`,
  ];
}

function nameList(names: readonly string[], total = names.length): string {
  const rest = total > maxNames ? [`… and ${total - maxNames} more`] : [];
  return [...names.slice(0, maxNames), ...rest].map((name) => `\n                   ${name}`).join("");
}
