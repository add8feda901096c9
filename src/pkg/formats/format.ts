import type { FieldSection, ListedFormat, Snippet, ToolGuide } from "../../domain/deploy/package-format.ts";
import type { Architecture } from "../../domain/drivers/driver.ts";
import type { Place } from "../../domain/subnet.ts";
import type { EncryptionInfo } from "./checkpoints.ts";
import type { Contents, LaidOutFile, LaidOutZip } from "./contents.ts";
import type { EncryptionKeys } from "./encryption.ts";

/** A package ready to be sent. Nothing of it is built before its bytes are asked for. */
export interface PackageFile {
  /** In bytes. */
  readonly size: number;
  /** Names these bytes and no others. */
  readonly etag: string;
  /**
   * Opens what its bytes come from, and does everything that takes time and may be refused.
   * @throws UserError "busy", or "invalid" with the remedy
   */
  open(): Promise<OpenPackage>;
}

/** A package under way: what it takes its bytes from stays open until it is closed. */
export interface OpenPackage {
  /**
   * The bytes from `start` up to `end`, which is not included. A chunk is the caller's until it asks for
   * the next one.
   */
  chunks(start: number, end: number): AsyncIterable<Uint8Array>;
  /** To be called once, when nobody asks for chunks any more. */
  close(): Promise<void>;
}

/** What a format needs of its surroundings. */
export interface PackageContext {
  /** The installation's secret. */
  readonly secret: Uint8Array;
  /** Lays out a ZIP; remembered by what goes into it. @throws UserError "invalid" */
  layOut(contents: Contents): Promise<LaidOutZip>;
  /** Opens what is sent as it is laid out. @throws UserError "invalid" when a file of it is not there */
  openPlain(file: LaidOutFile): Promise<OpenPackage>;
  /** Opens a ZIP that is encrypted as it is sent. @throws as `openPlain` does */
  openForEncryption(zip: LaidOutZip): Promise<EncryptingZip>;
}

/** A ZIP whose files are open. */
export interface EncryptingZip {
  /**
   * What has to be known before the encrypted ZIP can be sent; remembered by the ZIP's digest. What it has in common
   * with other packages of its drivers is encrypted for it only once.
   * @throws UserError "busy"
   */
  encryptionInfo(keys: EncryptionKeys): Promise<EncryptionInfo>;
  /** That part alone, in advance. @throws UserError "busy" */
  prepare(keys: EncryptionKeys): Promise<void>;
  /** Bytes of the ciphertext from `from` up to `to`, which is not included. */
  encrypt(keys: EncryptionKeys, info: EncryptionInfo, from: number, to: number): AsyncIterable<Uint8Array>;
  close(): Promise<void>;
}

/** What is deployed, as it is described where it goes. */
export interface PackageFacts {
  /** Differs between clients. */
  readonly name: string;
  readonly description: string;
  /** Undefined where nothing says whose software it is. */
  readonly publisher: string | undefined;
  readonly version: string;
  /** Names the printer, client or driver here, so that the app is found again there. */
  readonly notes: string;
  /** Empty where no machine can have all of it. */
  readonly machines: readonly Architecture[];
  readonly dependencies: string;
  /** The oldest Windows that can have it. */
  readonly minimumWindows: "Windows 10 1607" | "Windows 11 21H2";
  /** Where it belongs; undefined: anywhere. */
  readonly place: Place | undefined;
  /** Of the downloads: the package's own, and of the detection and the requirement script by themselves. */
  readonly fileName: string;
  readonly detectionFileName: string;
  readonly requirementFileName: string;
  /** The addresses of the package and of the install script, as clients see them; undefined where they cannot be said. */
  readonly urls: { readonly package: string; readonly install: string } | undefined;
}

/** A kind of package. Adding one is a file like `rmm.ts` and a line in `formats.ts`. */
export interface PackageFormat extends ListedFormat {
  readonly contentType: string;
  /** Of its file's name, with the dot. */
  readonly extension: string;
  readonly hasIcon: boolean;
  /** What is filled in by hand where it goes, in the order in which that is asked for. */
  fields(facts: PackageFacts): readonly FieldSection[];
  /** What can be pasted there. */
  snippets(facts: PackageFacts): readonly Snippet[];
  /**
   * What is filled in besides for a package without its drivers.
   * @param apps what brings them, by name
   * @param isMixed whether they are for different machines, so that some do not apply to some
   */
  apartFields(apps: readonly string[], isMixed: boolean): readonly FieldSection[];
  /** What differs between the tools that it is for; empty where it is for one. */
  tools(facts: PackageFacts): readonly ToolGuide[];
  /** @throws UserError "invalid" */
  build(contents: Contents, context: PackageContext): Promise<PackageFile>;
  /** Does in advance what all packages of these drivers have in common. @throws UserError "busy" or "invalid" */
  prepare?(contents: Contents, context: PackageContext): Promise<void>;
}
