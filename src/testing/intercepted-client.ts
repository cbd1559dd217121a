import type { Kind } from '../api/object.ts';
import type { KubeClient, LiveReader, SubresourceClient } from '../kube/client/kube-client.ts';

type Verbs<C> = {
  [Name in keyof C & string]: C[Name] extends (...args: never[]) => Promise<unknown> ? Name : never;
}[keyof C & string];
/** What a client can be asked to do. Streams (`watch`, `watchBatches`, `listAll`) are not intercepted: use `Faults`. */
export type ClientVerb = Verbs<KubeClient>;

export interface ClientCall {
  readonly verb: ClientVerb;
  /** As they were given to the client. */
  readonly args: readonly unknown[];
  /** Absent for `evict`, `createToken` and `raw`. */
  readonly kind?: Kind;
  /** Asked of the server by the caller's wish, `client.live`. */
  readonly isLive: boolean;
  readonly subresource?: string;
}

export interface VerbHooks {
  /** What it throws is thrown instead of the call: nothing happens. */
  before?(call: ClientCall): void | Promise<void>;
  /** What it throws is thrown instead of the result: it happened, and the caller does not know. Not called for failures. */
  after?(call: ClientCall, result: unknown): void | Promise<void>;
}

/** By verb; `every` for all of them, before those of the verb. */
export type ClientHooks = { readonly [Verb in ClientVerb | 'every']?: VerbHooks };

/** The same client with hooks around each of its verbs, in every form of it: `live`, `as`, `subresource` (T4). */
export const interceptedClient = (client: KubeClient, hooks: ClientHooks): KubeClient =>
  hooked(client, hooks, {
    live: () => hooked<LiveReader>(client.live, hooks, {}, { isLive: true }),
    as: () => (fieldManager: string) => interceptedClient(client.as(fieldManager), hooks),
    subresource: () => (name: string) =>
      hooked<SubresourceClient>(client.subresource(name), hooks, {}, { subresource: name }),
  });

/** Names of members that are something else than they were. */
type Replaced = Readonly<Record<string, () => unknown>>;
type CallPart = Partial<Pick<ClientCall, 'isLive' | 'subresource'>>;

const STREAMS: ReadonlySet<string | symbol> = new Set(['watch', 'watchBatches', 'listAll']);

function hooked<C extends object>(target: C, hooks: ClientHooks, replaced: Replaced, part: CallPart = {}): C {
  return new Proxy(target, {
    get: (_target, name) => {
      if (typeof name === 'string' && Object.hasOwn(replaced, name)) return replaced[name]?.();
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== 'function') return member;
      // Methods may use private fields, which a proxy does not have.
      const method = member.bind(target) as (...args: readonly unknown[]) => Promise<unknown>;
      if (STREAMS.has(name)) return method;
      return (...args: readonly unknown[]) =>
        intercepted(method, callOf(String(name) as ClientVerb, args, part), hooks);
    },
  });
}

function callOf(verb: ClientVerb, args: readonly unknown[], part: CallPart): ClientCall {
  const [first] = args;
  const isKind = typeof first === 'object' && first !== null && 'plural' in first;
  return { verb, args, isLive: false, ...part, ...(isKind && { kind: first as unknown as Kind }) };
}

async function intercepted(
  method: (...args: readonly unknown[]) => Promise<unknown>,
  call: ClientCall,
  hooks: ClientHooks,
): Promise<unknown> {
  const both = [hooks.every, hooks[call.verb]];
  for (const hook of both) await hook?.before?.(call);
  const result = await method(...call.args);
  for (const hook of both) await hook?.after?.(call, result);
  return result;
}
