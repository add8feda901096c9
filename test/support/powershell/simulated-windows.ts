import { after } from "node:test";
import { atEnd } from "../at-end.ts";
import { Simulation } from "./powershell.ts";

let windows: Simulation | undefined;

/** The simulated Windows that all tests of this process share. Each test sets its own machine. */
export function simulatedWindows(): Simulation {
  if (windows === undefined) {
    windows = new Simulation();
    atEnd(() => windows?.close());
  }
  return windows;
}

/**
 * A simulated Windows for one suite or test; it is closed after it. Tests on the real network need their own process,
 * because PowerShell keeps the type to which a name first resolved.
 */
export function ownWindows(): Simulation {
  const own = new Simulation();
  after(() => own.close());
  return own;
}
