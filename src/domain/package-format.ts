/** A field that a person fills in by hand where a package goes. */
export interface PackageField {
  readonly label: string;
  readonly value: string;
  /** Whether the value is to be typed exactly so. */
  readonly isCode?: boolean;
}

/** What pages say of a kind of package. */
export interface ListedFormat {
  /** In paths. */
  readonly id: string;
  /** Where it goes, in a word. */
  readonly target: string;
  /** On a button: where it goes and what it is. */
  readonly label: string;
  /** What its file is called in a sentence. */
  readonly fileType: string;
  /** What to do with it, in a sentence or two. */
  readonly guide: string;
}
