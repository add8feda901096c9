import type { TestContext } from "node:test";
import type { TestApp } from "../app.ts";
import { startFilled } from "../filled.ts";

/** A service with one printer that is ready: number 1, called Office, at 10.0.0.9, with driver 1. */
export function withOnePrinter(t: TestContext): Promise<TestApp> {
  return startFilled(t, fill);
}

async function fill(service: TestApp): Promise<void> {
  await service.addPrinter();
}
