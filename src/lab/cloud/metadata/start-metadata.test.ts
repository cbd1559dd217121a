import assert from 'node:assert/strict';
import { Agent, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { describe, it } from 'node:test';
import { SystemClock, VirtualClock } from '../../../base/clock.ts';
import { SILENT_LOG } from '../../../base/log.ts';
import type { Endpoint } from '../../address/address-plan.ts';
import { listening } from '../../address/listening.ts';
import type { InstanceFacts, MetadataCaller } from './metadata-caller.ts';
import { type Metadata, type MetadataOptions, startMetadata } from './start-metadata.ts';

const ADDRESS = '127.9.0.169';
/** Who has which address. */
const NODE = '127.9.1.1';
const OTHER_NODE = '127.9.1.2';
const POD = '127.9.32.1';
const SYSTEM_POD = '127.9.32.2';
const OTHER_POD = '127.9.32.3';
const STRANGER = '127.9.200.1';

const callers = new Map<string, MetadataCaller>([
  [NODE, { instanceId: 'i-1', node: 'w-1' }],
  [OTHER_NODE, { instanceId: 'i-2', node: 'w-2' }],
  [POD, { instanceId: 'i-1', node: 'w-1', pod: { namespace: 'shop', name: 'web' } }],
  [SYSTEM_POD, { instanceId: 'i-1', node: 'w-1', pod: { namespace: 'openshift-system', name: 'agent' } }],
  [OTHER_POD, { instanceId: 'i-2', node: 'w-2', pod: { namespace: 'shop', name: 'web' } }],
]);

const factsOf = (id: string, userData?: Buffer): InstanceFacts => ({
  id,
  hostname: `w-${id}.a.lab.internal`,
  zone: 'a',
  type: 'lab.large',
  addresses: [
    { type: 'internal', address: '10.9.1.1' },
    { type: 'external', address: '127.9.1.1' },
  ],
  tags: { role: 'worker' },
  ...(userData !== undefined && { userData }),
});

const instances = new Map([
  ['i-1', factsOf('i-1', Buffer.from([0, 0xff, 0x0a, 0x42]))],
  ['i-2', factsOf('i-2')],
]);

interface Told {
  readonly status: number;
  readonly type: string | undefined;
  readonly text: string;
}

interface Call {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly agent?: Agent;
}

/** A service, and those who ask it. */
class Desk implements AsyncDisposable {
  readonly clock = new VirtualClock({ start: new Date('2030-01-01T00:00:00Z') });
  readonly holds: string[] = [];
  #metadata: Metadata | undefined;
  #at: Endpoint = { host: ADDRESS, port: 0 };

  static async open(options: Partial<MetadataOptions> = {}): Promise<Desk> {
    const desk = new Desk();
    desk.#metadata = await startMetadata({
      listen: async (server) => {
        await listening(server, { host: ADDRESS, port: 0 });
        desk.#at = { host: ADDRESS, port: (server.address() as AddressInfo).port };
      },
      whoIs: (address) => callers.get(address),
      instance: (id) => instances.get(id),
      credentials: async (id) =>
        id === 'i-1' ? { clientId: 'i-1', token: 'secret', expiresAt: '2030-01-01T01:00:00Z' } : undefined,
      addresses: ['10.9.0.169'],
      clock: desk.clock,
      real: new SystemClock(),
      hold: (reason) => {
        desk.holds.push(reason);
        return { [Symbol.dispose]: () => {} };
      },
      log: SILENT_LOG,
      ...options,
    });
    return desk;
  }

  get egress() {
    assert.ok(this.#metadata !== undefined);
    return this.#metadata.egress;
  }

  /** Rejects when the connection is cut. */
  async ask(from: string, path: string, { body = '', ...call }: Call = {}): Promise<Told> {
    const { promise, resolve, reject } = Promise.withResolvers<Told>();
    const asked = request({ ...this.#at, localAddress: from, path, ...call });
    asked.on('error', reject);
    asked.on('response', (response) => {
      const { statusCode: status = 0, headers } = response;
      buffer(response).then(
        (bytes) => resolve({ status, type: headers['content-type'], text: bytes.toString('latin1') }),
        reject,
      );
    });
    asked.end(body);
    return promise;
  }

  async session(from: string, ttlSeconds: number): Promise<string> {
    const headers = { 'Lab-Metadata-Token-Ttl-Seconds': String(ttlSeconds) };
    const { status, text } = await this.ask(from, '/v1/token', { method: 'PUT', headers });
    assert.equal(status, 200);
    return text;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#metadata?.[Symbol.asyncDispose]();
  }
}

const codeOf = ({ status, text }: Told): string =>
  `${status} ${(JSON.parse(text) as { error: { code: string } }).error.code}`;

const DENY_ALL = { action: 'deny', to: '169.254.169.254/32' } as const;

const facts = [
  { path: '/v1/instance/id', text: 'i-1' },
  { path: '/v1/instance/hostname', text: 'w-i-1.a.lab.internal' },
  { path: '/v1/instance/zone', text: 'a' },
  { path: '/v1/instance/type', text: 'lab.large' },
  { path: '/v1/instance/tags', text: '{"role":"worker"}' },
  {
    path: '/v1/instance/addresses',
    text: '[{"type":"internal","address":"10.9.1.1"},{"type":"external","address":"127.9.1.1"}]',
  },
  { path: '/v1/userdata', text: '\0\xff\nB' },
  { path: '/v1/instance/zone?x=1', text: 'a' },
];

const refusals: readonly {
  readonly it: string;
  readonly from: string;
  readonly path: string;
  readonly call?: Call;
  readonly want: string;
}[] = [
  { it: 'an address that is nobody’s', from: STRANGER, path: '/v1/instance', want: '403 Forbidden' },
  {
    it: 'a request through a proxy',
    from: NODE,
    path: '/v1/instance',
    call: { headers: { 'X-Forwarded-For': '10.0.0.1' } },
    want: '403 Forbidden',
  },
  {
    it: 'a session through a proxy',
    from: NODE,
    path: '/v1/token',
    call: { method: 'PUT', headers: { 'x-forwarded-for': '', 'lab-metadata-token-ttl-seconds': '60' } },
    want: '403 Forbidden',
  },
  { it: 'a path that is not there', from: NODE, path: '/v1/instance/secret', want: '404 NotFound' },
  { it: 'a field that every object has', from: NODE, path: '/v1/instance/constructor', want: '404 NotFound' },
  { it: 'another version', from: NODE, path: '/v2/instance', want: '404 NotFound' },
  { it: 'user data where there is none', from: OTHER_NODE, path: '/v1/userdata', want: '404 NotFound' },
  { it: 'credentials where there are none', from: OTHER_NODE, path: '/v1/credentials', want: '404 NotFound' },
  { it: 'a write', from: NODE, path: '/v1/instance', call: { method: 'POST' }, want: '400 InvalidArgument' },
  { it: 'a session that is read', from: NODE, path: '/v1/token', want: '400 InvalidArgument' },
  {
    it: 'a session without an end',
    from: NODE,
    path: '/v1/token',
    call: { method: 'PUT' },
    want: '400 InvalidArgument',
  },
  {
    it: 'a session that is too long',
    from: NODE,
    path: '/v1/token',
    call: { method: 'PUT', headers: { 'lab-metadata-token-ttl-seconds': '21601' } },
    want: '400 InvalidArgument',
  },
  {
    it: 'a token that is none',
    from: NODE,
    path: '/v1/instance',
    call: { headers: { 'lab-metadata-token': 'guess' } },
    want: '401 Unauthenticated',
  },
];

describe('metadata service', () => {
  for (const { path, text } of facts)
    it(`lab/C28: tells a node ${path}`, async () => {
      await using desk = await Desk.open();
      const told = await desk.ask(NODE, path);
      assert.deepEqual([told.status, told.text], [200, text]);
    });

  it('lab/C28: tells each caller of its own instance', async () => {
    await using desk = await Desk.open();
    const ids = [NODE, OTHER_NODE].map((from) => desk.ask(from, '/v1/instance'));
    const told = (await Promise.all(ids)).map(({ text }) => JSON.parse(text) as { id: string; tags: object });
    assert.deepEqual(
      told.map(({ id }) => id),
      ['i-1', 'i-2'],
    );
    assert.deepEqual(told[0]?.tags, { role: 'worker' });
    assert.equal(desk.holds.length, 2);
  });

  it('lab/C28: says why it knows nobody in a network where addresses tell nothing', async () => {
    await using desk = await Desk.open({ anonymity: 'everybody has the same address here' });
    const { status, text } = await desk.ask(STRANGER, '/v1/instance');
    assert.equal(status, 403);
    assert.match(text, /everybody has the same address here/);
  });

  it('lab/C28: gives credentials of the instance', async () => {
    await using desk = await Desk.open();
    const { status, text } = await desk.ask(NODE, '/v1/credentials');
    assert.equal(status, 200);
    assert.deepEqual(JSON.parse(text), { clientId: 'i-1', token: 'secret', expiresAt: '2030-01-01T01:00:00Z' });
  });

  it('lab/C28: says when credentials do not come, and when it failed, without saying why', async () => {
    const real = new VirtualClock();
    const asked = Promise.withResolvers<void>();
    await using slow = await Desk.open({
      real,
      credentials: () => {
        asked.resolve();
        return new Promise(() => {});
      },
    });
    const told = slow.ask(NODE, '/v1/credentials');
    await asked.promise;
    await real.advance(10_000);
    assert.equal(codeOf(await told), '503 Unavailable');
    await using broken = await Desk.open({ credentials: () => Promise.reject(new Error('the key is hunter2')) });
    const failed = await broken.ask(NODE, '/v1/credentials');
    assert.equal(codeOf(failed), '500 Internal');
    assert.doesNotMatch(failed.text, /hunter2/);
  });

  for (const { it: sentence, from, path, call = {}, want } of refusals)
    it(`lab/C28: refuses ${sentence}`, async () => {
      await using desk = await Desk.open();
      assert.equal(codeOf(await desk.ask(from, path, call)), want);
    });

  it('lab/C28: tells nothing without a session where one is required', async () => {
    await using desk = await Desk.open({ tokenMode: 'required' });
    for (const path of ['/v1/instance', '/v1/userdata', '/v1/credentials', '/v1/egress'])
      assert.equal(codeOf(await desk.ask(NODE, path)), '401 Unauthenticated');
    const token = await desk.session(NODE, 60);
    const headers = { 'Lab-Metadata-Token': token };
    assert.equal((await desk.ask(NODE, '/v1/instance/id', { headers })).text, 'i-1');
    await desk.clock.advance(59_000);
    assert.equal((await desk.ask(NODE, '/v1/instance/id', { headers })).status, 200);
    await desk.clock.advance(1_000);
    assert.equal((await desk.ask(NODE, '/v1/instance/id', { headers })).status, 401);
  });

  it('lab/C28: takes a token only from the address that it was given to, and as it was given', async () => {
    await using desk = await Desk.open({ tokenMode: 'required' });
    const token = await desk.session(NODE, 60);
    const [, signature] = token.split('.');
    for (const [from, sent] of [
      [POD, token],
      [OTHER_NODE, token],
      [NODE, `9999999999999.${signature}`],
      [NODE, `${token}x`],
    ] as const)
      assert.equal(
        (await desk.ask(from, '/v1/instance', { headers: { 'lab-metadata-token': sent } })).status,
        401,
      );
  });

  it('lab/C29: tells a pod everything of its node as well', async () => {
    await using desk = await Desk.open();
    assert.equal((await desk.ask(POD, '/v1/instance/id')).text, 'i-1');
    assert.match((await desk.ask(POD, '/v1/credentials')).text, /secret/);
  });

  it('lab/C29: hangs up on pods of a node whose rules deny it, and on nobody else', async () => {
    await using desk = await Desk.open();
    desk.egress.set('i-1', [DENY_ALL]);
    await assert.rejects(desk.ask(POD, '/v1/instance'), { code: 'ECONNRESET' });
    await assert.rejects(desk.ask(POD, '/v1/token', { method: 'PUT' }), { code: 'ECONNRESET' });
    for (const from of [NODE, OTHER_POD]) assert.equal((await desk.ask(from, '/v1/instance')).status, 200);
    desk.egress.set('i-1', []);
    assert.equal((await desk.ask(POD, '/v1/instance')).status, 200);
  });

  it('lab/C29: ends a connection that is older than the rule', async () => {
    await using desk = await Desk.open();
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    assert.equal((await desk.ask(POD, '/v1/instance', { agent })).status, 200);
    desk.egress.set('i-1', [DENY_ALL]);
    await assert.rejects(desk.ask(POD, '/v1/instance', { agent }), { code: 'ECONNRESET' });
    agent.destroy();
  });

  it('lab/C29: lets a node set its own rules, with exceptions, and no pod', async () => {
    await using desk = await Desk.open();
    const rules = [{ action: 'allow', to: '169.254.0.0/16', namespaces: ['openshift-system'] }, DENY_ALL];
    const put = { method: 'PUT', body: JSON.stringify({ rules }) };
    assert.equal(codeOf(await desk.ask(POD, '/v1/egress', put)), '403 Forbidden');
    assert.equal((await desk.ask(NODE, '/v1/egress', put)).status, 200);
    assert.deepEqual(JSON.parse((await desk.ask(NODE, '/v1/egress')).text), { rules });
    assert.deepEqual(JSON.parse((await desk.ask(OTHER_NODE, '/v1/egress')).text), { rules: [] });
    await assert.rejects(desk.ask(POD, '/v1/instance'), { code: 'ECONNRESET' });
    assert.equal((await desk.ask(SYSTEM_POD, '/v1/instance')).status, 200);
  });

  it('lab/C29: keeps the rules of two nodes apart that have one name, in different clusters or one after the other', async () => {
    let instanceId = 'i-1';
    const whoIs = (address: string) => {
      const caller = callers.get(address);
      return caller && { ...caller, instanceId, node: 'w-1' };
    };
    await using desk = await Desk.open({ whoIs });
    const put = { method: 'PUT', body: JSON.stringify({ rules: [DENY_ALL] }) };
    assert.equal((await desk.ask(NODE, '/v1/egress', put)).status, 200);
    await assert.rejects(desk.ask(POD, '/v1/instance'), { code: 'ECONNRESET' });
    instanceId = 'i-2';
    assert.equal((await desk.ask(POD, '/v1/instance')).status, 200);
    assert.deepEqual(JSON.parse((await desk.ask(NODE, '/v1/egress')).text), { rules: [] });
  });

  it('lab/C29: forgets the rules of an instance that is gone', async () => {
    const live = new Map(instances);
    await using desk = await Desk.open({ instance: (id) => live.get(id) });
    const put = { method: 'PUT', body: JSON.stringify({ rules: [DENY_ALL] }) };
    await desk.ask(NODE, '/v1/egress', put);
    live.delete('i-1');
    await desk.ask(OTHER_NODE, '/v1/egress', put);
    assert.deepEqual([desk.egress.rulesOf('i-1'), desk.egress.rulesOf('i-2')], [[], [DENY_ALL]]);
  });

  const badRules = [
    { body: '{"rules":[{"action":"deny","to":"everywhere"}]}', want: '400 InvalidArgument', text: /everywhere/ },
    {
      body: '{"rules":[{"action":"deny","to":"10.0.0.0/8","prot":"tcp"}]}',
      want: '400 UnknownField',
      text: /prot/,
    },
    {
      body: '{"rules":[{"action":"drop","to":"10.0.0.0/8"}]}',
      want: '400 InvalidArgument',
      text: /rules\.0\.action/,
    },
    { body: '', want: '400 InvalidArgument', text: /rules/ },
    { body: 'no JSON', want: '400 InvalidArgument', text: /JSON/ },
  ];
  for (const { body, want, text } of badRules)
    it(`lab/C29: refuses the rules ${body}`, async () => {
      await using desk = await Desk.open();
      const told = await desk.ask(NODE, '/v1/egress', { method: 'PUT', body });
      assert.equal(codeOf(told), want);
      assert.match(told.text, text);
      assert.deepEqual(desk.egress.rulesOf('i-1'), []);
    });
});
