import { atEnd } from "../at-end.ts";
import { Simulation } from "./powershell.ts";

/** The processes of PowerShell, by whether they use the network of this host. */
const shared = new Map<boolean, Simulation>();

function sharedBy(usesNetwork: boolean): Simulation {
  const found = shared.get(usesNetwork);
  if (found !== undefined) return found;
  const made = new Simulation();
  shared.set(usesNetwork, made);
  atEnd(() => made.close());
  return made;
}

/** The simulated Windows that all tests of this process share. Each test sets its own machine. */
export function simulatedWindows(): Simulation {
  return sharedBy(false);
}

/**
 * The simulated Windows for tests on the network of this host. It is another process, because PowerShell keeps the type to
 * which a name first resolved.
 */
export function windowsOnNetwork(): Simulation {
  return sharedBy(true);
}
