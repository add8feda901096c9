import { isMainThread, parentPort, workerData } from "node:worker_threads";
import { messageOf } from "./domain/errors.ts";
import { tuneMemory } from "./services/memory.ts";

// The one file in its two roles. Each loads only what it needs: a worker thread has no use for the server,
// the database or the pages, and should not pay for them.
tuneMemory();
if (isMainThread) {
  import("./serve.ts")
    .then(({ main }) => main())
    .catch((error: unknown) => {
      process.stderr.write(`platen: ${messageOf(error)}\n`);
      process.exit(1);
    });
} else if (workerData === "platen worker" && parentPort !== null) {
  const port = parentPort;
  void import("./services/worker-tasks.ts").then(({ serveTasks }) => serveTasks(port));
}
