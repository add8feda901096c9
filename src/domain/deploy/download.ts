/** The downloads that count as a deployment. All others leave machines unchanged. */
export const deployingKinds: readonly string[] = ["rmm", "mdm", "install"];

/** The class of client for downloads that a page of another site starts in a user's browser. They do not count. */
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

/** How often a package or script of a printer was downloaded in one revision by one class of clients. */
export interface DownloadCount {
  /** A package format or a kind of script. */
  readonly what: string;
  readonly revision: string;
  /** A class of clients, never an address. */
  readonly who: string;
  readonly count: number;
  /** UTC, milliseconds since 1970. */
  readonly first_at: number;
  readonly last_at: number;
}
