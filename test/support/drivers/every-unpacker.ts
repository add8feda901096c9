import { isDeep } from "../depth.ts";
import { unpackers } from "./foreign.ts";

/** Unpackers by name. Only the deep tier uses .NET, because its program must be built first. */
export const everyUnpacker = Object.entries(unpackers).filter(([name]) => isDeep || name !== "dotnet");
