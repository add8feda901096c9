import { startDemo } from "./serve.ts";

/** `npm run demo`: serves the shop until a signal comes. */
async function main(): Promise<void> {
  let end = () => {};
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, end);
  const demo = await startDemo({ environment: process.env });
  process.stdout.write(`A shop to look at: ${demo.url} (everything in it goes when you press Ctrl+C)\n`);
  await ended;
  await demo.stop();
  // Connections of browsers may still be open.
  process.exit(0);
}

main().catch((error: unknown) => {
  process.stderr.write(`demo: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
});
