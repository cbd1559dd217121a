/** A target that may get the next connection. */
export interface Candidate {
  readonly target: string;
  readonly connections: number;
  /** Grows with every connection of the balancer; 0 for who never had one. */
  readonly lastTurn: number;
}

/** Pure: who has the fewest connections; among equals, who has waited longest. Undefined without candidates. */
export function chosenTarget(candidates: readonly Candidate[]): string | undefined {
  const [first, ...others] = candidates;
  if (first === undefined) return undefined;
  return others.reduce((best, next) => (isBefore(next, best) ? next : best), first).target;
}

const isBefore = (a: Candidate, b: Candidate): boolean =>
  a.connections < b.connections || (a.connections === b.connections && a.lastTurn < b.lastTurn);
