import type { EncryptedPrefix, EncryptionInfo } from "../../pkg/formats/checkpoints.ts";
import type { Described, LaidOutDrivers } from "../../pkg/formats/contents.ts";
import { layoutBytes } from "../../pkg/zip/layout.ts";
import { keptPrefixes } from "../../workers/tasks.ts";
import { LruCache } from "../lru-cache.ts";

const mebibyte = 1024 * 1024;

/** What is remembered of packages, so that nothing is computed twice. None of it holds a driver's bytes. */
export class PackageCaches {
  /** Drivers' files laid out, by `driversKey`: some megabytes for a driver of 60,000 files. */
  readonly drivers = new LruCache<LaidOutDrivers>({
    count: 256,
    weight: 48 * mebibyte,
    weigh: ({ prefix }) => layoutBytes(prefix.files) + layoutBytes(prefix.directory),
  });
  /** ZIPs laid out, by `contentsKey`. Each counts in full, though most of it is shared: then it is quickly made anew. */
  readonly layouts = new LruCache<Described>({
    count: 256,
    weight: 32 * mebibyte,
    weigh: ({ layout }) => layoutBytes(layout),
  });
  /** Beginnings of payloads, by the digest of the drivers: 32 KB for a gigabyte. */
  readonly prefixes = new LruCache<EncryptedPrefix>({
    count: keptPrefixes,
    weight: 8 * mebibyte,
    weigh: ({ checkpoints }) => checkpoints.length,
  });
  /** By the digest of the ZIP. */
  readonly encryptionInfos = new LruCache<EncryptionInfo>({
    count: 256,
    weight: 8 * mebibyte,
    weigh: ({ checkpoints }) => checkpoints.length,
  });
  /** SHA-256 of whole ZIPs in hex, by the digest of the ZIP. */
  readonly digests = new LruCache<string>({ count: 1024, weight: Number.POSITIVE_INFINITY, weigh: () => 0 });
}
