import { deployable, type Machine } from "./powershell.ts";

/** What x64 machines install. */
export const main = "Papyrus 100 PCL6";
/** What ARM64 machines install. */
export const arm = "Papyrus ARM";

/** A printer with a driver for x64 and another for ARM64. */
export function pair(
  printer: Parameters<typeof deployable>[0] = {},
  driver: Parameters<typeof deployable>[1] = {},
  arm64Driver: Parameters<typeof deployable>[2] = {},
) {
  const inf = {
    path: "sub/arm.inf",
    catalogFiles: ["sub/arm.cat"],
    architectures: ["arm64"],
    descriptions: [arm],
    driverVer: { date: "01/02/2026", version: "3.0.0.0" },
  } as const;
  return deployable(printer, driver, { inf, ...arm64Driver });
}

export const arm64: Machine = { Architecture: "arm64", ProcessArchitecture: "ARM64" };
