import { messageOf } from '../../base/errors.ts';

/** One promise of a capability, and how it is checked. */
export interface ContractCase<Subject> {
  /** Stable: `instances/absent-has-evidence`. */
  readonly id: string;
  /** In words of people who write providers. */
  readonly promise: string;
  /** Arrangements that a subject may leave out; the case is skipped without them. */
  readonly needs?: readonly (keyof Subject & string)[];
  /** Why it does not apply to this provider; undefined when it does. */
  skip?(subject: Subject): string | undefined;
  /** Throws when the promise is broken, with `broken` to say what was found. */
  check(subject: Subject): Promise<void>;
}

/** What a capability promises, as data: to be run by any test framework, or by none. */
export interface ContractSuite<Subject> {
  /** Of the capability. */
  readonly name: string;
  readonly cases: readonly ContractCase<Subject>[];
}

/** What became of a case. */
export type ContractResult =
  | { readonly id: string; readonly promise: string; readonly outcome: 'kept' }
  | { readonly id: string; readonly promise: string; readonly outcome: 'skipped'; readonly why: string }
  | {
      readonly id: string;
      readonly promise: string;
      readonly outcome: 'broken';
      /** Names the promise and what was found. */
      readonly message: string;
      readonly cause: unknown;
    };

export interface ContractOptions<Subject> {
  /** A provider and the means to arrange its cloud, once for a whole suite; disposed when the suite is over. */
  make(): Promise<Subject> | Subject;
}

/** A promise is broken; the message is what was found, and the promise is added by whoever runs the case. */
export class BrokenPromise extends Error {
  constructor(found: string, options?: ErrorOptions) {
    super(found, options);
    this.name = 'BrokenPromise';
  }
}

export const broken = (found: string, cause?: unknown): BrokenPromise =>
  new BrokenPromise(found, cause === undefined ? undefined : { cause });

/** Runs every case of a suite, one after the other, and never rejects because of a broken promise. */
export async function runContract<Subject extends AsyncDisposable>(
  suite: ContractSuite<Subject>,
  options: ContractOptions<Subject>,
): Promise<readonly ContractResult[]> {
  await using subject = await options.make();
  const results: ContractResult[] = [];
  for (const each of suite.cases) results.push(await runCase(each, subject));
  return results;
}

export async function runCase<Subject>(each: ContractCase<Subject>, subject: Subject): Promise<ContractResult> {
  const { id, promise } = each;
  const why = skipReason(each, subject);
  if (why !== undefined) return { id, promise, outcome: 'skipped', why };
  try {
    await each.check(subject);
    return { id, promise, outcome: 'kept' };
  } catch (cause) {
    const found = cause instanceof BrokenPromise ? cause.message : `a call threw: ${messageOf(cause)}`;
    return { id, promise, outcome: 'broken', message: `promise broken: ${promise} — ${found}`, cause };
  }
}

function skipReason<Subject>(each: ContractCase<Subject>, subject: Subject): string | undefined {
  const missing = each.needs?.find((name) => subject[name] === undefined);
  return missing === undefined ? each.skip?.(subject) : `the subject has no ${missing}()`;
}
