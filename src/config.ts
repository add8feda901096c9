import { resolve } from "node:path";
import { adminName } from "./domain/access/account.ts";
import { passwordProblem } from "./domain/access/password.ts";
import { type Proxies, readProxies } from "./domain/access/proxies.ts";
import { isLoopbackHost } from "./domain/address.ts";

/** A text that appears in no log, JSON or error; only `reveal` returns it. */
export class Secret {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  reveal(): string {
    return this.#text;
  }
}

/** The service's settings, from environment variables. */
export interface Config {
  /** `DATA_DIR`: the folder of the database, archives, icons and the installation's secret. */
  readonly dataDir: string;
  /** `PORT`; 0 for any free port. */
  readonly port: number;
  /** `HOST`: the address to listen on; undefined for all interfaces. */
  readonly host: string | undefined;
  /** `PUBLIC_URL`: the service's URL as clients see it, without a slash at the end. */
  readonly publicUrl: string | undefined;
  /** `ALLOWED_HOSTS`: further public host names of the service, in lower case. */
  readonly allowedHosts: readonly string[];
  /** `BACKUPS`: the number of daily backups of the database to keep; 0 switches backups off. */
  readonly backups: number;
  /** `AUDIT_DAYS`: days for which the audit log is kept. */
  readonly auditDays: number;
  /** `UPLOAD_LIMIT_MB`. */
  readonly uploadLimitBytes: number;
  /** `TRUSTED_PROXIES`, `REMOTE_USER_HEADER`, `REMOTE_GROUPS_HEADER`, `REMOTE_GROUPS`. */
  readonly proxies: Proxies;
  /** `ADMIN_PASSWORD`. It or `ADMIN_PASSWORD_FILE` turns sign-in on. */
  readonly adminPassword: Secret | undefined;
  /** `ADMIN_PASSWORD_FILE`. */
  readonly adminPasswordFile: string | undefined;
  /** `LINK_DAYS`: days for which links are valid, unless the user chooses another time. Only used if sign-in is on. */
  readonly linkDays: number;
}

/** Whether sign-in is on; otherwise everyone may do everything. */
export function needsSignIn(config: Config): boolean {
  return acceptsPasswords(config) || config.proxies.userHeader !== undefined;
}

/** Whether people can sign in at Platen itself, not only at a proxy. */
export function acceptsPasswords({ adminPassword, adminPasswordFile }: Config): boolean {
  return adminPassword !== undefined || adminPasswordFile !== undefined;
}

/** Whether only this machine can connect to the service. */
export function isLoopbackOnly({ host = "" }: Pick<Config, "host">): boolean {
  return isLoopbackHost(host);
}

/** Whether other machines can connect to the service and change everything without sign-in. */
export function isOpenToAll(config: Config): boolean {
  return !needsSignIn(config) && !isLoopbackOnly(config);
}

/** Whether sign-in is on and nobody can be administrator. */
export function lacksAdmin(config: Config): boolean {
  const hasAdminGroup = config.proxies.groups.some(({ role }) => role === "admin");
  return needsSignIn(config) && !acceptsPasswords(config) && !hasAdminGroup;
}

/** The settings that provide an administrator behind a proxy. */
export const adminRemedy =
  "REMOTE_GROUPS_HEADER with REMOTE_GROUPS=admin=GROUP,…, for a group of the proxy’s, or ADMIN_PASSWORD_FILE";

const defaults = {
  DATA_DIR: "./data",
  PORT: 8080,
  BACKUPS: 14,
  AUDIT_DAYS: 400,
  UPLOAD_LIMIT_MB: 1024,
  LINK_DAYS: 30,
} as const;

type Environment = Readonly<Record<string, string | undefined>>;

type IntegerSetting = "PORT" | "BACKUPS" | "AUDIT_DAYS" | "UPLOAD_LIMIT_MB" | "LINK_DAYS";

/** Every setting's variable, default and meaning, as `--help` prints them. */
export const settingsHelp: readonly (readonly [string, string, string])[] = [
  ["DATA_DIR", defaults.DATA_DIR, "folder for all data"],
  ["PORT", String(defaults.PORT), "TCP port to listen on"],
  ["HOST", "all interfaces", "address to listen on"],
  ["PUBLIC_URL", "none", "the service’s address as clients see it, such as https://platen.example"],
  ["ALLOWED_HOSTS", "none", "further public host names of the service, separated by commas"],
  ["BACKUPS", String(defaults.BACKUPS), "daily states of the database that are kept; 0 keeps none"],
  ["AUDIT_DAYS", String(defaults.AUDIT_DAYS), "days for which the audit log is kept, in whole months"],
  ["UPLOAD_LIMIT_MB", String(defaults.UPLOAD_LIMIT_MB), "largest driver ZIP, in MB (1 MB = 1,048,576 bytes)"],
  ["ADMIN_PASSWORD", "none", "switches sign-in on: the password of the account admin"],
  ["ADMIN_PASSWORD_FILE", "none", "the same from a file that holds it as its one line"],
  ["TRUSTED_PROXIES", "none", "addresses and networks whose X-Forwarded headers count, separated by commas"],
  ["REMOTE_USER_HEADER", "none", "header in which a trusted proxy sends the user name, such as Remote-User"],
  ["REMOTE_GROUPS_HEADER", "none", "header in which it sends the user’s groups, such as Remote-Groups"],
  ["REMOTE_GROUPS", "operator=*", "roles of groups, such as admin=platen-admins,operator=techs,viewer=*"],
  [
    "LINK_DAYS",
    String(defaults.LINK_DAYS),
    "days that a script can fetch its driver where people have to sign in",
  ],
];

/** @throws Error that names every wrong setting */
export function readConfig(environment: Environment = process.env): Config {
  const { config, problems } = readSettings(environment);
  if (problems.length > 0) throw new Error(problems.join("\n"));
  return config;
}

/** @returns the settings, and a sentence for each wrong one */
export function readSettings(environment: Environment = process.env): {
  readonly config: Config;
  readonly problems: string[];
} {
  const problems: string[] = [];
  const setting = (name: string) => environment[name]?.trim() || undefined;
  const integer = (name: IntegerSetting, min: number, max: number) => {
    const text = setting(name);
    if (text === undefined) return defaults[name];
    const number = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
    if (number >= min && number <= max) return number;
    problems.push(`${name} is “${text}”; it is a whole number from ${min} to ${max}.`);
    return defaults[name];
  };
  const config = {
    dataDir: resolve(setting("DATA_DIR") ?? defaults.DATA_DIR),
    port: integer("PORT", 0, 65535),
    host: setting("HOST"),
    publicUrl: readPublicUrl(setting("PUBLIC_URL"), problems),
    allowedHosts: readHosts(setting("ALLOWED_HOSTS"), problems),
    backups: integer("BACKUPS", 0, 366),
    auditDays: integer("AUDIT_DAYS", 1, 36_500),
    uploadLimitBytes: integer("UPLOAD_LIMIT_MB", 1, 4095) * 1024 * 1024,
    proxies: readProxies(setting, problems),
    adminPassword: readAdminPassword(environment, problems),
    adminPasswordFile: setting("ADMIN_PASSWORD_FILE"),
    linkDays: integer("LINK_DAYS", 1, 1000),
  };
  // Child processes must not inherit the password.
  if (environment === process.env) delete process.env.ADMIN_PASSWORD;
  return { config: Object.freeze(config), problems };
}

/** Refuses empty settings, so that a forgotten value does not silently turn sign-in off. */
function readAdminPassword(
  { ADMIN_PASSWORD: password, ADMIN_PASSWORD_FILE: file }: Environment,
  problems: string[],
): Secret | undefined {
  if (file !== undefined && file.trim() === "")
    problems.push("ADMIN_PASSWORD_FILE is empty; it names a file, or is not set at all.");
  if (password === undefined) return undefined;
  if (file !== undefined)
    problems.push("ADMIN_PASSWORD and ADMIN_PASSWORD_FILE are both set; set one of them.");
  const problem = password === "" ? undefined : passwordProblem(password, adminName);
  if (password === "")
    problems.push(
      "ADMIN_PASSWORD is empty. Set a password, or do not set it at all: then nobody has to sign in.",
    );
  if (problem !== undefined) problems.push(`ADMIN_PASSWORD cannot be used: ${problem}`);
  return new Secret(password);
}

function readPublicUrl(text: string | undefined, problems: string[]): string | undefined {
  if (text === undefined) return undefined;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isPlain = url !== undefined && !url.username && !url.password && !url.search && !url.hash;
  if (isPlain && ["http:", "https:"].includes(url.protocol)) return withoutSlashes(url.href);
  problems.push(`PUBLIC_URL is “${text}”; it looks like https://platen.example.`);
  return undefined;
}

function withoutSlashes(address: string): string {
  let end = address.length;
  while (address.charAt(end - 1) === "/") end--;
  return address.slice(0, end);
}

function readHosts(text: string | undefined, problems: string[]): string[] {
  const names = (text ?? "").split(",").map((name) => name.trim().toLowerCase());
  const hosts = names.filter((name) => name !== "");
  const wrong = hosts.filter((name) => !/^[a-z0-9.-]+$/.test(name));
  if (wrong.length > 0) {
    problems.push(
      `ALLOWED_HOSTS has “${wrong.join("”, “")}”; names look like platen.example.com, separated by commas, without ports.`,
    );
  }
  return hosts;
}
