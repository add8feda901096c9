/** A printer that a change of its driver affects. */
export interface AffectedPrinter {
  readonly id: number;
  readonly name: string;
  readonly client: string | undefined;
}

/** @param clients all clients, for their names */
export function affectedPrinterMaker(clients: readonly Named[]) {
  const names = new Map(clients.map(({ id, name }) => [id, name]));
  return ({ id, name, client_id }: Named & { readonly client_id: number | null }): AffectedPrinter => ({
    id,
    name,
    client: client_id === null ? undefined : names.get(client_id),
  });
}

type Named = Pick<AffectedPrinter, "id" | "name">;

/** How a change of a driver affects its printers. */
export interface DriverEffects {
  /** Printers whose revision changes: their machines install again. */
  readonly redeployed: readonly AffectedPrinter[];
  /** Printers without a model of their own, if the change replaces the driver's model. */
  readonly switched: {
    readonly from: string;
    readonly to: string;
    readonly printers: readonly AffectedPrinter[];
  };
  /** Printers that deploy a model that the INF no longer has, by model. */
  readonly lost: ReadonlyMap<string, readonly AffectedPrinter[]>;
  /** The same for printers that use this driver for ARM64: they fail on ARM64 machines only. */
  readonly lostOnArm64: ReadonlyMap<string, readonly AffectedPrinter[]>;
  /** The driver's model if the INF does not have it: Windows will refuse it. */
  readonly refusedModel: string | undefined;
  /** Identifies these effects: a confirmation counts only for effects with the same digest. */
  readonly digest: string;
}

/** Whether the user must confirm the change. */
export function needsConfirmation({ redeployed, lost, refusedModel }: DriverEffects): boolean {
  return redeployed.length > 0 || lost.size > 0 || refusedModel !== undefined;
}
