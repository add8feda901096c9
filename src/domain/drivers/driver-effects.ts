/** A printer as a change is said of it. */
export interface AffectedPrinter {
  readonly id: number;
  readonly name: string;
  readonly client: string | undefined;
}

/** Makes that of a printer. @param clients all that there are */
export function affectedAmong(clients: readonly Named[]) {
  const names = new Map(clients.map(({ id, name }) => [id, name]));
  return ({ id, name, client_id }: Named & { readonly client_id: number | null }): AffectedPrinter => ({
    id,
    name,
    client: client_id === null ? undefined : names.get(client_id),
  });
}

type Named = Pick<AffectedPrinter, "id" | "name">;

/** What a change of a driver does to the printers that have it. */
export interface DriverEffects {
  /** Those whose revision changes: their machines install again. */
  readonly redeployed: readonly AffectedPrinter[];
  /** Those that deploy the driver's own model, where that becomes another one. */
  readonly switched: {
    readonly from: string;
    readonly to: string;
    readonly printers: readonly AffectedPrinter[];
  };
  /** Those that deploy a model which the INF does not have then, by that model. */
  readonly lost: ReadonlyMap<string, readonly AffectedPrinter[]>;
  /** Likewise those of which it is the driver for ARM64: there alone they fail. */
  readonly lostOnArm64: ReadonlyMap<string, readonly AffectedPrinter[]>;
  /** The driver's own model, where the INF does not have it and Windows will refuse it. */
  readonly refusedModel: string | undefined;
  /** Names these effects: a person agrees to no others. */
  readonly digest: string;
}

/** Whether there is anything that a person is to agree to. */
export function hasEffects({ redeployed, lost, refusedModel }: DriverEffects): boolean {
  return redeployed.length > 0 || lost.size > 0 || refusedModel !== undefined;
}
