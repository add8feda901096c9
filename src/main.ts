import { isMainThread, parentPort, workerData } from "node:worker_threads";
import { messageOf } from "./domain/errors.ts";
import { inspectionArgument } from "./services/inspections.ts";
import { tuneMemory } from "./services/memory.ts";

// The one file in its three roles. Each loads only what it needs: a worker has no use for the server,
// the database or the pages, and should not pay for them.
if (isMainThread && process.argv[2] === inspectionArgument && process.send !== undefined) {
  void import("./services/inspection-process.ts").then(({ serveInspection }) => serveInspection());
} else if (isMainThread) {
  tuneMemory();
  import("./serve.ts")
    .then(({ main }) => main())
    .catch((error: unknown) => {
      process.stderr.write(`platen: ${messageOf(error)}\n`);
      process.exit(1);
    });
} else if (workerData === "platen worker" && parentPort !== null) {
  tuneMemory();
  const port = parentPort;
  void import("./services/worker-tasks.ts").then(({ serveTasks }) => serveTasks(port));
}
