/** What of a printer, once downloaded, counts as deployed; other scripts and files leave no machine changed. */
export const deployingKinds: readonly string[] = ["rmm", "mdm", "install"];

/** Who downloads something because a page of another site has their browser do it: that deploys nothing. */
export const otherSite = "page of another site";

/** A printer as it is in a package or a script. */
export interface DeployedPrinter {
  readonly id: number;
  readonly revision: string;
}

/** What of a printer was deployed last. */
export interface Deployed {
  readonly revision: string;
  /** UTC, milliseconds since 1970. */
  readonly at: number;
}

/** How often something of a printer was downloaded. */
export interface DownloadCount {
  /** A format of packages or a kind of scripts. */
  readonly what: string;
  readonly revision: string;
  /** A class of clients, never an address. */
  readonly who: string;
  readonly count: number;
  /** UTC, milliseconds since 1970. */
  readonly first_at: number;
  readonly last_at: number;
}
