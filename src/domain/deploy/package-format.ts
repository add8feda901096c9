/** A field that a person fills in by hand where a package goes. */
export interface PackageField {
  readonly label: string;
  /** Empty where nothing is to be typed: then the hint says what to do. */
  readonly value: string;
  /** Whether the value is to be typed exactly so. */
  readonly isCode?: boolean;
  readonly hint?: string;
  /** What pages know it by, where anything else refers to it. */
  readonly name?: "install_cmd" | "uninstall_cmd" | "logo" | "detection_script" | "requirement_script";
}

/** Fields that are asked for on one page there. */
export interface FieldSection {
  readonly title: string;
  readonly fields: readonly PackageField[];
}

/** Something to paste. */
export interface Snippet {
  readonly label: string;
  /** One line or several. */
  readonly text: string;
  readonly hint?: string;
}

/** What to do in one tool of many that a format is for, and what counts there. */
export interface ToolGuide {
  readonly tool: string;
  readonly steps: readonly string[];
  readonly snippet?: Snippet;
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
