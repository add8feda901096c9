import { backupCommand, restoreCommand } from "../../src/cli/backups.ts";
import { platen } from "./backup/backup.ts";
import { isDeep } from "./depth.ts";

const commands = { backup: backupCommand, restore: restoreCommand };

/** What a command of the program says of a DATA_DIR: in the quick tier in this process, in the deep one in its own. */
export async function command(
  dataDir: string,
  name: keyof typeof commands,
  ...args: string[]
): Promise<{ readonly status: number | null; readonly stderr: string }> {
  if (isDeep) return platen(dataDir, name, ...args);
  let stderr = "";
  const err = (text: string) => {
    stderr += text;
  };
  const status = await commands[name](args, { dataDir, version: "0.1.0", now: Date.now(), err });
  return { status, stderr };
}
