import type { TestContext } from "node:test";
import type { BehaviourChanges } from "./behaviour.ts";
import { addedFile, createdApp, seal, settled } from "./client.ts";
import { startGraph } from "./server.ts";

/** The ZIP inside a payload, for what does not look into it. */
export const plain = Buffer.from("the ZIP inside ".repeat(100_000));

export async function tenantWithApp(t: TestContext, behaviour: BehaviourChanges = {}) {
  const tenant = (await startGraph(t)).tenant("shop", behaviour);
  return { tenant, id: await createdApp(tenant) };
}

/** A tenant with an app and a file whose address was issued. */
export async function tenantWithFile(t: TestContext, behaviour: BehaviourChanges = {}, sealed = seal(plain)) {
  const { tenant, id } = await tenantWithApp(t, behaviour);
  const { path, version } = await addedFile(tenant, id, sealed);
  const uri = (await settled(tenant, path)).azureStorageUri;
  return { tenant, id, sealed, path, version, uri };
}
