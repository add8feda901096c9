import { after } from "node:test";
import { atEnd } from "../at-end.ts";
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

/**
 * A simulated Windows for the suite or the test that asks: what reaches the real network has a process for itself, since
 * PowerShell keeps the type that a name stood for when it was first used.
 */
export function ownWindows(): Simulation {
  const own = new Simulation();
  after(() => own.close());
  return own;
}
