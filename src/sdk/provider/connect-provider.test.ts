import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { describe, it } from 'node:test';
import { VirtualClock } from '../../base/clock.ts';
import { type Log, SILENT_LOG } from '../../base/log.ts';
import type { CallContext } from '../capabilities/call.ts';
import type { InstanceRef } from '../capabilities/instances.ts';
import type { BalancerPlan } from '../capabilities/load-balancers.ts';
import { connectProvider, offlineProvider, type ProviderCall } from './connect-provider.ts';
import { defineProvider } from './define-provider.ts';
import { providerErrorOf } from './guarded-call.ts';
import type { ConnectContext, ProviderDefinition, ProviderInput } from './provider-definition.ts';
import { ProviderError } from './provider-error.ts';

const PRESENT = {
  state: 'present',
  power: 'on',
  providerID: 'acme://eu-1/0a',
  addresses: [{ type: 'InternalIP', address: '10.0.0.1' }],
};

const BALANCERS = {
  protocols: ['TCP'],
  healthChecks: ['tcp'],
  sourceRanges: true,
  preservesClientAddress: false,
  sessionAffinity: false,
  scopes: ['public'],
};

type Loose = Record<string, unknown>;

/** What a provider answers is wrong on purpose in many tests. */
function definition(capabilities: Loose, changes: Loose = {}): ProviderDefinition {
  const input = {
    name: 'acme',
    displayName: 'Acme Cloud',
    architectures: ['amd64'],
    providerID: { scheme: 'acme', format: '{zone}/{id}', pattern: /^acme:\/\/[a-z0-9-]+\/[0-9a-f]+$/ },
    ccm: { external: false },
    secrets: ['ACME_TOKEN'],
    connect: () => ({ client: 'the client', clusterId: 'c1' }),
    capabilities,
    ...changes,
  };
  return defineProvider(input as unknown as ProviderInput<unknown>);
}

const instances = (describeOne: unknown, more: Loose = {}): Loose => ({
  instances: { declare: () => ({}), describe: describeOne, ...more },
});

const balancers = (methods: Loose): Loose => {
  const unused = async () => assert.fail('not called');
  const loadBalancers = { declare: () => BALANCERS, find: unused, ensure: unused, setBackends: unused };
  return { loadBalancers: { ...loadBalancers, remove: unused, ...methods } };
};

class Setup {
  readonly clock = new VirtualClock();
  readonly stop = new AbortController();
  readonly warnings: unknown[] = [];
  readonly calls: ProviderCall[] = [];
  readonly log: Log = { ...SILENT_LOG, warn: (fields) => void this.warnings.push(fields) };
  readonly call: CallContext = { signal: this.stop.signal, log: this.log };

  connect(given: ProviderDefinition) {
    const context: ConnectContext = {
      config: undefined,
      secret: (name) => (name === 'ACME_TOKEN' ? 'hunter2hunter2' : undefined),
      clock: this.clock,
      log: this.log,
      signal: this.stop.signal,
    };
    return connectProvider(given, { context, callTimeoutMs: 30_000, onCall: (call) => this.calls.push(call) });
  }

  async describe(describeOne: unknown): Promise<unknown> {
    const { capabilities } = await this.connect(definition(instances(describeOne)));
    return capabilities.instances?.describe(ref(), this.call);
  }
}

const ref = (): InstanceRef => ({
  nodeName: 'w-0',
  node: { apiVersion: 'v1', kind: 'Node', metadata: { name: 'w-0', labels: { a: 'b' } }, spec: {} },
});

/** The error of a promise that must fail. */
const failure = (promise: Promise<unknown>): Promise<ProviderError> =>
  promise.then(
    () => assert.fail('it did not fail'),
    (thrown: unknown) => {
      assert.ok(thrown instanceof ProviderError, String(thrown));
      return thrown;
    },
  );

describe('a connected provider', () => {
  it('gives the client and the log with every call, as the last argument', async () => {
    const setup = new Setup();
    let got: Loose = {};
    const answer = await setup.describe(async (one: InstanceRef, call: Loose) => {
      got = { nodeName: one.nodeName, ...call };
      return PRESENT;
    });
    assert.deepEqual(answer, PRESENT);
    assert.deepEqual([got['nodeName'], got['client'], got['log']], ['w-0', 'the client', setup.log]);
    assert.deepEqual(setup.calls, [
      { capability: 'instances', method: 'describe', result: 'success', durationMs: 0 },
    ]);
  });

  it('knows the cluster and the tag of everything that belongs to it', async () => {
    const setup = new Setup();
    const provider = await setup.connect(definition(instances(async () => PRESENT)));
    assert.deepEqual([provider.name, provider.clusterId], ['acme', 'c1']);
    assert.deepEqual(provider.clusterTags, { 'kubernetes.io/cluster/c1': 'owned' });
    assert.deepEqual(provider.capabilities.instances?.declare(), {});
    assert.equal(provider.capabilities.zones, undefined);
  });

  it('ccm/P8: leaves it to the program what to do without the id of a cluster', async () => {
    const setup = new Setup();
    const connect = () => ({ client: 1, clusterId: undefined });
    const provider = await setup.connect(definition({}, { connect }));
    assert.deepEqual([provider.clusterId, provider.clusterTags], [undefined, {}]);
  });

  it('ccm/P7: hands on the configuration, and only the secrets that the definition lists', async () => {
    const setup = new Setup();
    let seen: unknown;
    const connect = (context: ConnectContext) => {
      seen = [context.config, context.secret('ACME_TOKEN')];
      return { client: context.secret('PATH'), clusterId: 'c1' };
    };
    const error = await failure(setup.connect(definition({}, { connect })));
    assert.deepEqual(seen, [undefined, 'hunter2hunter2']);
    assert.equal(error.kind, 'invalid');
    assert.match(error.message, /secret PATH.*add it to secrets/);
  });

  for (const answer of [undefined, null, {}, 'client', { client: 1, clusterId: 3 }, { client: 1, close: true }]) {
    it(`refuses a connection that is ${JSON.stringify(answer)}`, async () => {
      const setup = new Setup();
      const error = await failure(setup.connect(definition({}, { connect: () => answer })));
      assert.equal(error.kind, 'unknown');
      assert.match(error.message, /^acme\.connect gave a wrong answer: .+ must be/);
    });
  }

  it('closes the connection once, and only tells when that fails', async () => {
    const setup = new Setup();
    let closed = 0;
    const close = async () => {
      closed++;
      throw new Error('already gone');
    };
    const provider = await setup.connect(
      definition({}, { connect: () => ({ client: 1, clusterId: 'x', close }) }),
    );
    await provider[Symbol.asyncDispose]();
    await provider[Symbol.asyncDispose]();
    assert.equal(closed, 1);
    assert.equal(setup.warnings.length, 1);
  });
});

describe('a connection that nobody takes', () => {
  for (const giveUp of ['the time is over', 'the program stops'] as const) {
    it(`style/S47: is closed when it comes after ${giveUp}, and only tells when that fails`, async () => {
      const setup = new Setup();
      const late = Promise.withResolvers<unknown>();
      const pending = setup.connect(definition({}, { connect: () => late.promise }));
      const ended = assert.rejects(pending);
      await setup.clock.advance(0);
      if (giveUp === 'the program stops') setup.stop.abort(new Error('stopping'));
      await setup.clock.advance(30_000);
      await ended;
      let closed = 0;
      const close = () => Promise.reject(new Error(`closed ${++closed}`));
      late.resolve({ client: 1, clusterId: 'c1', close });
      await setup.clock.advance(30_000);
      assert.deepEqual([closed, setup.warnings.length], [1, 1]);
    });
  }

  it('is none when connect fails after the time is over, and that is nobody’s business', async () => {
    const setup = new Setup();
    const late = Promise.withResolvers<unknown>();
    const pending = failure(setup.connect(definition({}, { connect: () => late.promise })));
    await setup.clock.advance(30_000);
    await pending;
    late.reject(new Error('too late'));
    await setup.clock.advance(30_000);
    assert.equal(setup.warnings.length, 0);
  });

  it('style/S47: is closed when its answer is wrong, or the tag of its cluster cannot be made', async () => {
    let closed = 0;
    const close = async () => void closed++;
    const clusterKey = (id: string) => (id === 'c1' ? assert.fail('no such cluster') : `acme/${id}`);
    for (const [clusterId, changes] of [
      [3, {}],
      ['c1', { tags: { clusterKey } }],
    ] as const) {
      const connect = () => ({ client: 1, clusterId, close });
      await failure(new Setup().connect(definition({}, { connect, ...changes })));
    }
    assert.equal(closed, 2);
  });
});

describe('what a provider is given', () => {
  it('ccm/I1: is frozen at every depth, so that a change throws, and is nobody else’s', async () => {
    const setup = new Setup();
    const { capabilities } = await setup.connect(
      definition(
        instances(async ({ node }: InstanceRef) => {
          Object.assign(node.metadata.labels ?? {}, { a: 'changed' });
        }),
      ),
    );
    const given = ref();
    const error = await failure(Promise.resolve(capabilities.instances?.describe(given, setup.call)));
    assert.match(error.message, /read only property 'a'/);
    assert.equal(given.node.metadata.labels?.['a'], 'b');
    assert.ok(!Object.isFrozen(given) && !Object.isFrozen(given.node.metadata));
  });

  it('ccm/I1: is not copied when it is frozen already', async () => {
    const setup = new Setup();
    const metadata = Object.freeze({ name: 'w-0' });
    const node = Object.freeze({ apiVersion: 'v1', kind: 'Node', metadata, spec: Object.freeze({}) } as const);
    let got: unknown;
    const { capabilities } = await setup.connect(
      definition(
        instances(async (one: InstanceRef) => {
          got = one.node;
          return PRESENT;
        }),
      ),
    );
    await capabilities.instances?.describe({ nodeName: 'w-0', node }, setup.call);
    assert.equal(got, node);
  });

  it('ccm/I1: is a copy where it is bytes, also those of a Buffer', async () => {
    const setup = new Setup();
    const put = async (_bucket: string, { content }: { readonly content: Uint8Array }) => void content.fill(0);
    const declare = () => ({ s3: false, pathStyle: false });
    const objectStore = { declare, ensure: put, put, link: put, remove: put };
    const { capabilities } = await setup.connect(definition({ objectStore }));
    for (const content of [Buffer.from('abc'), new TextEncoder().encode('abc')]) {
      await capabilities.objectStore?.put('bucket', { key: 'x', content }, setup.call);
      assert.equal(new TextDecoder().decode(content), 'abc');
    }
  });
});

describe('a provider that does not answer', () => {
  it('ends with an error that names the call and the time, though it ignores its signal', async () => {
    const setup = new Setup();
    let signal: AbortSignal | undefined;
    const pending = failure(
      setup.describe((_ref: InstanceRef, call: CallContext) => {
        signal = call.signal;
        return new Promise(() => {});
      }),
    );
    // Until the call is under way.
    await setup.clock.advance(0);
    await setup.clock.advance(29_999);
    assert.equal(signal?.aborted, false);
    await setup.clock.advance(1);
    const error = await pending;
    assert.equal(error.kind, 'unavailable');
    assert.equal(error.message, 'acme.instances.describe gave no answer within 30s');
    assert.equal(signal?.aborted, true);
    assert.deepEqual(setup.calls, [
      { capability: 'instances', method: 'describe', result: 'error', kind: 'unavailable', durationMs: 30_000 },
    ]);
  });

  it('does the same while it connects', async () => {
    const setup = new Setup();
    const pending = failure(setup.connect(definition({}, { connect: () => new Promise(() => {}) })));
    await setup.clock.advance(30_000);
    const { kind, message } = await pending;
    assert.deepEqual([kind, message], ['unavailable', 'acme.connect gave no answer within 30s']);
  });

  for (const [method, kind] of [
    ['find', 'unavailable'],
    ['ensure', 'uncertain'],
    ['setBackends', 'uncertain'],
    ['remove', 'uncertain'],
  ] as const) {
    it(`reliability/P31, style/S34: is ${kind} when it was asked to ${method} a balancer`, async () => {
      const setup = new Setup();
      const given = definition(balancers({ [method]: () => new Promise(() => {}) }));
      const { loadBalancers } = (await setup.connect(given)).capabilities;
      assert.ok(loadBalancers !== undefined);
      const plan = {} as BalancerPlan;
      const called =
        method === 'setBackends'
          ? loadBalancers.setBackends(plan, [], setup.call)
          : loadBalancers[method](plan, setup.call);
      const pending = failure(called);
      await setup.clock.advance(30_000);
      const error = await pending;
      assert.equal(error.kind, kind);
      const told = `acme.loadBalancers.${method} gave no answer within 30s`;
      assert.equal(error.message, kind === 'uncertain' ? `${told}: it may have happened` : told);
      assert.equal(setup.calls.at(-1)?.kind, kind);
    });
  }

  it('ccm/B13: stops waiting when the caller gives up, with the reason of the caller', async () => {
    const setup = new Setup();
    const reason = new Error('stopping');
    const pending = setup.describe(() => new Promise(() => {}));
    await setup.clock.advance(0);
    await setup.clock.advance(1);
    setup.stop.abort(reason);
    await assert.rejects(pending, (thrown) => thrown === reason);
    assert.deepEqual(setup.calls, [
      { capability: 'instances', method: 'describe', result: 'error', durationMs: 1 },
    ]);
  });

  it('leaves no timer behind, and nothing at a signal that lives as long as the program', async () => {
    const setup = new Setup();
    await setup.describe(async () => PRESENT);
    await failure(setup.describe(() => Promise.reject(new Error('no'))));
    assert.equal(setup.clock.nextDueMs, undefined);
    assert.equal(getEventListeners(setup.stop.signal, 'abort').length, 0);
  });
});

describe('what a provider throws', () => {
  const THROWN: readonly { name: string; thrown: unknown; kind: string; message: string }[] = [
    { name: 'an error', thrown: new Error('boom'), kind: 'unknown', message: 'boom' },
    { name: 'text', thrown: 'boom', kind: 'unknown', message: 'boom' },
    { name: 'nothing', thrown: undefined, kind: 'unknown', message: 'it threw undefined without a message' },
    {
      name: 'an error of its own with a message that throws',
      thrown: Object.defineProperty({}, 'message', { get: () => assert.fail('x') }),
      kind: 'unknown',
      message: 'it threw something that cannot be read',
    },
    {
      name: 'a ProviderError',
      thrown: new ProviderError('quota', 'no more balancers'),
      kind: 'quota',
      message: 'no more balancers',
    },
    {
      name: 'a ProviderError of another copy of the package',
      thrown: Object.assign(new Error('gone'), {
        [Symbol.for('slipway.dev/provider-error')]: true,
        kind: 'in-use',
      }),
      kind: 'in-use',
      message: 'gone',
    },
    {
      name: 'a ProviderError of a kind that nobody knows',
      thrown: Object.assign(new Error('odd'), {
        [Symbol.for('slipway.dev/provider-error')]: true,
        kind: 'toString',
      }),
      kind: 'unknown',
      message: 'odd',
    },
  ];
  for (const { name, thrown, kind, message } of THROWN) {
    it(`ccm/B13: becomes a ProviderError when it is ${name}, thrown at once or later`, async () => {
      const setup = new Setup();
      const throws = (): never => {
        throw thrown;
      };
      for (const describeOne of [throws, async () => throws()]) {
        const error = await failure(setup.describe(describeOne));
        assert.deepEqual([error.kind, error.message], [kind, message]);
      }
      assert.deepEqual(
        setup.calls.map((call) => call.kind),
        [kind, kind],
      );
    });
  }

  it('keeps when to come back', async () => {
    const thrown = new ProviderError('throttled', 'later', { retryAfterMs: 7000 });
    const error = await failure(new Setup().describe(() => Promise.reject(thrown)));
    assert.equal(error.retryAfterMs, 7000);
  });

  it('loses the secrets in it, those of the definition and those that look like one', async () => {
    const cause = new Error('login with hunter2hunter2 failed');
    const thrown = new Error('401 for hunter2hunter2 at https://me:pw@cloud/?token=abcdefgh', { cause });
    const error = await failure(new Setup().describe(() => Promise.reject(thrown)));
    assert.doesNotMatch(error.message, /hunter2|me:pw|abcdefgh/);
    assert.match(error.message, /^401 for \[redacted\] at/);
    assert.equal(error.cause, undefined);
  });

  it('is told without secrets also where it is an answer for people', async () => {
    const absent = { state: 'absent', evidence: 'GET /x with hunter2hunter2: 404' };
    const setup = new Setup();
    const { call } = setup;
    const many = async () => new Map([['n1', absent]]);
    const pending = async () => ({ kind: 'pending', retryAfterMs: 1, why: 'waits for hunter2hunter2' });
    const given = { ...instances(async () => absent, { describeMany: many }), ...balancers({ ensure: pending }) };
    const { capabilities } = await setup.connect(definition(given));
    const ref = { nodeName: 'n1', node: {} as never };
    const answers = [
      await capabilities.instances?.describe(ref, call),
      ...((await capabilities.instances?.describeMany?.([ref], call))?.values() ?? []),
      await capabilities.loadBalancers?.ensure({} as never, call),
    ];
    assert.equal(answers.length, 3);
    for (const answer of answers) {
      assert.match(JSON.stringify(answer), /\[redacted\]/);
      assert.doesNotMatch(JSON.stringify(answer), /hunter2/);
      assert.ok(Object.isFrozen(answer));
    }
  });

  it('loses the whole of a secret that begins with another one', () => {
    for (const secrets of [
      ['acme', 'acme-12345678'],
      ['acme-12345678', 'acme'],
    ]) {
      assert.equal(providerErrorOf(new Error('no acme-12345678'), secrets).message, 'no [redacted]');
    }
  });

  it('is kept as the cause when there is no secret in it', async () => {
    const thrown = new Error('boom');
    const error = await failure(new Setup().describe(() => Promise.reject(thrown)));
    assert.equal(error.cause, thrown);
  });
});

describe('what a provider answers about a machine', () => {
  const WRONG: readonly { name: string; answer: unknown; says: RegExp }[] = [
    { name: 'nothing', answer: undefined, says: /it must be an object, not nothing/ },
    { name: 'null', answer: null, says: /it must be an object, not null/ },
    { name: 'an object without a state', answer: {}, says: /state is missing.*present, absent, unmanaged/ },
    {
      name: 'a state nobody knows',
      answer: { state: 'gone' },
      says: /state must be one of 'present', 'absent', 'unmanaged', not "gone"/,
    },
    { name: 'absent without evidence', answer: { state: 'absent' }, says: /evidence is missing/ },
    {
      name: 'absent with empty evidence',
      answer: { state: 'absent', evidence: '' },
      says: /evidence must be text/,
    },
    {
      name: 'a provider ID of another form',
      answer: { ...PRESENT, providerID: 'acme://w-0' },
      says: /providerID must be a provider ID that matches .*, not "acme:\/\/w-0"/,
    },
    { name: 'no addresses', answer: { ...PRESENT, addresses: undefined }, says: /addresses is missing/ },
    {
      name: 'an address of an unknown type',
      answer: { ...PRESENT, addresses: [{ type: 'InternalIp', address: '10.0.0.1' }] },
      says: /addresses\[0\]\.type must be one of .*did you mean 'InternalIP'/,
    },
    {
      name: 'an empty address',
      answer: { ...PRESENT, addresses: [{ type: 'InternalIP', address: '' }] },
      says: /addresses\[0\]\.address must be text that is not empty/,
    },
    { name: 'a zone that is null', answer: { ...PRESENT, zone: null }, says: /zone must be text, not null/ },
    { name: 'a power nobody knows', answer: { ...PRESENT, power: 'ON' }, says: /power must be one of/ },
    {
      name: 'labels that are no texts',
      answer: { ...PRESENT, labels: { rack: 7 } },
      says: /labels\.rack must be text, not 7/,
    },
  ];
  for (const { name, answer, says } of WRONG) {
    it(`ccm/S16, ccm/B13: is an error and no decision when it is ${name}`, async () => {
      const error = await failure(new Setup().describe(async () => answer));
      assert.equal(error.kind, 'unknown');
      assert.match(error.message, /^acme\.instances\.describe gave a wrong answer: /);
      assert.match(error.message, says);
    });
  }

  it('ccm/N9: may be empty where it is not known', async () => {
    const answer = { ...PRESENT, instanceType: '', zone: '', region: '' };
    assert.deepEqual(await new Setup().describe(async () => answer), answer);
  });

  it('is a frozen copy that the provider cannot change any more, without what is undefined', async () => {
    const answer = { ...PRESENT, zone: undefined, extra: 'kept quiet' };
    const got = await new Setup().describe(async () => answer);
    answer.power = 'off';
    assert.deepEqual(got, { ...PRESENT, extra: 'kept quiet' });
    assert.ok(Object.isFrozen(got));
  });

  it('is unknown for a name whose answer is wrong, and right for the others', async () => {
    const setup = new Setup();
    const describeMany = async () =>
      new Map<string, unknown>([
        ['w-0', PRESENT],
        ['w-1', { state: 'absent' }],
      ]);
    const { capabilities } = await setup.connect(definition(instances(async () => PRESENT, { describeMany })));
    const answers = await capabilities.instances?.describeMany?.([ref()], setup.call);
    assert.deepEqual([...(answers ?? [])], [['w-0', PRESENT]]);
    assert.equal(setup.warnings.length, 1);
  });

  it('is an error when answers by name are no Map', async () => {
    const setup = new Setup();
    const describeMany = async () => ({ 'w-0': PRESENT });
    const { capabilities } = await setup.connect(definition(instances(async () => PRESENT, { describeMany })));
    const error = await failure(Promise.resolve(capabilities.instances?.describeMany?.([ref()], setup.call)));
    assert.match(error.message, /describeMany gave a wrong answer: it must be a Map/);
  });
});

describe('what a provider answers about a load balancer', () => {
  const ENSURED: readonly { name: string; answer: unknown; says: RegExp | undefined }[] = [
    { name: 'nothing', answer: undefined, says: /it must be an object, not nothing/ },
    { name: 'ready without an address', answer: { kind: 'ready' }, says: /ingress is missing/ },
    { name: 'ready with an empty list', answer: { kind: 'ready', ingress: [] }, says: /at least one entry/ },
    { name: 'ready nowhere', answer: { kind: 'ready', ingress: [{}] }, says: /ingress\[0\]\.ip is missing/ },
    {
      name: 'ready at something that is no address',
      answer: { kind: 'ready', ingress: [{ ip: 'lb.example' }] },
      says: /ingress\[0\]\.ip must be an IP address, not "lb.example"/,
    },
    { name: 'pending without a time', answer: { kind: 'pending', why: 'x' }, says: /retryAfterMs is missing/ },
    {
      name: 'pending until never',
      answer: { kind: 'pending', why: 'x', retryAfterMs: Number.NaN },
      says: /retryAfterMs must be a number of at least 0, not NaN/,
    },
    { name: 'ready', answer: { kind: 'ready', ingress: [{ hostname: 'lb.example' }] }, says: undefined },
    { name: 'pending', answer: { kind: 'pending', why: 'x', retryAfterMs: 0.5 }, says: undefined },
    { name: 'elsewhere', answer: { kind: 'elsewhere' }, says: undefined },
  ];
  for (const { name, answer, says } of ENSURED) {
    it(`ccm/S16: is ${says === undefined ? 'right' : 'an error'} when ensure says ${name}`, async () => {
      const setup = new Setup();
      const { capabilities } = await setup.connect(definition(balancers({ ensure: async () => answer })));
      const ensured = Promise.resolve(capabilities.loadBalancers?.ensure({} as BalancerPlan, setup.call));
      if (says === undefined) assert.deepEqual(await ensured, answer);
      else assert.match((await failure(ensured)).message, says);
    });
  }

  it('ccm/S16: may be nothing only where that means "there is none"', async () => {
    const setup = new Setup();
    const plan = {} as BalancerPlan;
    const find = async () => undefined;
    const setBackends = async () => undefined;
    const remove = async () => 'whatever';
    const { capabilities } = await setup.connect(definition(balancers({ find, setBackends, remove })));
    const { loadBalancers } = capabilities;
    assert.equal(await loadBalancers?.find(plan, setup.call), undefined);
    assert.equal(await loadBalancers?.remove(plan, setup.call), undefined);
    const error = await failure(Promise.resolve(loadBalancers?.setBackends(plan, [], setup.call)));
    assert.match(error.message, /must be one of 'updated', 'gone', 'elsewhere', not nothing/);
  });
});

describe('an offline provider', () => {
  it('has facts and tags, and rejects every call', async () => {
    const setup = new Setup();
    const provider = offlineProvider(definition(instances(async () => PRESENT)));
    assert.deepEqual(provider.capabilities.instances?.declare(), {});
    assert.deepEqual(provider.clusterTags, { 'kubernetes.io/cluster/offline': 'owned' });
    const error = await failure(Promise.resolve(provider.capabilities.instances?.describe(ref(), setup.call)));
    assert.equal(error.message, 'acme.instances.describe cannot be called: the provider is offline');
    await provider[Symbol.asyncDispose]();
  });
});
