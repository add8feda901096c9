import { backupCommand, restoreCommand } from "../../src/cli/backups.ts";
import { runPlaten } from "./backup/backup.ts";
import { isDeep } from "./depth.ts";

const commands = { backup: backupCommand, restore: restoreCommand };

/** Runs a command on a DATA_DIR: in this process in the quick tier, in a child process in the deep tier. */
export async function command(
  dataDir: string,
  name: keyof typeof commands,
  ...args: string[]
): Promise<{ readonly status: number | null; readonly stderr: string }> {
  if (isDeep) return runPlaten(dataDir, name, ...args);
  let stderr = "";
  const err = (text: string) => {
    stderr += text;
  };
  const status = await commands[name](args, { dataDir, version: "0.1.0", now: Date.now(), err });
  return { status, stderr };
}
