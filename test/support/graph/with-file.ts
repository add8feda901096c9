import type { TestContext } from "node:test";
import type { BehaviourChanges } from "./behaviour.ts";
import { addFile, createApp, encryptPayload, waitForUploadState } from "./client.ts";
import { startGraph } from "./server.ts";

/** Stands for the ZIP in tests that do not open it. */
export const plainContent = Buffer.from("the ZIP inside ".repeat(100_000));

export async function tenantWithApp(t: TestContext, behaviour: BehaviourChanges = {}) {
  const tenant = (await startGraph(t)).tenant("shop", behaviour);
  return { tenant, id: await createApp(tenant) };
}

/** A tenant with an app and a file that has its upload URI. */
export async function tenantWithFile(
  t: TestContext,
  behaviour: BehaviourChanges = {},
  sealed = encryptPayload(plainContent),
) {
  const { tenant, id } = await tenantWithApp(t, behaviour);
  const { path, version } = await addFile(tenant, id, sealed);
  const uri = (await waitForUploadState(tenant, path)).azureStorageUri;
  return { tenant, id, sealed, path, version, uri };
}
