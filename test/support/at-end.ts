const closers: (() => void | Promise<void>)[] = [];

/** Says what ends something that all test files of this process share, such as a browser. */
export function atEnd(close: () => void | Promise<void>): void {
  closers.push(close);
}

/** Ends what is shared; called by the worker after its last file. */
export async function closeShared(): Promise<void> {
  for (const close of closers.splice(0)) await close();
}
