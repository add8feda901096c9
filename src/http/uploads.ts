import type { IncomingMessage } from "node:http";
import type { Incoming } from "../store/blobs.ts";
import type { Store } from "../store/store.ts";
import { type Received, type Receiver, receiveFile } from "./requests/multipart.ts";

/** Receives a form's file into the store, for a service that takes it over. @throws UserError as `receiveFile` */
export function receiveUpload(
  { blobs }: Store,
  request: IncomingMessage,
  limit: Pick<Receiver<Incoming>, "limitBytes" | "tooLarge">,
): Promise<Received<Incoming>> {
  return receiveFile(request, {
    ...limit,
    receive: (stream) => blobs.receive(stream),
    discard: (incoming) => blobs.discard(incoming),
  });
}
