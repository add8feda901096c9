import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { startApp, type TestApp } from "../app.ts";
import { driverZip } from "../drivers/driver-zip.ts";

/** A value as a settings block writes it. */
type Literal = string | number | boolean | null | Literal[] | { [key: string]: Literal };

export interface ReadApp {
  Kind: string;
  Id: number;
  Revision: string;
  Package: { Url: string; ETag: string; FileName: string; Size: number; DetectionSha256: string };
  Fields: Record<string, string>;
  Notes: string;
  Detection: ReadScript;
  Requirement: ReadScript | null;
  Icon: string;
  DependsOn: string[];
}

interface ReadScript {
  Frame: string;
  Settings: string;
}

/** What a script publishes to one tenant. */
interface ReadPart {
  Title: string;
  Client: string;
  Tenant: string;
  Source: { Url: string; Apps: string; Records: string };
  Apps: ReadApp[];
  Attention: string[];
  LeftOut: { Name: string; Reason: string }[];
  Together: ReadApp | null;
  TogetherRefusal: string;
}

/** The settings of a script, with those of its first part. */
export interface ReadSettings extends ReadPart {
  LogName: string;
  Instance: string;
  IsForAll: boolean;
  Made: string;
  Frames: Record<string, { Before: string; After: string }>;
  Icons: Record<string, string>;
  Clients: ReadPart[];
  Records:
    | (Record<"Printers" | "Clients" | "Drivers", number[]> &
        Record<"LastPrinter" | "LastClient" | "LastDriver", number>)
    | null;
}

/** Reads the settings block of a publish script, with the settings of its first part beside the others. */
export function readSettings(script: string): ReadSettings {
  const settings = readBlock(script);
  return { ...settings, ...(settings.Clients[0] as ReadPart) };
}

/** Reads the settings block of a publish script as it is. */
export function readBlock(script: string): Omit<ReadSettings, keyof ReadPart> {
  return findBlock(script).value as unknown as ReadSettings;
}

const settingsStart = "$Settings = ";

/** The settings block of a script: where it starts and ends, and its value. It contains literals, and no other PowerShell. */
export function findBlock(script: string): { start: number; end: number; value: Literal } {
  const start = script.indexOf(settingsStart);
  assert.ok(start > 0, "the script has no settings");
  const tokens =
    /[\s,]*(@[{(]|\(-join \(|[})]|\w+ = |-?\d+|\$(?:true|false|null)|@'\r\n[\s\S]*?\r\n'@|'(?:[^']|'')*'|"(?:`[nt])+"|\[char\]0x[0-9A-F]{4})/y;
  tokens.lastIndex = start + settingsStart.length;
  const next = () => {
    const at = tokens.lastIndex;
    const [, token] = tokens.exec(script) ?? [];
    return token ?? assert.fail(`no literal: ${script.slice(at, at + 40)}`);
  };
  const value = readValue(next(), next);
  return { start, end: tokens.lastIndex, value };
}

function readValue(token: string, next: () => string): Literal {
  if (token === "@{") {
    const table: { [key: string]: Literal } = {};
    for (let key = next(); key !== "}"; key = next()) {
      const name = key.slice(0, -" = ".length);
      assert.ok(key.endsWith(" = ") && !(name in table), `“${key}” is no key`);
      table[name] = readValue(next(), next);
    }
    return table;
  }
  const items: Literal[] = [];
  if (token === "@(" || token === "(-join (")
    for (let each = next(); each !== ")"; each = next()) items.push(readValue(each, next));
  if (token === "@(") return items;
  if (token === "(-join (") {
    assert.equal(next(), ")");
    return items.join("");
  }
  if (/^-?\d+$/.test(token)) return Number(token);
  if (token.startsWith("$")) return JSON.parse(token.slice(1));
  return readText(token);
}

function readText(token: string): string {
  if (token.startsWith("'")) return token.slice(1, -1).replaceAll("''", "'");
  // A here-string keeps the line ends of the file.
  if (token.startsWith("@'")) return token.slice("@'\r\n".length, -"\r\n'@".length);
  if (token.startsWith("[char]")) return String.fromCharCode(Number(token.slice("[char]".length)));
  assert.ok(token.startsWith('"'), `“${token}” is no value`);
  return token.slice(1, -1).replaceAll("`n", "\n").replaceAll("`t", "\t");
}

/** A client “Müller” with two printers on one driver, one on another, and one that cannot be deployed. */
export async function appWithSharedDriver(t: TestContext): Promise<TestApp> {
  const app = await startApp(t);
  const { post, addDriver, addPrinter } = app;
  await post("/clients", { name: "Müller", subnets: "10.1.2.0/24" });
  const one = String(await addDriver(driverZip({ models: ["One A", "One B"] })));
  const two = String(await addDriver(driverZip({ models: ["Two"], version: "2.0.0.0" })));
  await addPrinter({ name: "A", client_id: "1", driver_id: one });
  await addPrinter({ name: "B", client_id: "1", driver_id: one, driver_desc: "One B" });
  await addPrinter({ name: "C", client_id: "1", driver_id: two });
  await post("/printers", { name: "Bare", client_id: "1", address: "10.0.0.1" });
  return app;
}

/** Downloads a publish script and reads its settings. */
export async function fetchPublishScript({ fetch }: Pick<TestApp, "fetch">, path: string) {
  const answer = await fetch(path);
  const text = await answer.text();
  assert.equal(answer.status, 200, text);
  return { answer, text, settings: readSettings(text) };
}

/** A script in the settings, put together from its template and its own settings. */
export function scriptText(settings: ReadSettings, script: ReadScript): string {
  const { Before = "", After = "" } = settings.Frames[script.Frame] ?? {};
  return [Before, script.Settings, After].join("\r\n");
}
