/** What came of many kills. */
export interface Tally {
  kills: number;
  /** Kills that came while a write was under way. */
  midway: number;
  /** How many writes were acknowledged, by what they do. */
  readonly acknowledged: Map<string, number>;
}

const kindsOfWrites: Readonly<Record<"signedInByProxy" | "withPasswords", readonly string[]>> = {
  signedInByProxy: [
    ...["client", "printer", "driver"].map((kind) => `a ${kind} that comes back`),
    ...["client", "printer", "driver", "token", "account"].flatMap((kind) => [
      `a new ${kind}`,
      `a deleted ${kind}`,
    ]),
    ...["an account to disable", "an account to enable", "a deletion for good"],
    ...["an icon", "an icon that is taken away", "links that end"],
  ],
  withPasswords: ["a one-time password", "a password of one's own", "a session", "an ended session"],
};

/** What is acknowledged before one kill of a hundred at most, and less often on a slow machine: many kills ask for it. */
const rare: ReadonlySet<string> = new Set([
  "a driver that comes back",
  "a printer that comes back",
  "a password of one's own",
]);

/** What kills have not shown often enough yet, as `2 × a new client`. */
export function lackingIn({ midway, acknowledged }: Tally, kills: number): string[] {
  const floorOf = (kind: string) => (rare.has(kind) ? Math.floor(kills / 1000) : Math.ceil(kills / 200));
  const kinds = Object.values(kindsOfWrites).flat();
  const floors = [
    ...kinds.map((what) => [what, acknowledged.get(what) ?? 0, floorOf(what)] as const),
    ["acknowledged", sum(acknowledged), kills] as const,
    ["kills while a write was under way", midway, kills / 2] as const,
  ];
  return floors.flatMap(([what, count, least]) => (count < least ? [`${least - count} × ${what}`] : []));
}

export function tallyLine({ kills, midway, acknowledged }: Tally): string {
  const lines = [...acknowledged].map(([what, count]) => `${what} ${count}`).sort();
  const all = `${kills} kills, ${midway} of them while a write was under way; ${sum(acknowledged)} acknowledged`;
  return `${all}: ${lines.join(", ")}`;
}

/** @param lacking as `lackingIn` says it */
export function needsPasswords(lacking: string): boolean {
  return kindsOfWrites.withPasswords.some((kind) => lacking.endsWith(` × ${kind}`));
}

const sum = (counts: ReadonlyMap<string, number>) => [...counts.values()].reduce((all, n) => all + n, 0);
