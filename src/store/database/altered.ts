import initSqlJs from "sql.js";
import wasm from "sql.js/dist/sql-wasm.wasm";
import { Connection } from "./connection.ts";
import type { Queries } from "./rows.ts";

/** The bytes of a sound database after some statements, without its file being touched. Its version stays. */
export async function alteredBytes(bytes: Uint8Array, alter: (db: Queries) => void): Promise<Uint8Array> {
  const sql = await initSqlJs({ wasmBinary: wasm.buffer as ArrayBuffer });
  const copy = Connection.copyOf(sql, bytes);
  try {
    alter(copy);
    return copy.export();
  } finally {
    copy.close();
  }
}
