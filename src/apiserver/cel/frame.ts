import { CelError, CostError, type Value } from './value.ts';

/** The state of one evaluation: the variables by slot, and what it has cost so far. */
export class Frame {
  readonly slots: Value[];
  readonly limit: number;
  cost = 0;

  constructor(slots: Value[], limit: number) {
    this.slots = slots;
    this.limit = limit;
  }

  spend(cost: number): void {
    this.cost += cost;
    if (this.cost > this.limit) throw new CostError();
  }
}

/** A compiled part of an expression. */
export type Step = (frame: Frame) => Value;

/** What `&&`, `||` and the quantifiers may pass over: errors of the expression, not of its budget or of ours. */
export function absorbed(error: unknown): Error {
  if (error instanceof CelError) return error;
  throw error;
}
