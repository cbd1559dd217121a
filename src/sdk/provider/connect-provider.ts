import type { CallContext, Tags } from '../capabilities/call.ts';
import { type Capabilities, type CapabilityName, READING_METHODS } from '../capabilities/capabilities.ts';
import { capabilityAnswers } from './capability-answers.ts';
import { checkedAnswer, checkedAnswers, wrongAnswer } from './checked-answer.ts';
import type { ConnectedProvider } from './connected-provider.ts';
import { frozenCopy } from './frozen-copy.ts';
import {
  type Deadline,
  type ProviderCall,
  providerErrorOf,
  withinDeadline,
  withoutSecrets,
} from './guarded-call.ts';
import { isPlain } from './plain-copy.ts';
import type { ConnectContext, ConnectedClient, ProviderDefinition } from './provider-definition.ts';
import { ProviderError } from './provider-error.ts';
import { callable, optional, record, text, wrongKind } from './shape.ts';
import { bareMethod, withUnguarded } from './unguarded.ts';

export type { ProviderCall } from './guarded-call.ts';

/** What a provider is connected with. */
export interface ConnectOptions {
  readonly context: ConnectContext;
  /** After so long a call fails, `connect` itself too. */
  readonly callTimeoutMs: number;
  /** Told of every call when it has ended. */
  readonly onCall?: (call: ProviderCall) => void;
}

/** What `connect` says beside the client, which may be anything. */
const CONNECTION = record<Pick<ConnectedClient<unknown>, 'clusterId' | 'close'>>({
  clusterId: optional(text),
  close: optional(callable),
});

type Method = (...args: readonly unknown[]) => unknown;
type Methods = Readonly<Record<string, Method>>;

/**
 * Connects a definition to its cloud and guards it: what its capabilities are given is frozen (ccm/I1), a call that takes
 * too long ends, what they throw is a ProviderError without secrets, and what they answer has been checked.
 *
 * @throws ProviderError when `connect` of the definition throws, answers wrongly or takes too long.
 */
export async function connectProvider<Client>(
  definition: ProviderDefinition<Client>,
  options: ConnectOptions,
): Promise<ConnectedProvider> {
  const guard = new Guard(definition, options);
  const connected = await guard.connect();
  const { client, clusterId } = connected;
  let closing: Promise<void> | undefined;
  const close = () => (closing ??= guard.close(connected));
  try {
    return {
      name: definition.name,
      definition,
      clusterId,
      clusterTags: guard.clusterTags(clusterId),
      capabilities: withUnguarded(
        capabilitiesOf(definition, (capability, method) => guard.bind(capability, method, client)),
        capabilitiesOf(definition, (_capability, _method, bare) => bareMethod(bare, client)),
      ),
      [Symbol.asyncDispose]: close,
    };
  } catch (thrown) {
    await close();
    throw thrown;
  }
}

/** A definition without a cloud, for whatever needs only its facts: every call rejects. */
export function offlineProvider(definition: ProviderDefinition): ConnectedProvider {
  const clusterId = 'offline';
  return {
    name: definition.name,
    definition,
    clusterId,
    clusterTags: Object.freeze({ [definition.tags.clusterKey(clusterId)]: 'owned' }),
    capabilities: capabilitiesOf(definition, (capability, method) => () => {
      const what = `${definition.name}.${capability}.${method}`;
      return Promise.reject(new ProviderError('unavailable', `${what} cannot be called: the provider is offline`));
    }),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}

/** The capabilities of a definition with every method replaced, except `declare`, which does no I/O. */
function capabilitiesOf(
  definition: ProviderDefinition,
  replace: (capability: CapabilityName, method: string, implementation: Method) => Method,
): Capabilities {
  const names = Object.keys(definition.capabilities) as readonly CapabilityName[];
  const entries = names.map((name) => {
    const methods = methodsOf(definition, name);
    const replaced = Object.entries(methods).map(([method, implementation]) => [
      method,
      method === 'declare' ? implementation : replace(name, method, implementation),
    ]);
    return [name, Object.freeze(Object.fromEntries(replaced))];
  });
  return Object.freeze(Object.fromEntries(entries)) as Capabilities;
}

/** The tables of methods hold what the types say, and the definition was checked against them. */
const methodsOf = (definition: ProviderDefinition, name: CapabilityName): Methods =>
  definition.capabilities[name] as unknown as Methods;

/** What stands between a provider and everybody else. */
class Guard {
  readonly #definition: ProviderDefinition;
  readonly #options: ConnectOptions;
  readonly #answers: ReturnType<typeof capabilityAnswers>;

  constructor(definition: ProviderDefinition, options: ConnectOptions) {
    this.#definition = definition;
    this.#options = options;
    this.#answers = capabilityAnswers(definition.providerID.pattern);
  }

  async connect(): Promise<ConnectedClient<unknown>> {
    const { config, clock, log, signal } = this.#options.context;
    const what = `${this.#definition.name}.connect`;
    const context = { config, clock, log, signal, secret: (name: string) => this.#secret(name) };
    const made = Promise.withResolvers<unknown>();
    const connecting = () => {
      made.resolve(this.#definition.connect(context));
      return made.promise;
    };
    const answer = await this.#run({ what, signal }, connecting).catch((thrown: unknown) => {
      // Nobody waits any more for what it opens, should it come.
      made.promise.then(
        (late) => this.close(Object(late)),
        () => undefined,
      );
      throw thrown;
    });
    try {
      return this.#connection(what, answer);
    } catch (thrown) {
      await this.close(Object(answer));
      throw thrown;
    }
  }

  #connection(what: string, answer: unknown): ConnectedClient<unknown> {
    if (typeof answer !== 'object' || answer === null || !('client' in answer)) {
      throw wrongAnswer(what, [wrongKind('', 'an object with client and clusterId', answer)]);
    }
    const { client, clusterId, close } = answer as Partial<ConnectedClient<unknown>>;
    const told = { ...(clusterId !== undefined && { clusterId }), ...(close !== undefined && { close }) };
    checkedAnswer({ what, answer: told, shape: CONNECTION });
    return { client, clusterId, ...(close !== undefined && { close: close.bind(answer) }) };
  }

  clusterTags(clusterId: string | undefined): Tags {
    if (clusterId === undefined) return Object.freeze({});
    try {
      return Object.freeze({ [this.#definition.tags.clusterKey(clusterId)]: 'owned' });
    } catch (thrown) {
      throw providerErrorOf(thrown, this.#secrets());
    }
  }

  /** A method as components call it: what it is given and a context, which is the last argument. */
  bind(capability: CapabilityName, method: string, client: unknown): Method {
    const { name } = this.#definition;
    const what = `${name}.${capability}.${method}`;
    const isChange = !READING_METHODS.has(method);
    const implementation = methodsOf(this.#definition, capability)[method];
    const shape = this.#answers[capability][method];
    if (implementation === undefined || shape === undefined) throw new Error(`no method ${what}`);
    const check = method === 'describeMany' ? checkedAnswers : checkedAnswer;
    return async (...args) => {
      // The types of capabilities say so.
      const { signal, log } = args.at(-1) as CallContext;
      const inputs = args.slice(0, -1).map(frozenCopy);
      return this.#measured({ capability, method }, async () => {
        const answer: unknown = await this.#run({ what, isChange, signal }, (inner) =>
          implementation(...inputs, Object.freeze({ signal: inner, log, client })),
        );
        const checked = check({ what, answer, shape, log });
        return checked instanceof Map
          ? new Map([...checked].map(([key, one]) => [key, this.#told(one)]))
          : this.#told(checked);
      });
    };
  }

  /** Ends what `connect` started. Failures are only told: whoever disposes has no use for them. */
  async close(connected: Pick<ConnectedClient<unknown>, 'close'>): Promise<void> {
    try {
      await this.#run({ what: `${this.#definition.name}.close` }, () => connected.close?.());
    } catch (err) {
      this.#options.context.log.warn({ err, provider: this.#definition.name }, 'Failed to close the provider');
    }
  }

  /** Within the time; everything thrown is ours, except the reason of a caller that gave up. */
  async #run<T>(
    call: Omit<Deadline, 'clock' | 'timeoutMs'>,
    work: (signal: AbortSignal) => T,
  ): Promise<Awaited<T>> {
    const { context, callTimeoutMs: timeoutMs } = this.#options;
    const { clock } = context;
    try {
      return await withinDeadline({ ...call, clock, timeoutMs }, async (inner) => await work(inner));
    } catch (thrown) {
      const { signal } = call;
      if (signal?.aborted === true && thrown === signal.reason) throw thrown;
      throw providerErrorOf(thrown, this.#secrets());
    }
  }

  async #measured<T>(call: Pick<ProviderCall, 'capability' | 'method'>, work: () => Promise<T>): Promise<T> {
    const { context, onCall } = this.#options;
    const startMs = context.clock.monotonicMs();
    let end: Pick<ProviderCall, 'result' | 'kind'> = { result: 'success' };
    try {
      return await work();
    } catch (thrown) {
      end = { result: 'error', ...(thrown instanceof ProviderError && { kind: thrown.kind }) };
      throw thrown;
    } finally {
      onCall?.({ ...call, ...end, durationMs: context.clock.monotonicMs() - startMs });
    }
  }

  /** What an answer says to people ends up in events: it holds no secret there. */
  #told(answer: unknown): unknown {
    if (!isPlain(answer)) return answer;
    const field = ['evidence', 'why'].find((name) => typeof answer[name] === 'string');
    if (field === undefined) return answer;
    return Object.freeze({ ...answer, [field]: withoutSecrets(String(answer[field]), this.#secrets()) });
  }

  #secret(name: string): string | undefined {
    if (this.#definition.secrets.includes(name)) return this.#options.context.secret(name);
    throw new ProviderError(
      'invalid',
      `${this.#definition.name}.connect asks for the secret ${name}, which the definition does not list: add it to secrets`,
    );
  }

  #secrets(): readonly string[] {
    const values = this.#definition.secrets.map((name) => this.#options.context.secret(name));
    return values.filter((value) => value !== undefined);
  }
}
