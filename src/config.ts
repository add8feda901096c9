import { resolve } from "node:path";
import { type Account, adminName } from "./domain/access/account.ts";
import { defaultRoleClaim, type OidcSettings, readOidc } from "./domain/access/oidc.ts";
import { passwordProblem } from "./domain/access/password.ts";
import { type Proxies, readProxies } from "./domain/access/proxies.ts";
import { isLoopbackHost } from "./domain/address.ts";
import { type LogFormat, logFormats } from "./domain/log.ts";
import { Secret } from "./domain/secrets.ts";

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
  /** `OIDC_…`; undefined if people do not sign in at an OpenID Connect provider. */
  readonly oidc: OidcSettings | undefined;
  /** `OIDC_SESSION_HOURS`: the time after which people sign in at the provider again. */
  readonly oidcSessionHours: number;
  /** `LOG_FORMAT`: the form of the lines on standard error. */
  readonly logFormat: LogFormat;
  /** `METRICS`: whether `/metrics` exists. */
  readonly hasMetrics: boolean;
}

/** Whether sign-in is on; otherwise everyone may do everything. */
export function needsSignIn(config: Config): boolean {
  return hasSessions(config) || config.proxies.userHeader !== undefined;
}

/** Whether people sign in at Platen's own page: with a password, or at an OpenID Connect provider. */
export function hasSessions(config: Config): boolean {
  return acceptsPasswords(config) || config.oidc !== undefined;
}

/** Whether people can sign in with a password. */
export function acceptsPasswords({ adminPassword, adminPasswordFile }: Config): boolean {
  return adminPassword !== undefined || adminPasswordFile !== undefined;
}

/** Whether an account can sign in, at Platen's page or at a proxy: the settings may have changed since it was added. */
export function canSignIn(config: Config, { issuer }: Account): boolean {
  if (issuer !== "") return issuer === config.oidc?.issuer.href;
  return acceptsPasswords(config) || config.proxies.userHeader !== undefined;
}

/** Whether other machines can connect to the service and change everything without sign-in. */
export function isOpenToAll(config: Config): boolean {
  return !needsSignIn(config) && !isLoopbackHost(config.host ?? "");
}

/** Whether sign-in is on and nobody can be administrator. */
export function lacksAdmin(config: Config): boolean {
  const groups = [...config.proxies.groups, ...(config.oidc?.roles ?? [])];
  const hasAdminGroup = groups.some(({ role }) => role === "admin");
  return needsSignIn(config) && !acceptsPasswords(config) && !hasAdminGroup;
}

/** The settings that provide an administrator. */
export const adminRemedy =
  "REMOTE_GROUPS_HEADER with REMOTE_GROUPS=admin=GROUP,…, OIDC_ROLES=admin=GROUP,…, or ADMIN_PASSWORD_FILE";

const defaults = {
  DATA_DIR: "./data",
  PORT: 8080,
  BACKUPS: 14,
  AUDIT_DAYS: 400,
  UPLOAD_LIMIT_MB: 1024,
  OIDC_SESSION_HOURS: 12,
  LINK_DAYS: 30,
  LOG_FORMAT: "text",
} as const;

type Environment = Readonly<Record<string, string | undefined>>;

type IntegerSetting = Exclude<keyof typeof defaults, "DATA_DIR" | "LOG_FORMAT">;

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
  ["OIDC_ISSUER", "none", "address of an OpenID Connect provider where people sign in"],
  ["OIDC_CLIENT_ID", "none", "Platen’s client id at the provider"],
  ["OIDC_CLIENT_SECRET", "none", "Platen’s client secret at the provider"],
  ["OIDC_CLIENT_SECRET_FILE", "none", "the same from a file that holds it as its one line"],
  ["OIDC_ROLES", "none", "roles of the provider’s groups, such as admin=platen-admins,operator=techs"],
  ["OIDC_ROLE_CLAIM", defaultRoleClaim, "claim with a person’s groups, such as roles or realm_access.roles"],
  ["OIDC_SESSION_HOURS", String(defaults.OIDC_SESSION_HOURS), "hours until people sign in there again"],
  ["LOG_FORMAT", defaults.LOG_FORMAT, "text or json"],
  ["METRICS", "off", "on: /metrics has metrics for Prometheus"],
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
  const choice = <const T extends string>(name: string, values: readonly T[], fallback: T): T => {
    const text = setting(name);
    const found = values.find((value) => value === text?.toLowerCase());
    if (text !== undefined && found === undefined)
      problems.push(`${name} is “${text}”; it is ${values.join(" or ")}.`);
    return found ?? fallback;
  };
  const clientSecret = readSecret("OIDC_CLIENT_SECRET", environment, problems);
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
    oidc: readOidc(setting, clientSecret, problems),
    oidcSessionHours: integer("OIDC_SESSION_HOURS", 1, 2160),
    logFormat: choice("LOG_FORMAT", logFormats, defaults.LOG_FORMAT),
    hasMetrics: choice("METRICS", ["on", "off"], "off") === "on",
  };
  // Child processes must not inherit secrets.
  if (environment === process.env) for (const name of secretSettings) delete process.env[name];
  return { config: Object.freeze(config), problems };
}

/** The settings that are secret. Each has a twin with `_FILE`, which names a file. */
const secretSettings = ["ADMIN_PASSWORD", "OIDC_CLIENT_SECRET"] as const;

/** Refuses empty settings, so that a forgotten value does not silently turn sign-in off. */
function readSecret(
  name: (typeof secretSettings)[number],
  environment: Environment,
  problems: string[],
): Secret | undefined {
  const text = environment[name];
  const file = environment[`${name}_FILE`];
  if (file?.trim() === "") problems.push(`${name}_FILE is empty; it names a file, or is not set at all.`);
  if (text !== undefined && file !== undefined)
    problems.push(`${name} and ${name}_FILE are both set; set one of them.`);
  if (text === "") problems.push(`${name} is empty. Set it, or leave it out.`);
  return text === undefined ? undefined : new Secret(text);
}

function readAdminPassword(environment: Environment, problems: string[]): Secret | undefined {
  const password = readSecret("ADMIN_PASSWORD", environment, problems);
  const text = password?.reveal() ?? "";
  const problem = text === "" ? undefined : passwordProblem(text, adminName);
  if (problem !== undefined) problems.push(`ADMIN_PASSWORD cannot be used: ${problem}`);
  return password;
}

function readPublicUrl(text: string | undefined, problems: string[]): string | undefined {
  if (text === undefined) return undefined;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isPlain = url !== undefined && !url.username && !url.password && !url.search && !url.hash;
  const hasPlainPath = url !== undefined && /^[\w.~/-]*$/.test(url.pathname) && !url.pathname.includes("//");
  if (isPlain && hasPlainPath && ["http:", "https:"].includes(url.protocol)) return withoutSlashes(url.href);
  problems.push(
    `PUBLIC_URL is “${text}”; it looks like https://platen.example or https://example.com/platen.`,
  );
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
