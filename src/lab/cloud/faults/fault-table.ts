import { VirtualClock } from '../../../base/clock.ts';
import { notFound } from '../cloud-error.ts';
import { checked } from '../resources/request-schema.ts';
import type { CloudReader, Transaction } from '../resources/resource-kind.ts';
import type { ShelfName } from '../resources/resource-record.ts';
import {
  type FaultEffect,
  type FaultedRequest,
  type FaultSpec,
  faultSchema,
  fires,
  fits,
  isArmed,
  type KeptFault,
} from './fault.ts';

/** What the faults do to one request. */
export interface FaultedOutcome {
  /** Of all that fired together; where two say different things the earlier name counts. */
  readonly effect: FaultEffect;
  readonly names: readonly string[];
  /** The one that keeps states from ending. */
  readonly stuckBy: string | undefined;
}

export interface FaultTableOptions {
  readonly state: CloudReader;
  /** Synchronous and kept; touches no object. */
  readonly note: (work: (transaction: Transaction) => void) => void;
  /** What was stuck may go on. */
  readonly onChange: () => void;
  readonly seed: number;
}

const FAULTS: ShelfName<KeptFault> = { shelf: 'faults' };
const NOTHING: FaultedOutcome = { effect: {}, names: [], stuckBy: undefined };

/** The faults of one cloud; they and their counts are part of its state, chance comes from the seed (C11). */
export class FaultTable {
  readonly #options: FaultTableOptions;
  readonly #random: () => number;

  constructor(options: FaultTableOptions) {
    const chance = new VirtualClock({ seed: options.seed });
    this.#options = options;
    this.#random = () => chance.random();
  }

  list(): readonly KeptFault[] {
    return this.#options.state
      .entries(FAULTS)
      .map(([, fault]) => fault)
      .toSorted((a, b) => (a.name < b.name ? -1 : 1));
  }

  get(name: string): KeptFault | undefined {
    return this.#options.state.peek(FAULTS, name);
  }

  /** Also instead of an earlier one of that name; it counts from zero then. */
  put(name: string, spec: FaultSpec): KeptFault {
    const fault: KeptFault = { name, spec: checked(faultSchema, spec), matched: 0, fired: 0 };
    this.#options.note((transaction) => transaction.place(FAULTS, name, fault));
    this.#options.onChange();
    return fault;
  }

  delete(name: string): void {
    if (this.get(name) === undefined) throw notFound(`fault ${name}`);
    this.#options.note((transaction) => transaction.take(FAULTS, name));
    this.#options.onChange();
  }

  /** What happens to a request. It is counted. */
  outcome(request: FaultedRequest): FaultedOutcome {
    const now = this.#options.state.now;
    const fitting = this.list().filter((fault) => isArmed(fault, now) && fits(fault, request));
    if (fitting.length === 0) return NOTHING;
    const counted = fitting.map((fault) => this.#counted(fault));
    this.#options.note((transaction) => {
      for (const { fault } of counted) transaction.place(FAULTS, fault.name, fault);
    });
    return together(counted.filter(({ isFired }) => isFired).map(({ fault }) => fault));
  }

  /** How long the fault keeps what it stuck: so many milliseconds, or until it is taken away; undefined: no more. */
  stuckMs(name: string): number | 'always' | undefined {
    const until = this.get(name)?.spec.until;
    if (this.get(name) === undefined) return undefined;
    if (until === undefined) return 'always';
    return Math.max(0, Date.parse(until) - this.#options.state.now.getTime());
  }

  #counted(known: KeptFault): { readonly fault: KeptFault; readonly isFired: boolean } {
    const fault = { ...known, matched: known.matched + 1 };
    const isFired = fires(fault, this.#random);
    return { fault: { ...fault, fired: fault.fired + (isFired ? 1 : 0) }, isFired };
  }
}

function together(fired: readonly KeptFault[]): FaultedOutcome {
  if (fired.length === 0) return NOTHING;
  const effect = Object.assign({}, ...fired.map(({ spec }) => spec.effect).toReversed()) as FaultEffect;
  const stuck = fired.find(({ spec }) => spec.effect.stateStuck === true);
  return { effect, names: fired.map(({ name }) => name), stuckBy: stuck?.name };
}
