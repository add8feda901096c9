import type { Config } from "./config.ts";
import type { ArchiveCheck } from "./services/archive-check.ts";
import type { BackupKeeper } from "./services/backup-keeper.ts";
import type { DeploymentMemory } from "./services/deployment-memory.ts";
import type { Links } from "./services/links.ts";
import type { ModelSearch } from "./services/model-search.ts";
import type { Outcomes } from "./services/outcomes.ts";
import type { Overview } from "./services/overview.ts";
import type { PackageBuilder } from "./services/packages.ts";
import type { Passwords } from "./services/passwords.ts";
import type { Sessions } from "./services/sessions.ts";
import type { SignIn } from "./services/sign-in.ts";
import type { Tokens } from "./services/tokens.ts";
import type { Undo } from "./services/undo.ts";
import type { Store } from "./store/store.ts";
import type { Inspections } from "./workers/inspections.ts";
import type { Workers } from "./workers/pool.ts";

/** What every handler is given. */
export interface App {
  readonly config: Config;
  readonly store: Store;
  readonly inspections: Inspections;
  readonly workers: Workers;
  readonly archives: ArchiveCheck;
  readonly backups: BackupKeeper;
  readonly overview: Overview;
  readonly models: ModelSearch;
  readonly packages: PackageBuilder;
  readonly deployments: DeploymentMemory;
  readonly undo: Undo;
  readonly outcomes: Outcomes;
  readonly passwords: Passwords;
  readonly sessions: Sessions;
  readonly signIn: SignIn;
  readonly tokens: Tokens;
  readonly links: Links;
  /** UTC, milliseconds since 1970. */
  readonly clock: () => number;
  readonly random: (bytes: number) => Buffer;
  readonly log: (line: string) => void;
}
