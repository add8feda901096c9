// Loaded only when a folder is zipped.
export { Zip, ZipDeflate } from "fflate";
