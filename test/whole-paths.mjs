/**
 * The quick tests that may use more processor time than the budget: one whole path for each generated script and for each
 * flow of pages, and the table of routes and roles. By file, the name of the test.
 * @type {Readonly<Record<string, string>>}
 */
export const wholePaths = {
  "access/roles.test.ts": "an allowed change takes effect and has the expected status",
  "access/operator-pages.test.ts": "goes from an empty service to a package, with scripts",
  "access/oidc-pages.test.ts":
    "a person signs in at a real provider under a path, works, and signs out of both",
  "access/token-pages.test.ts": "a token is made, shown once, used and revoked without scripts",
  "access/signed-out-pages.test.ts":
    "a form sent by a page script keeps what was typed, explains that, and saves after signing in in another tab",
  "backup/undo-pages.test.ts":
    "a deletion is undone from its message with scripts, and a narrowed list stays narrowed",
  "deploy/commands.test.ts": "curl saves a package and a script under the names on the page",
  "deploy/signatures.test.ts":
    "signing changes no revision, and a changed script is unsigned again and said to be",
  "deploy/deploy-pages.test.ts":
    "a printer’s page has three equal cards, and one click shows and copies the fields for Intune",
  "deploy/download-pages.test.ts":
    "takes at most 8 clicks from an empty service on, with a client of its own",
  "drivers/driver-pages.test.ts":
    "an INF and a model are chosen from the list or a search, and a save shows its effects before it happens",
  "drivers/upload-pages.test.ts":
    "a ZIP that is dropped on any page opens the dialog, whose form ends at the printer's package",
  "import/pages.test.ts": "a file is previewed and imported, and a refused list is kept",
  "pages/change-pages.test.ts":
    "a bulk change of driver shows what becomes blocked, changes nothing before it is confirmed, and can be undone",
  "pages/list-pages.test.ts": "are usable at 320 px, dark",
  "pages/look.test.ts": "has no accessibility problem and fits the window: /",
  "printers/arm64-pages.test.ts":
    "the printer's page links to the ARM64 field, which says whether it is needed and suggests models",
  "publish/create.test.ts": "the script as it is served publishes a printer",
  "publish/sign.test.ts":
    "the script as it is served signs every script of the packages, and says that the PC does not trust the certificate",
};
