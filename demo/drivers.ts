import type { DemoArchive } from "./inf.ts";

/** The names of drivers in the tables of printers. */
export type DriverKey = keyof typeof archives;

const programs = { "core.dll": 900, "ui.dll": 1400, "render.dll": 2300, "data.gpd": 180, "fonts.dat": 640 };
const quillModels = ["C2200", "C2510", "C3000", "C3010", "C3510", "C4500", "C4510", "C5500", "C6010"];

/** Ten drivers of fictitious makers, in order of upload. */
export const archives = {
  /** Printers still use it although a newer version exists. */
  papyrusOld: papyrus("4.2.0.118", "03/14/2025", "Papyrus_Universal_PCL6_4.2.0_x64.zip"),
  /** Its model is not chosen. */
  quill: {
    fileName: "QM_C-Series_PCL6_PS_v3.1.4.zip",
    infs: [
      {
        path: "Driver/qmcser.inf",
        maker: "Quillmark",
        version: "3.1.4.0",
        date: "11/03/2025",
        models: [
          ...quillModels.map((name) => `Quillmark ${name} PCL 6`),
          "Quillmark C3000 PS",
          "Quillmark C4500 PS",
        ],
        files: programs,
      },
    ],
    beside: { "Readme.html": 40, "Setup/Setup.exe": 3100 },
  },
  /** Its archive is missing on disk. */
  office: {
    fileName: "Papyrus_Office210_x86_x64.zip",
    infs: [
      {
        path: "papoff21.inf",
        maker: "Papyrus",
        version: "2.0.7.0",
        date: "05/20/2024",
        models: ["Papyrus Office 210"],
        machines: ["x86", "amd64"],
        files: { "papoff21.dll": 420, "papoffui.dll": 260 },
      },
    ],
  },
  /** Two files are missing. */
  label: {
    fileName: "Brevis_Label_L40_1.8.zip",
    infs: [
      {
        path: "brevisl.inf",
        maker: "Brevis",
        version: "1.8.2.0",
        date: "02/11/2024",
        models: ["Brevis L40"],
        files: { "brevisl.dll": 310, "brevisui.dll": 190 },
        lacking: ["brevislm.dll", "brevisft.dat"],
      },
    ],
  },
  /** No catalog. */
  unsigned: {
    fileName: "KALAMOS MX-200 Win7-Win8.zip",
    infs: [
      {
        path: "KMX200.INF",
        maker: "Kalamos",
        version: "1.0.0.3",
        date: "08/06/2013",
        models: ["Kalamos MX-200"],
        isSigned: false,
        files: { "KMX200.DLL": 280, "KMX200UI.DLL": 340 },
      },
    ],
  },
  /** A dealer's ZIP with printer INFs of two makers. */
  dealer: {
    fileName: "Treiber_Kopierer_komplett.zip",
    infs: [
      {
        path: "Foliant/foliant6.inf",
        maker: "Foliant",
        version: "6.3.0.0",
        date: "01/22/2026",
        models: ["Foliant F-28", "Foliant F-36", "Foliant F-45", "Foliant F-55"],
        files: { "foliant6.dll": 1200, "folui.dll": 700 },
      },
      {
        path: "Brevis/brevisd.inf",
        maker: "Brevis",
        version: "2.2.1.0",
        date: "06/30/2025",
        models: ["Brevis D12", "Brevis D16"],
        files: { "brevisd.dll": 480 },
      },
    ],
    beside: { "Anleitung.pdf": 900 },
  },
  ostrakon: {
    fileName: "Ostrakon_Universal_PS_2.9_x64_ARM64.zip",
    infs: [
      {
        path: "ostrakps.inf",
        maker: "Ostrakon",
        version: "2.9.0.4410",
        date: "04/17/2026",
        models: ["Ostrakon Universal PS", "Ostrakon Universal PS (v2.9)"],
        machines: ["amd64", "arm64"],
        files: { "ostrakps.dll": 1300, "ostrakui.dll": 820, "ostrakps.ppd": 96 },
      },
    ],
    beside: { "License.txt": 14 },
  },
  /** No printer uses it, and its INF uses few of its files. */
  plotter: {
    fileName: "Kalamos_HD36_Plotter_FullSuite.zip",
    infs: [
      {
        path: "Drivers/khd36.inf",
        maker: "Kalamos",
        version: "7.1.0.55",
        date: "12/09/2025",
        models: ["Kalamos HD-36", "Kalamos HD-36 HPGL/2"],
        files: { "khd36.dll": 760, "khd36ui.dll": 530 },
      },
    ],
    beside: { "Suite/HD36Suite.msi": 9800, "Suite/Videos/Welcome.mp4": 4200, "Manuals/HD36_EN.pdf": 1700 },
  },
  v4: {
    fileName: "Quillmark_Class_Driver_V4_1.0.6.zip",
    infs: [
      {
        path: "qmclass4.inf",
        maker: "Quillmark",
        version: "1.0.6.0",
        date: "07/28/2026",
        models: ["Quillmark V4 Class Driver"],
        machines: ["amd64", "arm64"],
        isV4: true,
        files: { "qmclass4.gpd": 60, "qmclass4.dll": 350 },
      },
    ],
  },
  papyrusNew: papyrus("4.5.1.206", "09/02/2026", "Papyrus_Universal_PCL6_4.5.1_x64.zip"),
} satisfies Record<string, DemoArchive>;

function papyrus(version: string, date: string, fileName: string): DemoArchive {
  const models = ["Papyrus Universal PCL 6", `Papyrus Universal PCL 6 (v${version.slice(0, 5)})`];
  const inf = { path: "disk1/papyrusu.inf", maker: "Papyrus", version, date, models, files: programs };
  return { fileName, infs: [inf], beside: { "disk1/install.exe": 1800, "Release notes.pdf": 420 } };
}
