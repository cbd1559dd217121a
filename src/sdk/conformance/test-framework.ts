import {
  BrokenPromise,
  type ContractOptions,
  type ContractResult,
  type ContractSuite,
  runCase,
} from './contract.ts';

/** What a case is told by the framework that runs it. */
export interface CaseContext {
  skip?(why: string): void;
}

/** As `node:test` has them; others have the same under the same or similar names. Give all three or none. */
export interface TestFramework {
  describe(name: string, body: () => void): unknown;
  it(name: string, body: (context?: CaseContext) => Promise<void>): unknown;
  after(body: () => Promise<void>): unknown;
}

export interface ConformanceOptions<Subject> extends ContractOptions<Subject>, Partial<TestFramework> {}

/** Registers a suite: one test per promise, on one subject. */
export function registerContract<Subject extends AsyncDisposable>(
  suite: ContractSuite<Subject>,
  options: ConformanceOptions<Subject>,
): void {
  const framework = isComplete(options) ? options : { ...nodeTest(), ...options };
  framework.describe(`contract of ${suite.name}`, () => {
    // With the first case that runs: a filter may leave none.
    let subject: Promise<Subject> | undefined;
    for (const each of suite.cases) {
      framework.it(`${each.id}: ${each.promise}`, async (context) => {
        subject ??= Promise.resolve(options.make());
        const result = await runCase(each, await subject);
        if (result.outcome === 'broken') throw failureOf(result);
        if (result.outcome === 'skipped') context?.skip?.(result.why);
      });
    }
    framework.after(async () => {
      const made = await subject;
      await made?.[Symbol.asyncDispose]();
    });
  });
}

/**
 * Frameworks print the stack. A broken promise has none to show: all frames of it are of this folder, and the message says
 * what was found. What a call threw keeps its own, as the cause.
 */
function failureOf({ message, cause }: Extract<ContractResult, { readonly outcome: 'broken' }>): Error {
  const thrown = cause instanceof BrokenPromise ? cause.cause : cause;
  const failure = new Error(message, thrown === undefined ? undefined : { cause: thrown });
  failure.stack = message;
  return failure;
}

const isComplete = (given: Partial<TestFramework>): given is TestFramework =>
  given.describe !== undefined && given.it !== undefined && given.after !== undefined;

/** Loaded here and now: programs that import the SDK must not load a test runner with it. */
function nodeTest(): TestFramework {
  const { describe, it, after } = process.getBuiltinModule('node:test');
  return {
    describe: (name, body) => void describe(name, body),
    it: (name, body) => void it(name, (context) => body({ skip: (why) => context.skip(why) })),
    after: (body) => after(body),
  };
}
