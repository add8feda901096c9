import type { IncomingMessage } from "node:http";
import type { Incoming, UploadReader } from "../store/blobs.ts";
import type { Store } from "../store/store.ts";
import { type Received, type Receiver, receiveFile } from "./requests/multipart.ts";

/** How much a form's file may have, and who reads it while it arrives. */
interface UploadOptions extends Pick<Receiver<Incoming>, "limitBytes" | "tooLarge"> {
  readonly reader?: UploadReader;
}

/** Receives a form's file into the store, for a service that takes it over. @throws UserError as `receiveFile` */
export function receiveUpload(
  { blobs }: Store,
  request: IncomingMessage,
  { reader, ...limit }: UploadOptions,
): Promise<Received<Incoming>> {
  return receiveFile(request, {
    ...limit,
    receive: (stream) => blobs.receive(stream, reader),
    discard: (incoming) => blobs.discard(incoming),
  });
}
