import type { IncomingMessage } from "node:http";
import type { DeployedPrinter } from "../domain/download.ts";
import type { Download } from "./reply.ts";
import type { RequestContext } from "./router.ts";

/**
 * A download that counts for its printers as soon as its last byte is out.
 * @param what a format of packages or a kind of scripts
 */
export function counting(
  { app, request }: RequestContext,
  what: string,
  printers: readonly DeployedPrinter[],
  download: Download,
): Download {
  return { ...download, onSent: () => app.deployments.downloaded(printers, what, whoOf(request)) };
}

/** A class of clients, no more of them: PowerShell, which calls itself Mozilla too, is a script. */
function whoOf({ headers }: IncomingMessage): "browser" | "script" {
  const agent = headers["user-agent"] ?? "";
  return /^Mozilla\//.test(agent) && !/powershell/i.test(agent) ? "browser" : "script";
}
