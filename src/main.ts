import { isMainThread, parentPort, workerData } from "node:worker_threads";
import { errorMessage } from "./domain/errors.ts";
import { inspectionArgument } from "./workers/inspection-process.ts";
import { tuneMemory } from "./workers/memory.ts";
import { workerRole } from "./workers/worker-thread.ts";

// The bundled file runs as one of three: a process that inspects a driver ZIP, the main thread of a command or the service,
// or a worker thread. Each loads only the modules that it needs.
if (isMainThread && process.argv[2] === inspectionArgument && process.send !== undefined) {
  void import("./services/drivers/inspection-child.ts").then(({ serveInspection }) =>
    serveInspection(process.argv[3] ?? "", Number(process.argv[4])),
  );
} else if (isMainThread) {
  tuneMemory();
  import("./serve.ts")
    .then(({ main }) => main())
    .catch((error: unknown) => {
      process.stderr.write(`platen: ${errorMessage(error)}\n`);
      process.exit(1);
    });
} else if (workerData === workerRole && parentPort !== null) {
  tuneMemory();
  const port = parentPort;
  void Promise.all([import("./workers/tasks.ts"), import("./store/files.ts")]).then(
    ([{ serveTasks }, { sourceOfOpen }]) => serveTasks(port, sourceOfOpen),
  );
}
