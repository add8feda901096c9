import type { FieldSection, ListedFormat, Snippet, ToolGuide } from "../../domain/deploy/package-format.ts";
import type { Architecture } from "../../domain/drivers/driver.ts";
import type { CombinedRequirement, CombinedSubnets } from "../../domain/subnet.ts";
import type { EncryptionInfo } from "./checkpoints.ts";
import type { Contents, LaidOutFile, LaidOutZip } from "./contents.ts";
import type { EncryptionKeys } from "./encryption.ts";

/** A package ready to be sent. Its bytes are made while it is sent. */
export interface PackageFile {
  /** In bytes. */
  readonly size: number;
  /** Identifies exactly these bytes. */
  readonly etag: string;
  /**
   * Opens the sources of its bytes, and does all work that takes long or may fail.
   * @throws UserError "busy", or "invalid" with the remedy
   */
  open(): Promise<OpenPackage>;
}

/** A package that is being sent. Its sources stay open until it is closed. */
export interface OpenPackage {
  /** The bytes from `start` up to `end`, exclusive. The caller may use a chunk until it requests the next one. */
  chunks(start: number, end: number): AsyncIterable<Uint8Array>;
  /** Call it once, after the last chunk. */
  close(): Promise<void>;
}

export interface PackageContext {
  readonly secret: Uint8Array;
  /** Lays out a ZIP. The result is cached. @throws UserError "invalid" */
  layOut(contents: Contents): Promise<LaidOutZip>;
  /** Opens a file that is sent without encryption. @throws UserError "invalid" if one of its sources is missing */
  openPlain(file: LaidOutFile): Promise<OpenPackage>;
  /** Opens a ZIP that is encrypted while it is sent. @throws UserError as `openPlain` does */
  openForEncryption(zip: LaidOutZip): Promise<EncryptingZip>;
}

export interface EncryptingZip {
  /**
   * Computes what must be known before the encrypted ZIP is sent. The result is cached by the ZIP's digest. Packages that
   * begin with the same drivers share the work for these.
   * @throws UserError "busy"
   */
  encryptionInfo(keys: EncryptionKeys): Promise<EncryptionInfo>;
  /** Encrypts the drivers' files in advance. @throws UserError "busy" */
  prepare(keys: EncryptionKeys): Promise<void>;
  /** Bytes of the ciphertext from `from` up to `to`, exclusive. */
  encrypt(keys: EncryptionKeys, info: EncryptionInfo, from: number, to: number): AsyncIterable<Uint8Array>;
  close(): Promise<void>;
}

/** The facts that describe a deployment in Intune or an RMM. */
export interface PackageFacts {
  /** Differs between clients, because Company Portal treats apps with the same name as one. */
  readonly name: string;
  readonly description: string;
  readonly publisher: string | undefined;
  readonly version: string;
  /** A marker that identifies the printer, client or driver in Platen. */
  readonly notes: string;
  /** Text above the marker. May be empty. */
  readonly notesText: string;
  /** May be empty. */
  readonly owner: string;
  /** Empty if no machine can install all of it. */
  readonly machines: readonly Architecture[];
  readonly dependencies: string;
  /** The oldest Windows that can install it. */
  readonly minimumWindows: "Windows 10 1607" | "Windows 11 21H2";
  /** The subnets that it is for. Undefined: all networks. */
  readonly subnets: CombinedSubnets | undefined;
  /** What its requirement script asks. Undefined: it has none. */
  readonly requirement: CombinedRequirement | undefined;
  readonly fileName: string;
  readonly detectionFileName: string;
  readonly requirementFileName: string;
  /** Addresses of the package and of the install script for machines. Undefined if they are unknown, or need a link. */
  readonly urls: { readonly package: string; readonly install: string } | undefined;
  /** SHA-256 of the install script at its address, in hex, if commands must check it. */
  readonly installSha256: string | undefined;
  /** Whether the shop signs its scripts. */
  readonly signsScripts: boolean;
}

export interface PackageFormat extends ListedFormat {
  readonly contentType: string;
  /** With the dot. */
  readonly extension: string;
  readonly hasIcon: boolean;
  /** The fields that a person fills in for this package, in the order of the target's form. */
  fields(facts: PackageFacts): readonly FieldSection[];
  /** Texts to paste into the target. */
  snippets(facts: PackageFacts): readonly Snippet[];
  /**
   * Additional fields for a package without its drivers.
   * @param apps names of the apps that install the drivers
   * @param isMixed whether the drivers are for different architectures, so that no machine needs all of them
   */
  dependencyFields(apps: readonly string[], isMixed: boolean): readonly FieldSection[];
  /** Instructions for each tool, if there are several. */
  tools(facts: PackageFacts): readonly ToolGuide[];
  /** @throws UserError "invalid" */
  build(contents: Contents, context: PackageContext): Promise<PackageFile>;
  /** Does the work in advance that all packages of these drivers share. @throws UserError "busy" or "invalid" */
  prepare?(contents: Contents, context: PackageContext): Promise<void>;
}
