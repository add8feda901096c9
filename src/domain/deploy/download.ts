/** The package formats and kinds of script whose downloads count as deployments, because they install printers. */
export const deployingKinds: readonly string[] = ["rmm", "mdm", "install"];

/** The kind of client if a page of another site starts a download in a user's browser. Such downloads do not count. */
export const crossSitePage = "page of another site";

export interface DeployedPrinter {
  readonly id: number;
  readonly revision: string;
}

export interface Deployed {
  readonly revision: string;
  /** UTC, milliseconds since 1970. */
  readonly at: number;
}

/** How often one kind of client downloaded a package or script of a printer in one revision. */
export interface DownloadCount {
  /** A package format or a kind of script. */
  readonly what: string;
  readonly revision: string;
  /** The kind of client, never an address. */
  readonly who: string;
  readonly count: number;
  /** UTC, milliseconds since 1970. */
  readonly first_at: number;
  readonly last_at: number;
}
