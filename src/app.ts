import type { Config } from "./config.ts";
import type { RequestEntry } from "./domain/log.ts";
import type { Links } from "./services/access/links.ts";
import type { Oidc } from "./services/access/oidc.ts";
import type { Passwords } from "./services/access/passwords.ts";
import type { Sessions } from "./services/access/sessions.ts";
import type { SignIn } from "./services/access/sign-in.ts";
import type { Tokens } from "./services/access/tokens.ts";
import type { BackupKeeper } from "./services/backup/backup-keeper.ts";
import type { Undo } from "./services/backup/undo.ts";
import type { DeploymentMemory } from "./services/deploy/deployment-memory.ts";
import type { PackageBuilder } from "./services/deploy/packages.ts";
import type { Signing } from "./services/deploy/signing.ts";
import type { ArchiveCheck } from "./services/drivers/archive-check.ts";
import type { ModelSearch } from "./services/drivers/model-search.ts";
import type { Metrics } from "./services/metrics.ts";
import type { Overview } from "./services/overview.ts";
import type { RecentResults } from "./services/recent-results.ts";
import type { Store } from "./store/store.ts";
import type { Inspections } from "./workers/inspections.ts";
import type { Workers } from "./workers/pool.ts";

/** The services that every handler receives. */
export interface App {
  readonly config: Config;
  readonly store: Store;
  /** Reads driver ZIPs. */
  readonly inspections: Inspections;
  readonly workers: Workers;
  /** Checks whether driver ZIPs on disk are missing or damaged. */
  readonly archives: ArchiveCheck;
  readonly backups: BackupKeeper;
  readonly overview: Overview;
  readonly models: ModelSearch;
  readonly packages: PackageBuilder;
  /** Knows which scripts are signed. */
  readonly signing: Signing;
  /** The download counts and the last deployed revision of each printer. */
  readonly deployments: DeploymentMemory;
  /** Deletes records, and undoes deletions. */
  readonly undo: Undo;
  /** The results that pages show after a redirect. */
  readonly results: RecentResults;
  readonly passwords: Passwords;
  readonly sessions: Sessions;
  readonly signIn: SignIn;
  /** Undefined if people do not sign in at an OpenID Connect provider. */
  readonly oidc: Oidc | undefined;
  readonly tokens: Tokens;
  readonly links: Links;
  /** UTC, milliseconds since 1970. */
  readonly clock: () => number;
  readonly random: (bytes: number) => Buffer;
  readonly log: (line: string) => void;
  /** Logs an answered request. */
  readonly logRequest: (entry: RequestEntry) => void;
  readonly metrics: Metrics;
}
