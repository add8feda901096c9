import { isDeep } from "../depth.ts";
import { unpackers } from "./foreign.ts";

/** Other people's programs that open a ZIP, by name. .NET's is the deep tier's: it has to be built first. */
export const everyUnpacker = Object.entries(unpackers).filter(([name]) => isDeep || name !== "dotnet");
