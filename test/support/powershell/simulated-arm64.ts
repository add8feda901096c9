import { deployable, type Machine } from "./powershell.ts";

/** The model that x64 machines install. */
export const x64Model = "Papyrus 100 PCL6";
/** The model that ARM64 machines install. */
export const arm64Model = "Papyrus ARM";

/** A printer with one driver for x64 and one for ARM64. */
export function driverPair(
  printer: Parameters<typeof deployable>[0] = {},
  driver: Parameters<typeof deployable>[1] = {},
  arm64Driver: Parameters<typeof deployable>[2] = {},
) {
  const inf = {
    path: "sub/arm.inf",
    catalogFiles: ["sub/arm.cat"],
    architectures: ["arm64"],
    descriptions: [arm64Model],
    driverVer: { date: "01/02/2026", version: "3.0.0.0" },
  } as const;
  return deployable(printer, driver, { inf, ...arm64Driver });
}

export const arm64Machine: Machine = { Architecture: "arm64", ProcessArchitecture: "ARM64" };
