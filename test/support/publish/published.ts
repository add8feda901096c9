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
  Package: {
    Url: string;
    ETag: string;
    FileName: string;
    Size: number;
    DetectionSha256: string;
  };
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
  Records: {
    Printers: number[];
    Clients: number[];
    Drivers: number[];
    LastPrinter: number;
    LastClient: number;
    LastDriver: number;
  } | null;
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

/** The settings block of a script: where it starts and ends, and its value. */
export function findBlock(script: string): { start: number; end: number; value: Literal } {
  const start = script.indexOf("$Settings = ");
  assert.ok(start > 0, "the script has no settings");
  const literalAt = start + "$Settings = ".length;
  const reader = new LiteralReader(script.slice(literalAt));
  const value = reader.value();
  return { start, end: literalAt + reader.at, value };
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

/** Reads the literals of settings blocks, and no other PowerShell. */
class LiteralReader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  /** The index behind what was read. */
  get at(): number {
    return this.#at;
  }

  value(): Literal {
    this.#skip(/\s*/y);
    if (this.#takes("@{")) return this.#table();
    if (this.#takes("@(")) return this.#list();
    if (this.#takes("(-join (")) return this.#joined();
    if (this.#takes("$true")) return true;
    if (this.#takes("$false")) return false;
    if (this.#takes("$null")) return null;
    if (this.#takes("@'\r\n")) return this.#hereString();
    const number = this.#skip(/-?\d+/y);
    return number === "" ? this.#quoted() : Number(number);
  }

  #table(): Literal {
    const table: { [key: string]: Literal } = {};
    for (;;) {
      this.#skip(/\s*/y);
      if (this.#takes("}")) return table;
      const key = this.#skip(/\w+ = /y).slice(0, -" = ".length);
      assert.ok(key !== "" && !(key in table), `“${key}” is no key`);
      table[key] = this.value();
    }
  }

  #list(): Literal {
    const list: Literal[] = [];
    for (;;) {
      this.#skip(/[\s,]*/y);
      if (this.#takes(")")) return list;
      list.push(this.value());
    }
  }

  #joined(): string {
    let text = "";
    for (;;) {
      this.#skip(/[ ,]*/y);
      if (this.#takes("))")) return text;
      if (this.#takes("[char]0x"))
        text += String.fromCharCode(Number.parseInt(this.#skip(/[0-9A-F]{4}/y), 16));
      else if (this.#takes('"')) text += this.#breaks();
      else text += this.#quoted();
    }
  }

  #breaks(): string {
    const escapes = this.#skip(/(?:`[nt])+"/y);
    assert.ok(escapes !== "", "line feeds and tabs alone stand in double quotes");
    return escapes.slice(0, -1).replaceAll("`n", "\n").replaceAll("`t", "\t");
  }

  /** A here-string keeps the line ends of the file. */
  #hereString(): string {
    const end = this.#text.indexOf("\r\n'@", this.#at);
    const text = this.#text.slice(this.#at, end);
    this.#at = end + "\r\n'@".length;
    return text;
  }

  #quoted(): string {
    const found = this.#skip(/'(?:[^']|'')*'/y);
    assert.ok(found !== "", `no value: ${this.#text.slice(this.#at, this.#at + 40)}`);
    return found.slice(1, -1).replaceAll("''", "'");
  }

  #takes(text: string): boolean {
    if (!this.#text.startsWith(text, this.#at)) return false;
    this.#at += text.length;
    return true;
  }

  #skip(pattern: RegExp): string {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text)?.[0] ?? "";
    this.#at += found.length;
    return found;
  }
}
