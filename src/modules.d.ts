// Files that the bundler embeds: text, or bytes for WebAssembly and pictures.
declare module "*.ps1" {
  const text: string;
  export default text;
}
declare module "*.css" {
  const text: string;
  export default text;
}
declare module "*.min.js" {
  const text: string;
  export default text;
}
declare module "*/app.js" {
  const text: string;
  export default text;
}
declare module "*.svg" {
  const text: string;
  export default text;
}
declare module "*.wasm" {
  const bytes: Uint8Array;
  export default bytes;
}
declare const PLATEN_VERSION: string;
/** Of Platen and of everything that is bundled with it. */
declare const PLATEN_LICENCES: string;
/** The bill of materials, CycloneDX as JSON. */
declare const PLATEN_BILL: string;
