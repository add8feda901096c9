/** The counts of a run of kills. */
export interface Tally {
  kills: number;
  /** Kills that came while a write was under way. */
  midway: number;
  /** The number of acknowledged writes of each kind. */
  readonly acknowledged: Map<string, number>;
}

const kindsOfWrites: Readonly<Record<"signedInByProxy" | "withPasswords", readonly string[]>> = {
  signedInByProxy: [
    ...["client", "printer", "driver"].map((kind) => `a restored ${kind}`),
    ...["client", "printer", "driver", "token", "account"].flatMap((kind) => [
      `a new ${kind}`,
      `a deleted ${kind}`,
    ]),
    ...["an account to disable", "an account to enable", "a final deletion"],
    ...["an icon", "a deleted icon", "links that end"],
  ],
  withPasswords: ["a one-time password", "a chosen password", "a session", "an ended session"],
};

/** Writes acknowledged before at most one kill in a hundred, and less often on a slow machine. Only long runs require them. */
const rare: ReadonlySet<string> = new Set(["a restored driver", "a restored printer", "a chosen password"]);

/** The writes that were not acknowledged often enough yet, such as `2 × a new client`. */
export function missingWrites({ midway, acknowledged }: Tally, kills: number): string[] {
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

/** @param lacking a text from `missingWrites` */
export function needsPasswords(lacking: string): boolean {
  return kindsOfWrites.withPasswords.some((kind) => lacking.endsWith(` × ${kind}`));
}

const sum = (counts: ReadonlyMap<string, number>) => [...counts.values()].reduce((all, n) => all + n, 0);
