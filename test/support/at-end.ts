const closers: (() => void | Promise<void>)[] = [];

/** Registers a function that closes something which all test files of this process share, such as a browser. */
export function atEnd(close: () => void | Promise<void>): void {
  closers.push(close);
}

/** Closes everything shared. The worker calls it after its last file. */
export async function closeShared(): Promise<void> {
  for (const close of closers.splice(0)) await close();
}
