import { escapeInvisible, firstOf } from "../text.ts";

/** How many bytes from the start of a file `describeFile` needs: programs name their maker before their data. */
export const recognitionBytes = 2 * 1024 * 1024;

interface FileFormat {
  /** The name of the format, with an article. */
  readonly what: string;
  /**
   * Byte sequences, in Latin-1, of which every file of the format has one: at its start, or for a program anywhere in
   * its head.
   */
  readonly marks: readonly string[];
  /** How to get at the driver. */
  readonly remedy: string;
}

/** The way that works for every setup program. */
const fromPc =
  "Or take the driver from a PC that has it: with from-pc.ps1 (/drivers/from-pc), or pnputil /export-driver oemNN.inf FOLDER.";
const zipFolder = "then zip and upload the folder with the INF.";
const with7Zip = `Extract it with 7-Zip, ${zipFolder}`;

const otherFormats: readonly FileFormat[] = [
  { what: "a RAR archive", marks: ["Rar!\x1a\x07"], remedy: with7Zip },
  { what: "a 7z archive", marks: ["7z\xbc\xaf\x27\x1c"], remedy: with7Zip },
  {
    what: "a cabinet (CAB)",
    marks: ["MSCF"],
    remedy: `Extract it with 7-Zip, or with expand -F:* FILE.cab FOLDER, ${zipFolder}`,
  },
  {
    what: "an InstallShield cabinet",
    marks: ["ISc("],
    remedy: `Upload the setup program that it belongs to, and Platen says more. ${fromPc}`,
  },
  {
    what: "a Windows Installer package (MSI)",
    marks: ["\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"],
    remedy: `Extract it with msiexec /a FILE.msi /qn TARGETDIR=C:\\Driver, ${zipFolder} ${fromPc}`,
  },
  {
    what: "a web page",
    marks: ["<!doctype html", "<html"],
    remedy:
      "The vendor’s site may have asked for a sign-in or a licence. Download the driver again in a browser.",
  },
];

/** The first match counts: setup programs may contain archives of other formats. */
const programFormats: readonly FileFormat[] = [
  {
    what: "a setup program made with Inno Setup",
    marks: ["JR.Inno.Setup", "Inno Setup Setup Data", "InnoSetupLdrWindow"],
    remedy: `7-Zip cannot open it. Extract it with innoextract, ${zipFolder} ${fromPc}`,
  },
  {
    what: "a setup program made with NSIS",
    marks: ["Nullsoft.NSIS", "NullsoftInst"],
    remedy: `${with7Zip} ${fromPc}`,
  },
  {
    what: "a setup program made with InstallShield",
    marks: ["InstallShield", Array.from("InstallShield").join("\0")],
    remedy: `Run it with /extract_all:C:\\Driver, or with /a if it contains an MSI, ${zipFolder} ${fromPc}`,
  },
  {
    what: "a self-extracting RAR, 7z or CAB",
    marks: ["Rar!\x1a\x07", "7z\xbc\xaf\x27\x1c", "MSCF\0\0\0\0"],
    remedy: `${with7Zip} ${fromPc}`,
  },
  {
    what: "a program",
    marks: ["MZ"],
    remedy: `If 7-Zip can extract it, ${zipFolder} ${fromPc}`,
  },
];

/** @param head the first `recognitionBytes` of a file */
function formatOf(head: Buffer): FileFormat | undefined {
  if (head.toString("latin1", 0, 2) === "MZ")
    return programFormats.find(({ marks }) => marks.some((mark) => head.includes(mark, 0, "latin1")));
  const start = head.toString("latin1", 0, 64).replace(/^(?:\xef\xbb\xbf)?\s*/, "");
  // Tags of HTML may have any case.
  return otherFormats.find(({ marks }) =>
    marks.some((mark) => start.toLowerCase().startsWith(mark.toLowerCase())),
  );
}

/** Says what a file is that is not a ZIP, and how to get at its driver. @param head its first `recognitionBytes` */
export function describeFile(head: Buffer): string {
  if (head.length === 0) return "This file is empty. Choose another file.";
  const format = formatOf(head);
  if (format === undefined)
    return "This is not a ZIP file. Upload the ZIP with the driver’s files and its INF.";
  return `This is not a ZIP file, but ${format.what}. ${format.remedy}`;
}

/** The maximum length of a path in a sentence, and of paths in a list. */
const maxPathLength = 120;
const maxListed = 4;

/** Whether a driver may be in this file of an archive, by its name. */
export function mayHoldDriver(path: string): boolean {
  return /\.(?:zip|exe|msi|cab|7z|rar)$/i.test(path);
}

/**
 * Says where the driver of an archive without a driver’s INF may be, and how to get at it.
 * @param paths the files in it that may hold a driver
 * @param head the first `recognitionBytes` of the file, if it is the only one
 */
export function describePacked(paths: readonly string[], head: Buffer): string | undefined {
  const [first] = paths;
  if (first === undefined) return undefined;
  const names = paths.map((path) => `“${escapeInvisible(path.slice(-maxPathLength))}”`);
  if (paths.length > 1)
    return `It contains ${paths.length} programs or archives: ${firstOf(names, maxListed)}. Extract this ZIP, and upload the one for your printer: Platen then says more. ${fromPc}`;
  const format = formatOf(head);
  return format === undefined
    ? `Extract this ZIP and ${names[0]} in it, ${zipFolder}`
    : `${names[0]} in it is ${format.what}. ${format.remedy}`;
}
