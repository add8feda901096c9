import type { App } from "../src/app.ts";

/** Paths of the demo's pages by screenshot name. */
export type DemoPages = Readonly<Record<string, string>>;

/** The pages that the README and docs/ show. */
export function readmePages(app: App): DemoPages {
  const { printer, client, driver } = finder(app);
  return {
    dashboard: "/",
    printers: "/printers",
    printer: printer("Kopierer 1. OG"),
    client: client("Kanzlei Hartmann & Sölle"),
    driver: driver("Ostrakon_Universal_PS_2.9_x64_ARM64.zip"),
  };
}

/** Every kind of page, in all visible states. */
export function allPages(app: App): DemoPages {
  const { printer, client, driver } = finder(app);
  return {
    ...readmePages(app),
    "printers-new": "/printers?new=1&client_id=2&driver_id=7",
    "printers-blocked": "/printers?state=blocked",
    "printers-found": "/printers?q=anwalt",
    "printers-none": "/printers?q=nothing+has+this+name",
    "printer-unchosen": printer("Audit team"),
    "printer-missing-files": printer("Labor Etiketten"),
    "printer-archive-gone": printer("Fristenfax"),
    "printer-without-driver": printer("Elternbeirat"),
    "printer-same-address": printer("Lehrerzimmer 2"),
    "printer-of-nobody": printer("Test bench"),
    "printer-edit": `${printer("Kopierer 1. OG")}/edit`,
    clients: "/clients",
    "client-rtl": client("مكتب النور للمحاسبة"),
    "client-school": client("Grundschule am Mühlbach"),
    drivers: "/drivers",
    "driver-old": driver("Papyrus_Universal_PCL6_4.2.0_x64.zip"),
    "driver-move": `${driver("Papyrus_Universal_PCL6_4.2.0_x64.zip")}/move?to=${idIn(driver("Papyrus_Universal_PCL6_4.5.1_x64.zip"))}`,
    "driver-unchosen": driver("QM_C-Series_PCL6_PS_v3.1.4.zip"),
    "driver-missing-files": driver("Brevis_Label_L40_1.8.zip"),
    "driver-unsigned": driver("KALAMOS MX-200 Win7-Win8.zip"),
    "driver-two-infs": driver("Treiber_Kopierer_komplett.zip"),
    "driver-archive-gone": driver("Papyrus_Office210_x86_x64.zip"),
    "driver-unused": driver("Kalamos_HD36_Plotter_FullSuite.zip"),
    "driver-v4": driver("Quillmark_Class_Driver_V4_1.0.6.zip"),
    packages: "/packages",
    import: "/import",
    "script-read": `${printer("Kopierer 1. OG")}/read/install`,
    audit: "/audit?kind=printer",
    help: "/help",
    "help-page": "/help/intune",
    "help-found": "/help?q=not+at+this+site",
    nothing: "/nothing",
  };
}

/** Printers that scenes may delete, one for each scene variant. */
export function sparePrinters(app: App): readonly string[] {
  const { printer } = finder(app);
  return [printer("Loan printer 1"), printer("Loan printer 2")];
}

function idIn(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

/** Finds the paths of records by name. */
function finder({ store }: App) {
  const idOf = (found: { readonly id: number } | undefined, name: string) => {
    if (found === undefined) throw new Error(`the demo has no ${name}`);
    return found.id;
  };
  const printers = store.printers.list().map(({ printer }) => printer);
  const named = <T extends { readonly id: number }>(
    list: readonly T[],
    matches: (item: T) => boolean,
    name: string,
  ) => idOf(list.find(matches), name);
  return {
    printer: (name: string) => `/printers/${named(printers, (one) => one.name === name, name)}`,
    client: (name: string) => `/clients/${named(store.clients.names(), (one) => one.name === name, name)}`,
    driver: (name: string) =>
      `/drivers/${named(store.drivers.summaries(), (one) => one.file_name === name, name)}`,
  };
}
