// Files that the bundler embeds, as text or (WebAssembly) as bytes.
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
declare module "*/zip.js" {
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
/** The index of the help, then its pages. */
declare module "*/docs/README.md" {
  type Page = import("./html/help.ts").HelpPage;
  const readPages: () => [index: Page, ...pages: Page[]];
  export default readPages;
}
declare module "*.wasm" {
  const bytes: Uint8Array;
  export default bytes;
}
declare const PLATEN_VERSION: string;
/** 12 hexadecimal digits, or `unknown`. */
declare const PLATEN_COMMIT: string;
/** The licences of Platen and of everything bundled with it. */
declare const PLATEN_LICENCES: string;
/** The bill of materials in CycloneDX JSON. */
declare const PLATEN_BILL: string;
