import { atEnd } from "./at-end.ts";
import { Simulation } from "./powershell.ts";

let windows: Simulation | undefined;

/** The simulated Windows that all tests of this process share: each puts a machine of its own in place. */
export function simulatedWindows(): Simulation {
  if (windows === undefined) {
    windows = new Simulation();
    atEnd(() => windows?.close());
  }
  return windows;
}
