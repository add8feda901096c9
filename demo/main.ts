import { startDemo } from "./serve.ts";

/** `npm run demo`: serves the demo until a signal. A signal while its records are created ends it at once. */
async function main(): Promise<void> {
  let atSignal = (): void => process.exit(130);
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => atSignal());
  process.stdout.write("Filling the demo with data; this takes up to a minute.\n");
  const demo = await startDemo({ environment: process.env });
  const ended = new Promise<void>((resolve) => {
    atSignal = resolve;
  });
  process.stdout.write(`Demo at ${demo.url} (Ctrl+C stops it and deletes its data)\n`);
  await ended;
  await demo.stop();
  process.exit(0);
}

main().catch((error: unknown) => {
  process.stderr.write(`demo: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
});
