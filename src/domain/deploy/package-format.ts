/** A field that a person fills in for a package, for example in Intune's portal. */
export interface PackageField {
  readonly label: string;
  /** Empty if there is nothing to type: then the hint says what to do. */
  readonly value: string;
  /** Whether the value must be typed exactly. */
  readonly isCode?: boolean;
  readonly hint?: string;
  /** The id of its element on pages. */
  readonly name?: "install_cmd" | "uninstall_cmd" | "logo" | "detection_script" | "requirement_script";
}

/** The fields on one page of a portal's form. */
export interface FieldSection {
  readonly title: string;
  readonly fields: readonly PackageField[];
}

export interface Snippet {
  readonly label: string;
  readonly text: string;
  readonly hint?: string;
}

/** Instructions for one tool that uses a package format. */
export interface ToolGuide {
  readonly tool: string;
  readonly steps: readonly string[];
  readonly snippet?: Snippet;
}

export interface ListedFormat {
  /** In paths. */
  readonly id: string;
  /** The kind of tool that it is for, in one word. */
  readonly target: string;
  /** For buttons: the target and the file type. */
  readonly label: string;
  readonly fileType: string;
  readonly guide: string;
}
