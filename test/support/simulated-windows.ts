import { after } from "node:test";
import { Simulation } from "./powershell.ts";

/** A simulated Windows for the suite or the test that asks, gone after it. */
export function simulatedWindows(): Simulation {
  const windows = new Simulation();
  after(() => windows.close());
  return windows;
}
