import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { CAPABILITY_METHODS, CAPABILITY_NAMES } from '../capabilities/capabilities.ts';
import { defineProvider } from './define-provider.ts';
import { DefinitionError, type DefinitionProblem, problemsOf } from './definition-error.ts';
import { isProviderDefinition, type ProviderInput } from './provider-definition.ts';

type Loose = Record<string, unknown>;

const call = async (): Promise<undefined> => undefined;

const FACTS: Readonly<Record<string, unknown>> = {
  instances: {},
  zones: { isolated: true },
  loadBalancers: {
    protocols: ['TCP'],
    healthChecks: ['tcp'],
    sourceRanges: true,
    preservesClientAddress: false,
    sessionAffinity: false,
    scopes: ['public'],
  },
  routes: { tracksNodeAddresses: false },
  volumes: {
    minBytes: 1n,
    maxBytes: 10n,
    stepBytes: 1n,
    nameLength: 63,
    sharing: 'never',
    growsOnline: false,
  },
  snapshots: { dependOnVolume: false },
  dns: { recordTypes: ['A'], wildcard: true, minTtlSeconds: 30 },
  images: { formats: ['raw'], importsFromUrl: true },
  networks: { families: ['IPv4'], forwardsForeignAddresses: false },
  objectStore: { s3: true, pathStyle: true },
  credentials: { modes: ['mint'], permissions: { 'lb:write': 'load balancers' } },
  metadata: { addresses: ['169.254.169.254'], paths: { instanceId: '/meta/id' } },
};

/** A capability with every method, whose facts are those given over the right ones. */
function capability(name: keyof typeof CAPABILITY_METHODS, facts: Loose = {}): Loose {
  const { required, optional } = CAPABILITY_METHODS[name];
  const methods = Object.fromEntries([...required, ...optional].map((method) => [method, call]));
  return { ...methods, declare: () => ({ ...(FACTS[name] as Loose), ...facts }) };
}

const input = (changes: Loose = {}): Loose => ({
  name: 'acme',
  displayName: 'Acme Cloud',
  architectures: ['amd64'],
  providerID: { scheme: 'acme', format: '{zone}/{id}', pattern: /^acme:\/\/[a-z0-9-]+\/[0-9a-f]+$/ },
  connect: () => ({ client: {}, clusterId: 'c1' }),
  capabilities: { instances: capability('instances') },
  ...changes,
});

const withCapabilities = (capabilities: Loose): Loose =>
  input({ capabilities: { instances: capability('instances'), ...capabilities } });

/** Garbage is given on purpose. */
const define = (value: unknown) => defineProvider(value as ProviderInput<unknown>);

function problems(value: unknown): readonly DefinitionProblem[] {
  try {
    define(value);
    return [];
  } catch (thrown) {
    assert.ok(thrown instanceof DefinitionError, String(thrown));
    return thrown.problems;
  }
}

const CASES: readonly { name: string; given: unknown; path: string; code: string; says: RegExp }[] = [
  { name: 'null', given: null, path: '', code: 'SW2112', says: /must be an object, not null/ },
  { name: 'a list', given: [], path: '', code: 'SW2112', says: /must be an object, not an empty list/ },
  {
    name: 'an unknown field',
    given: input({ displayNme: 'x' }),
    path: 'displayNme',
    code: 'SW2110',
    says: /unknown/,
  },
  {
    name: 'a missing field',
    given: input({ connect: undefined }),
    path: 'connect',
    code: 'SW2111',
    says: /missing/,
  },
  { name: 'a name in capitals', given: input({ name: 'Acme' }), path: 'name', code: 'SW2114', says: /not "Acme"/ },
  {
    name: 'a name that is too long',
    given: input({ name: 'a'.repeat(39) }),
    path: 'name',
    code: 'SW2114',
    says: /at most 38/,
  },
  {
    name: 'the name of every cloud that clusters do not know',
    given: input({ name: 'external' }),
    path: 'name',
    code: 'SW2114',
    says: /must not be "external"/,
  },
  { name: 'a name ending in a dash', given: input({ name: 'acme-' }), path: 'name', code: 'SW2114', says: /not/ },
  {
    name: 'an empty display name',
    given: input({ displayName: ' ' }),
    path: 'displayName',
    code: 'SW2113',
    says: /not empty/,
  },
  {
    name: 'an unknown architecture',
    given: input({ architectures: ['amd46'] }),
    path: 'architectures[0]',
    code: 'SW2113',
    says: /'amd64'/,
  },
  {
    name: 'no architecture',
    given: input({ architectures: [] }),
    path: 'architectures',
    code: 'SW2113',
    says: /at least one/,
  },
  {
    name: 'an architecture twice',
    given: input({ architectures: ['amd64', 'amd64'] }),
    path: 'architectures',
    code: 'SW2113',
    says: /twice/,
  },
  {
    name: 'an ingress strategy nobody knows',
    given: input({ ingress: { strategy: 'hostnetwork' } }),
    path: 'ingress.strategy',
    code: 'SW2113',
    says: /HostNetwork/,
  },
  {
    name: 'a field of coreos that is missing',
    given: input({ coreos: { streamArtifact: 'openstack', format: 'qcow2.gz' } }),
    path: 'coreos.platformId',
    code: 'SW2111',
    says: /missing/,
  },
  {
    name: 'a storage class without a name',
    given: input({ storage: { defaultClass: { parameters: {} } } }),
    path: 'storage.defaultClass.name',
    code: 'SW2111',
    says: /missing/,
  },
  {
    name: 'a secret in place of its name',
    given: input({ secrets: ['s3cr3t/value+here'] }),
    path: 'secrets[0]',
    code: 'SW2122',
    says: /^((?!s3cr3t).)*$/,
  },
  {
    name: 'a connect that is no function',
    given: input({ connect: 3 }),
    path: 'connect',
    code: 'SW2112',
    says: /not 3/,
  },
  {
    name: 'a key of the cluster tag that is the same for all',
    given: input({ tags: { clusterKey: () => 'mine' } }),
    path: 'tags.clusterKey',
    code: 'SW2116',
    says: /differ between clusters/,
  },
  {
    name: 'a key of the cluster tag that is no text',
    given: input({ tags: { clusterKey: () => 3 } }),
    path: 'tags.clusterKey',
    code: 'SW2116',
    says: /returned 3/,
  },
  {
    name: 'allowed letters that refuse the cluster tag',
    given: input({ tags: { allowed: /^[a-z]+$/ } }),
    path: 'tags.allowed',
    code: 'SW2116',
    says: /kubernetes\.io\/cluster/,
  },
  {
    name: 'snapshots without volumes',
    given: withCapabilities({ snapshots: capability('snapshots') }),
    path: 'capabilities.snapshots',
    code: 'SW2120',
    says: /volumes/,
  },
  {
    name: 'platform External without any way to a provider ID',
    given: input({ capabilities: { zones: capability('zones') } }),
    path: 'capabilities',
    code: 'SW2121',
    says: /instances, or metadata/,
  },
  {
    name: 'a controller without its capability',
    given: input({ ccm: { external: true, controllers: ['cloud-node', 'service'] } }),
    path: 'ccm.controllers[1]',
    code: 'SW2121',
    says: /loadBalancers/,
  },
  {
    name: 'an unknown capability',
    given: withCapabilities({ loadbalancer: {} }),
    path: 'capabilities.loadbalancer',
    code: 'SW2110',
    says: /unknown/,
  },
  {
    name: 'a capability that is no object',
    given: withCapabilities({ zones: () => ({}) }),
    path: 'capabilities.zones',
    code: 'SW2112',
    says: /an object with methods, not a function/,
  },
  {
    name: 'a method that is missing',
    given: withCapabilities({ dns: { ...capability('dns'), findZone: undefined } }),
    path: 'capabilities.dns.findZone',
    code: 'SW2117',
    says: /no method findZone/,
  },
  {
    name: 'a method that is no function',
    given: withCapabilities({ zones: { ...capability('zones'), list: [] } }),
    path: 'capabilities.zones.list',
    code: 'SW2112',
    says: /a function, not an empty list/,
  },
  {
    name: 'attach without detach',
    given: withCapabilities({ volumes: { ...capability('volumes'), detach: undefined } }),
    path: 'capabilities.volumes.attach',
    code: 'SW2124',
    says: /no detach/,
  },
  {
    name: 'load balancers without health checks',
    given: withCapabilities({ loadBalancers: capability('loadBalancers', { healthChecks: undefined }) }),
    path: 'capabilities.loadBalancers.declare().healthChecks',
    code: 'SW2111',
    says: /missing/,
  },
  {
    name: 'names without record types',
    given: withCapabilities({ dns: capability('dns', { recordTypes: [] }) }),
    path: 'capabilities.dns.declare().recordTypes',
    code: 'SW2113',
    says: /at least one/,
  },
  {
    name: 'metadata without the path of the id',
    given: withCapabilities({ metadata: capability('metadata', { paths: {} }) }),
    path: 'capabilities.metadata.declare().paths.instanceId',
    code: 'SW2111',
    says: /missing/,
  },
  {
    name: 'volumes of which the smallest is larger than the largest',
    given: withCapabilities({ volumes: capability('volumes', { minBytes: 11n }) }),
    path: 'capabilities.volumes.declare().maxBytes',
    code: 'SW2119',
    says: /at least minBytes \(11n\), not 10n/,
  },
  {
    name: 'a size as a number',
    given: withCapabilities({ volumes: capability('volumes', { stepBytes: 512 }) }),
    path: 'capabilities.volumes.declare().stepBytes',
    code: 'SW2112',
    says: /bigint/,
  },
];

describe('defineProvider', () => {
  for (const { name, given, path, code, says } of CASES) {
    it(`onboarding/R84: refuses ${name}, and only that`, () => {
      const found = problems(given);
      assert.deepEqual(
        found.map((problem) => [problem.path, problem.code]),
        [[path, code]],
      );
      assert.match(found[0]?.message ?? '', says);
      assert.notEqual(found[0]?.hint, '');
    });
  }

  it('onboarding/R84: reports all problems at once, in the order of the definition', () => {
    const given = input({ name: 'A', architectures: [], capabilities: { instance: capability('instances') } });
    assert.deepEqual(
      problems(given).map(({ path }) => path),
      ['name', 'architectures', 'capabilities.instance'],
    );
  });

  it('onboarding/R84: suggests the nearest name at every level, and calls the typo one problem', () => {
    const hints = (value: unknown) => problems(value).map(({ path, hint }) => `${path}: ${hint}`);
    const { displayName, ...rest } = input();
    assert.deepEqual(hints({ ...rest, displayname: displayName }), ['displayname: did you mean displayName?']);
    assert.deepEqual(hints(input({ ccm: { extern: true } })), ['ccm.extern: did you mean external?']);
    const { describe: method, ...others } = capability('instances');
    assert.deepEqual(hints(input({ capabilities: { instances: { ...others, descrbe: method } } })), [
      'capabilities.instances.descrbe: did you mean describe?',
    ]);
    assert.deepEqual(hints(withCapabilities({ zones: capability('zones', { isolatd: true }) })).slice(0, 1), [
      'capabilities.zones.declare().isolatd: did you mean isolated?',
    ]);
  });

  it('onboarding/R84: accepts every capability, and fills in what was left out', () => {
    const capabilities = Object.fromEntries(CAPABILITY_NAMES.map((name) => [name, capability(name)]));
    const definition = define(input({ capabilities }));
    assert.equal(definition.platformName, 'acme');
    assert.equal(definition.tags.clusterKey('c1'), 'kubernetes.io/cluster/c1');
    assert.deepEqual(definition.ccm, {
      external: true,
      controllers: ['cloud-node', 'cloud-node-lifecycle', 'service', 'route'],
    });
    assert.deepEqual(definition.secrets, []);
    assert.equal(isProviderDefinition(definition), true);
    assert.equal(isProviderDefinition({ ...definition }), false);
  });

  it('onboarding/R84: keeps what the definition says', () => {
    const definition = define(
      input({ platformName: 'Acme', ccm: { external: true, controllers: [] }, secrets: ['ACME_TOKEN'] }),
    );
    assert.equal(definition.platformName, 'Acme');
    assert.deepEqual(definition.ccm.controllers, []);
    assert.deepEqual(definition.secrets, ['ACME_TOKEN']);
  });

  it('onboarding/R84: yields an object that is frozen through and through, and freezes nothing of the author', () => {
    const given = input({ coreos: { streamArtifact: 'a', format: 'b', platformId: 'c' } });
    const definition = define(given);
    const parts = [definition, definition.coreos, definition.capabilities, definition.capabilities.instances];
    for (const part of [...parts, definition.providerID.pattern, definition.architectures, definition.ccm]) {
      assert.ok(Object.isFrozen(part));
    }
    assert.ok(
      !Object.isFrozen(given) && !Object.isFrozen(given['coreos']) && !Object.isFrozen(given['capabilities']),
    );
  });

  it('onboarding/R85: asks for facts once, and answers from then on with the same frozen ones', () => {
    let asked = 0;
    const zones = { list: call, declare: () => ({ isolated: asked++ === 0 }) };
    const definition = define(withCapabilities({ zones }));
    assert.deepEqual(definition.capabilities.zones?.declare(), { isolated: true });
    assert.equal(definition.capabilities.zones?.declare(), definition.capabilities.zones?.declare());
    assert.ok(Object.isFrozen(definition.capabilities.zones?.declare()));
    assert.equal(asked, 1);
  });

  it('onboarding/R85: takes capabilities that are instances of classes, with members of their own', async () => {
    class Zones {
      #zone = 'eu-1';
      calls = 0;
      declare() {
        return { isolated: true };
      }
      async list() {
        this.calls++;
        return this.#names();
      }
      #names() {
        return [this.#zone];
      }
      reload() {}
    }
    const zones = new Zones();
    const definition = define(withCapabilities({ zones }));
    assert.deepEqual(await definition.capabilities.zones?.list({} as never), ['eu-1']);
    assert.equal(zones.calls, 1);
    class Typo {
      declare() {
        return { isolated: true };
      }
      async lst() {}
      reload() {}
    }
    assert.deepEqual(
      problems(withCapabilities({ zones: new Typo() })).map(({ path }) => path),
      ['capabilities.zones.lst'],
    );
  });
});

describe('declare() of a capability', () => {
  const WRONG: readonly { name: string; declare: unknown; says: RegExp }[] = [
    { name: 'throws', declare: () => assert.fail('no cloud'), says: /threw "no cloud"/ },
    { name: 'returns a promise', declare: async () => ({ isolated: true }), says: /not a promise/ },
    { name: 'returns a promise that fails', declare: () => Promise.reject(new Error('x')), says: /not a promise/ },
    { name: 'needs arguments', declare: (client: unknown) => client, says: /no arguments/ },
    { name: 'returns nothing', declare: () => undefined, says: /must be an object, not nothing/ },
    { name: 'returns a list', declare: () => [1], says: /must be an object, not a list/ },
  ];
  for (const { name, declare, says } of WRONG) {
    it(`onboarding/R85: is a problem when it ${name}`, () => {
      const found = problems(withCapabilities({ zones: { declare, list: call } }));
      assert.equal(found.length, 1);
      assert.match(found[0]?.message ?? '', says);
    });
  }
});

describe('the form of provider IDs', () => {
  const id = (changes: Loose) => input({ providerID: { ...(input()['providerID'] as Loose), ...changes } });
  const WRONG: readonly { name: string; changes: Loose; field: string }[] = [
    { name: 'a pattern without a start', changes: { pattern: /acme:\/\/.+$/ }, field: 'pattern' },
    { name: 'a pattern without an end', changes: { pattern: /^acme:\/\/.+/ }, field: 'pattern' },
    { name: 'a pattern that ends in a dollar sign', changes: { pattern: /^acme:\/\/.+\$/ }, field: 'pattern' },
    { name: 'a pattern of another scheme', changes: { pattern: /^acne:\/\/.+$/ }, field: 'pattern' },
    { name: 'a pattern with a choice', changes: { pattern: /^acme:\/\/a$|^b$/ }, field: 'pattern' },
    { name: 'a pattern of many lines', changes: { pattern: /^acme:\/\/.+$/m }, field: 'pattern' },
    { name: 'a pattern that remembers', changes: { pattern: /^acme:\/\/.+$/g }, field: 'pattern' },
    { name: 'a pattern as text', changes: { pattern: '^acme://.+$' }, field: 'pattern' },
    { name: 'a format without an id', changes: { format: '{zone}' }, field: 'format' },
    { name: 'a format with something else', changes: { format: '{region}/{id}' }, field: 'format' },
    { name: 'a format with two ids', changes: { format: '{id}/{id}' }, field: 'format' },
    { name: 'a format with the scheme in it', changes: { format: 'acme://{id}' }, field: 'format' },
    { name: 'a scheme in capitals', changes: { scheme: 'ACME' }, field: 'scheme' },
    { name: 'an example that does not match', changes: { example: 'acme://eu-1/XYZ' }, field: 'example' },
    {
      name: 'an example of another format',
      changes: { format: 'i/{id}', example: 'acme://eu/1' },
      field: 'example',
    },
  ];
  for (const { name, changes, field } of WRONG) {
    it(`ccm/I6: refuses ${name}`, () => {
      assert.deepEqual(
        problems(id(changes)).map(({ path }) => path),
        [`providerID.${field}`],
      );
    });
  }

  it('experience/X10: says what a pattern must be like, and which of the others an example does not fit', () => {
    const said = (changes: Loose) => problems(id(changes))[0]?.message ?? '';
    assert.match(said({ pattern: /acme:\/\/.+/ }), /must describe .*: begin with '\^acme:\/\/', end with '\$', /);
    assert.match(
      said({ example: 'acme://eu-1/XYZ' }),
      /is "acme:\/\/eu-1\/XYZ", which does not fit providerID\.pattern, /,
    );
    assert.match(
      said({ example: 'acme://1' }),
      /which does not fit scheme and format, 'acme:\/\/\{zone\}\/\{id\}'$/,
    );
  });

  const RIGHT: readonly Loose[] = [
    { example: 'acme://eu-1/0a1b' },
    { pattern: /^acme:\/\/(a|b)\/[|]+$/ },
    { pattern: new RegExp('^acme://[^/]+/.+$') },
    { scheme: 'acme.io', pattern: /^acme\.io:\/\/.+$/ },
    { format: 'vm-{id}', pattern: /^acme:\/\/vm-\d+$/i, example: 'acme://vm-12' },
  ];
  for (const changes of RIGHT) {
    it(`ccm/I6: accepts ${Object.values(changes).map(String).join(', ')}`, () => {
      assert.deepEqual(problems(id(changes)), []);
    });
  }
});

describe('defineProvider with hostile input', () => {
  it('onboarding/R84: names a getter that throws, an object that contains itself, and goes on', () => {
    const cyclic: Loose = { name: 'x' };
    cyclic['parameters'] = cyclic;
    const given = input({ storage: { defaultClass: cyclic } });
    Object.defineProperty(given, 'secrets', { enumerable: true, get: () => assert.fail('boom') });
    Object.defineProperty(given['capabilities'], 'zones', { enumerable: true, get: () => assert.fail('boom') });
    assert.deepEqual(
      problems(given).map(({ path, message }) => [path, message]),
      [
        ['storage.defaultClass.parameters', 'storage.defaultClass.parameters contains itself'],
        ['secrets', 'secrets throws when it is read'],
        ['capabilities.zones', 'capabilities.zones throws when it is read'],
      ],
    );
  });

  it('onboarding/R84: throws nothing but DefinitionError, whatever it is given', () => {
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    // Behind functions: fast-check itself would trip over them.
    const hostile: readonly (() => unknown)[] = [
      () => proxy,
      () => new Proxy({}, { ownKeys: () => assert.fail('x') }),
      () => new Proxy(new Map(), { getPrototypeOf: () => assert.fail('x') }),
      () => () => 3,
      () => /x/g,
      () => Symbol('x'),
    ];
    const odd = fc.oneof(
      fc
        .anything({ withBigInt: true, withDate: true, withMap: true, withNullPrototype: true })
        .map((value) => () => value as unknown),
      fc.nat(hostile.length - 1).map((index) => hostile[index] ?? (() => undefined)),
    );
    const field = fc.constantFrom(
      ...Object.keys(input()),
      'tags',
      'ccm',
      'coreos',
      'storage',
      'ingress',
      'secrets',
    );
    const facts = fc.constantFrom(...CAPABILITY_NAMES);
    fc.assert(
      fc.property(odd, field, facts, (make, key, name) => {
        const value = make();
        const withFacts = { [name]: { ...capability(name), declare: () => value } };
        const withMethod = { [name]: { ...capability(name), [Object.keys(capability(name))[1] ?? 'x']: value } };
        const garbage = [value, input({ [key]: value }), withCapabilities({ [name]: value })];
        for (const one of [...garbage, withCapabilities(withFacts), withCapabilities(withMethod)]) problems(one);
      }),
      { numRuns: 300 },
    );
  });

  it('onboarding/R84: says that an instance of a class is not what is asked for', () => {
    class Format {
      scheme = 'acme';
    }
    const hidden = Object.defineProperty(new Format(), 'constructor', { get: () => assert.fail('x') });
    const messages = [new Format(), new Map(), hidden].map((providerID) => problems(input({ providerID })));
    assert.deepEqual(
      messages.map(([first]) => `${first?.message}: ${first?.hint}`),
      ['an instance of Format', 'an instance of Map', 'an object'].map(
        (found) => `providerID must be a plain object, not ${found}: write a plain object`,
      ),
    );
  });

  it('onboarding/R84: shows nothing of what stands where names of secrets should', () => {
    for (const secrets of ['hunter2', ['hunter2', 'hunter2'], ['hunter2!', 'hunter2!'], { token: 'hunter2' }]) {
      const found = problems(input({ secrets }));
      assert.deepEqual([...new Set(found.map(({ code }) => code))], ['SW2122']);
      assert.ok(!JSON.stringify(found).includes('hunter2'));
    }
  });

  it('onboarding/R84: tells the first of very many problems, and soon', () => {
    const long = (length: number): readonly string[] => Array.from({ length }, (_, index) => `a${index}`);
    assert.equal(problems(input({ architectures: long(100_000) })).length, 20);
    const sparse: string[] = [];
    sparse.length = 2 ** 32 - 1;
    assert.equal(problems(input({ architectures: sparse }))[0]?.code, 'SW2123');
  });

  it('onboarding/R84: binds functions whatever they carry, and ends with a proxy that is its own prototype', () => {
    const connect = Object.assign(() => ({ client: 1, clusterId: 'x' }), { bind: undefined });
    assert.deepEqual(problems(input({ connect })), []);
    const endless: object = new Proxy({}, { getPrototypeOf: () => endless });
    assert.ok(problems(input({ capabilities: endless })).length > 0);
  });

  it('knows the problems of an error of another copy of the package', () => {
    const foreign = Object.assign(new Error('x'), {
      [Symbol.for('slipway.dev/definition-error')]: true,
      problems: [{ path: 'a', code: 'SW2110', message: 'b', hint: 'c' }],
    });
    assert.equal(problemsOf(foreign)?.length, 1);
    assert.equal(problemsOf(new Error('x')), undefined);
  });
});
