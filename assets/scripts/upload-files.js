import { make } from "./dom.js";
import { advance } from "./upload-lines.js";

/** @typedef {import("./upload-lines.js").Upload} Upload */

/**
 * @typedef {object} Folder
 * @property {string} name
 * @property {(upload: Upload) => Promise<Part[]>} list lists all its files, until the upload is cancelled
 */

/**
 * @typedef {object} Part a file of a folder
 * @property {string} path the path below the folder
 * @property {() => Promise<File>} open
 */

/** What fits one ZIP; Platen reads no more. */
const maxFiles = 60_000;
const mebibyte = 1024 * 1024;
/** Deflated at once, while the page waits: some 20 ms. */
const stepBytes = mebibyte / 2;
/** Memory for what is deflated. Blobs of this size go to the browser, which writes large ones to its disk. */
const pieceBytes = 4 * mebibyte;
/** The date of every entry: the same folder always gives the same ZIP, which Platen then knows. */
const mtime = new Date(2000, 0, 1);

/**
 * What was chosen in a field: files, or the files of one folder.
 * @param {HTMLInputElement} input
 * @returns {(File | Folder)[]}
 */
export function chosenIn(input) {
  const files = [...(input.files ?? [])];
  const [folder, inside] = files[0]?.webkitRelativePath.split("/") ?? [];
  if (inside === undefined) return files;
  const parts = files.map((file) => ({
    path: file.webkitRelativePath.slice(file.webkitRelativePath.indexOf("/") + 1),
    open: async () => file,
  }));
  return [{ name: folder ?? "", list: async () => parts }];
}

/**
 * What was dropped. To be called while the event is handled: afterwards nothing can be read.
 * @param {DataTransfer} data
 * @returns {(File | Folder)[]}
 */
export function droppedIn({ items }) {
  return [...items].flatMap((item) => {
    const entry = item.webkitGetAsEntry();
    return entry?.isDirectory
      ? folderOf(/** @type {FileSystemDirectoryEntry} */ (entry))
      : (item.getAsFile() ?? []);
  });
}

/**
 * @param {FileSystemDirectoryEntry} folder
 * @returns {Folder}
 */
function folderOf(folder) {
  return {
    name: folder.name,
    list: async (upload) => {
      /** @type {Part[]} */
      const parts = [];
      for await (const file of filesBelow(folder)) {
        if (upload.isCancelled || parts.length > maxFiles) break;
        const path = file.fullPath.slice(folder.fullPath.length + 1);
        parts.push({ path, open: () => new Promise((resolve, reject) => file.file(resolve, reject)) });
      }
      return parts;
    },
  };
}

/**
 * @param {FileSystemDirectoryEntry} folder
 * @returns {AsyncGenerator<FileSystemFileEntry>}
 */
async function* filesBelow(folder) {
  const reader = folder.createReader();
  for (;;) {
    /** @type {FileSystemEntry[]} */
    const some = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
    if (some.length === 0) return;
    for (const entry of some)
      if (entry.isDirectory) yield* filesBelow(/** @type {FileSystemDirectoryEntry} */ (entry));
      else yield/** @type {FileSystemFileEntry} */ (entry);
  }
}

/**
 * The file that is sent for what was chosen or dropped, or why nothing is sent. Its result does not count if the upload
 * was cancelled meanwhile.
 * @param {Upload} upload
 * @param {number} limit in bytes
 * @returns {Promise<File | string | Node>}
 */
export async function fileToSend(upload, limit) {
  const { file } = upload;
  if (file instanceof File) {
    if (file.size <= limit) return file;
    return `The file has ${inMegabytes(file.size)} MB. The limit is ${inMegabytes(limit)} MB (UPLOAD_LIMIT_MB).`;
  }
  try {
    return await zipOf(file, limit, upload);
  } catch (error) {
    if (error instanceof Unreadable) return error.text();
    throw error;
  }
}

/** @param {number} bytes */
function inMegabytes(bytes) {
  return Math.round(bytes / mebibyte);
}

class Unreadable extends Error {
  text() {
    const text = document.createDocumentFragment();
    text.append("Your browser cannot read ", make("bdi", {}, this.message), ". Drop the folder again.");
    return text;
  }
}

/**
 * @template T
 * @param {string} name
 * @param {Promise<T>} reading
 */
function readable(name, reading) {
  return reading.catch(() => {
    throw new Unreadable(name);
  });
}

/**
 * @param {Folder} folder
 * @param {number} limit in bytes
 * @param {Upload} upload
 * @returns {Promise<File | string>}
 */
async function zipOf({ name, list }, limit, upload) {
  advance(upload.line, 0, "Reading the folder…");
  const parts = await readable(name, list(upload));
  if (parts.length > maxFiles)
    return "This folder has more than 60,000 files. Drop only the folder with the driver’s INF file.";
  const wanted = driversIn(parts);
  if (wanted.length === 0)
    return "This folder contains no INF file. Drop the folder with the driver’s INF, or the vendor’s ZIP or program in it.";
  /** @type {[path: string, file: File][]} */
  const files = [];
  for (const { path, open } of wanted) files.push([path, await readable(path, open())]);
  const bytes = files.reduce((sum, [, file]) => sum + file.size, 0);
  return zip(name, files, bytes, limit, upload);
}

/**
 * The files of the folders that hold an INF, and of all folders below them.
 * @param {readonly Part[]} parts
 */
function driversIn(parts) {
  const infs = parts.filter(({ path }) => /\.inf$/i.test(path) && !/(?:^|\/)autorun\.inf$/i.test(path));
  const folders = new Set(infs.map(({ path }) => path.slice(0, path.lastIndexOf("/") + 1)));
  return parts
    .filter(
      ({ path }) =>
        folders.has("") ||
        [...path.matchAll(/\//g)].some(({ index }) => folders.has(path.slice(0, index + 1))),
    )
    .sort((a, b) => (a.path < b.path ? -1 : 1));
}

/**
 * @param {string} name
 * @param {readonly (readonly [path: string, file: File])[]} files
 * @param {number} bytes the sum of their sizes
 * @param {number} limit of the ZIP, in bytes
 * @param {Upload} upload
 * @returns {Promise<File | string>}
 */
async function zip(name, files, bytes, limit, upload) {
  const library = await import("./zip.js").catch(() => undefined);
  if (!library) return "Platen does not respond. Reload the page, and drop the folder again.";
  const pieces = new Pieces();
  const archive = new library.Zip((error, chunk) => {
    if (error) throw error;
    pieces.add(chunk);
  });
  let done = 0;
  for (const [path, file] of files) {
    const entry = new library.ZipDeflate(path);
    entry.mtime = mtime;
    archive.add(entry);
    for (let at = 0; at === 0 || at < file.size; at += stepBytes) {
      const step = await readable(path, file.slice(at, at + stepBytes).arrayBuffer());
      if (upload.isCancelled) return "";
      entry.push(new Uint8Array(step), at + stepBytes >= file.size);
      if (pieces.bytes > limit)
        return `The folder’s ZIP has more than ${inMegabytes(limit)} MB (UPLOAD_LIMIT_MB).`;
      done += step.byteLength;
      const percent = Math.floor((100 * done) / Math.max(bytes, 1));
      advance(upload.line, percent, `Zipping… ${percent} %`);
    }
  }
  archive.end();
  return new File(pieces.blobs(), `${name}.zip`, { type: "application/zip" });
}

/** Bytes of a ZIP, of which only the last few are in this page's memory. */
class Pieces {
  /** @type {Blob[]} */
  #blobs = [];
  /** @type {Uint8Array<ArrayBuffer>[]} */
  #recent = [];
  #recentBytes = 0;
  bytes = 0;

  /** @param {Uint8Array<ArrayBuffer>} chunk */
  add(chunk) {
    this.#recent.push(chunk);
    this.#recentBytes += chunk.length;
    this.bytes += chunk.length;
    if (this.#recentBytes > pieceBytes) this.blobs();
  }

  blobs() {
    this.#blobs.push(new Blob(this.#recent));
    this.#recent = [];
    this.#recentBytes = 0;
    return this.#blobs;
  }
}
