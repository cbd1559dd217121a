import assert from 'node:assert/strict';
import { before, it } from 'node:test';
import { Lease } from '../../../src/api/generated/coordination-v1.ts';
import { ConfigMap, Endpoints, Secret } from '../../../src/api/generated/core-v1.ts';
import { unstructured } from '../../../src/api/unstructured.ts';
import {
  ApiError,
  isAlreadyExists,
  isConflict,
  isForbidden,
  isInvalid,
  isNetwork,
  isNoMatch,
  isNotFound,
  isUnauthorized,
} from '../../../src/kube/client/api-error.ts';
import { dryRunClient, namespacedClient, strictClient } from '../../../src/kube/client/client-wrappers.ts';
import { retryOnConflict } from '../../../src/kube/client/conflict-retry.ts';
import type { KubeClient } from '../../../src/kube/client/kube-client.ts';
import { createRestMapper } from '../../../src/kube/client/rest-mapper.ts';
import type { RuntimeSuite } from '../../support/runtime-servers.ts';
import { failureOf } from '../../support/transport-world.ts';
import { Gadget } from './gadget.ts';
import { startRelay } from './relay.ts';

const Unknown = unstructured({
  group: 'nowhere.test',
  version: 'v1',
  kind: 'X',
  plural: 'xs',
  scope: 'Namespaced',
});

interface Case {
  readonly what: string;
  readonly ask: (client: KubeClient, namespace: string) => Promise<unknown>;
  readonly is: (thrown: unknown) => boolean;
  readonly code: number;
  readonly reason: string;
  /** NS stands for the namespace. */
  readonly message: string;
}

const CASES: readonly Case[] = [
  {
    what: 'an object that does not exist',
    ask: (client, namespace) => client.get(ConfigMap, { namespace, name: 'no' }),
    is: isNotFound,
    code: 404,
    reason: 'NotFound',
    message: 'configmaps "no" not found',
  },
  {
    what: 'an object that exists',
    ask: async (client, namespace) => {
      const metadata = { namespace, name: 'there' };
      await client.create(ConfigMap, { metadata });
      await client.create(ConfigMap, { metadata });
    },
    is: isAlreadyExists,
    code: 409,
    reason: 'AlreadyExists',
    message: 'configmaps "there" already exists',
  },
  {
    what: 'an old version',
    ask: async (client, namespace) => {
      const old = await client.create(ConfigMap, { metadata: { namespace, name: 'old' } });
      await client.update(ConfigMap, { ...old, data: { a: '1' } });
      await client.update(ConfigMap, { ...old, data: { a: '2' } });
    },
    is: isConflict,
    code: 409,
    reason: 'Conflict',
    message:
      'Operation cannot be fulfilled on configmaps "old": the object has been modified; please apply your changes to the latest version and try again',
  },
  {
    what: 'another object of the name',
    ask: async (client, namespace) => {
      const key = { namespace, name: 'other' };
      await client.create(Secret, { metadata: key });
      await client.delete(Secret, key, { preconditions: { uid: 'none' } });
    },
    is: isConflict,
    code: 409,
    reason: 'Conflict',
    message: '',
  },
  {
    what: 'an object that its schema forbids',
    ask: (client, namespace) =>
      client.create(Gadget, { metadata: { namespace, name: 'bad' }, spec: { size: 101 } }),
    is: isInvalid,
    code: 422,
    reason: 'Invalid',
    message:
      'Gadget.reading.runtime.slipway.test "bad" is invalid: spec.size: Invalid value: 101: spec.size in body should be less than or equal to 100',
  },
  {
    what: 'a kind that nobody serves',
    ask: (client, namespace) => client.get(Unknown, { namespace, name: 'x' }),
    is: isNoMatch,
    code: 404,
    reason: 'NoMatch',
    message: 'GET /apis/nowhere.test/v1/namespaces/NS/xs/x was answered with 404: 404 page not found',
  },
  {
    what: 'a path that nobody serves',
    ask: (client) => client.raw('/apis/reading.runtime.slipway.test/v1/none'),
    is: isNoMatch,
    code: 404,
    reason: 'NoMatch',
    message: 'GET /apis/reading.runtime.slipway.test/v1/none was answered with 404: 404 page not found',
  },
];

/** What the client says about failures (A3), and the clients around it (A9). */
export const errorSuite: RuntimeSuite = (world) => {
  let namespace: string;
  before(async () => {
    namespace = await world().namespace();
    await world().define(Gadget);
  });

  for (const { what, ask, is, code, reason, message } of CASES) {
    it(`runtime/A3: ${what}: ${reason}, as the server words it`, async () => {
      const error = await failureOf(ask(world().client, namespace));
      assert.ok(is(error), String(error));
      assert.ok(error instanceof ApiError);
      assert.deepEqual([error.code, error.reason], [code, reason]);
      if (message !== '') assert.equal(error.message, message.replace('NS', namespace));
      assert.notEqual(error.method, '');
    });
  }

  // The scale subresource judges the size once more, under a path of its own spelling.
  it('runtime/A3: an invalid object is refused with every cause and its field', async () => {
    const bad = { metadata: { namespace, name: 'bad' }, spec: { size: -1, color: 'pink' } };
    const error = await failureOf(world().client.create(Gadget, bad as never));
    assert.ok(isInvalid(error));
    assert.deepEqual(error.details.causes?.map(({ field, reason }) => `${field} ${reason}`).toSorted(), [
      '.spec.size FieldValueInvalid',
      'spec.color FieldValueNotSupported',
      'spec.size FieldValueInvalid',
    ]);
  });

  it('runtime/A3: what may not be done is forbidden, with who, what and where', async () => {
    await using nobody = await world().connect({ user: { name: 'nobody' } });
    const error = await failureOf(nobody.client.list(ConfigMap, { namespace }));
    assert.ok(isForbidden(error));
    const text = `configmaps is forbidden: User "nobody" cannot list resource "configmaps" in API group "" in the namespace "${namespace}"`;
    assert.equal(error.message, text);
  });

  it('runtime/A3: somebody unknown is told so', async () => {
    await using stranger = await world().connect({ token: 'not-a-token' });
    const error = await failureOf(stranger.client.list(ConfigMap, { namespace }));
    assert.ok(isUnauthorized(error));
    assert.equal(error.message, 'Unauthorized');
  });

  it('runtime/A3: a server that cannot be reached is a failure of the network, and forgotten when it can', async () => {
    await using relay = await startRelay(world().server.url);
    await using far = await world().connect({ url: relay.url, hasRetries: false });
    await far.client.list(ConfigMap, { namespace });
    relay.cut();
    const error = await failureOf(far.client.list(ConfigMap, { namespace }));
    assert.ok(isNetwork(error), String(error));
    assert.ok(error.message.includes(new URL(relay.url).host), error.message);
    relay.heal();
    await far.client.list(ConfigMap, { namespace });
  });

  it('runtime/N5: requests wait for a server that comes back', async () => {
    await using relay = await startRelay(world().server.url);
    await using far = await world().connect({ url: relay.url });
    relay.cut();
    const listed = far.client.list(ConfigMap, { namespace });
    await world().clock.sleep(200);
    relay.heal();
    assert.equal((await listed).kind, 'ConfigMapList');
  });

  it('runtime/A6: a mapper finds kinds by their names, and says which it does not find', async () => {
    const mapper = createRestMapper(world().client, world().clock);
    const names = ['Gadget', 'Lease', 'ConfigMap', 'Deployment'];
    const versions = ['reading.runtime.slipway.test/v1', 'coordination.k8s.io/v1', 'v1', 'apps/v1'];
    const found = await Promise.all(
      names.map((kind, at) => mapper.kindFor({ kind, apiVersion: versions[at] ?? '' })),
    );
    assert.deepEqual(
      found.map(({ plural, scope }) => `${plural} ${scope}`),
      ['gadgets Namespaced', 'leases Namespaced', 'configmaps Namespaced', 'deployments Namespaced'],
    );
    const error = await failureOf(
      mapper.kindFor({ kind: 'Gadget', apiVersion: 'reading.runtime.slipway.test/v9' }),
    );
    assert.ok(isNoMatch(error));
    assert.match(error.message, /no matches for kind "Gadget" in version "reading\.runtime\.slipway\.test\/v9"/);
  });

  it('runtime/A8: a conflict is retried with what is there then', async () => {
    const { client, clock } = world();
    const key = { namespace, name: 'counter' };
    await client.create(ConfigMap, { metadata: key, data: { n: '0' } });
    const increment = () =>
      retryOnConflict({ clock }, async () => {
        const found = await client.live.get(ConfigMap, key);
        return client.update(ConfigMap, { ...found, data: { n: String(Number(found.data?.['n']) + 1) } });
      });
    await Promise.all([increment(), increment(), increment()]);
    assert.deepEqual((await client.get(ConfigMap, key)).data, { n: '3' });
  });

  it('runtime/A9: a dry run is checked and defaulted and leaves nothing', async () => {
    const dry = dryRunClient(world().client);
    const key = { namespace, name: 'dry' };
    const created = await dry.create(Gadget, { metadata: key, spec: {} });
    assert.deepEqual(created.spec, { size: 1 });
    assert.ok(isInvalid(await failureOf(dry.create(Gadget, { metadata: key, spec: { size: 500 } }))));
    assert.equal(await world().client.find(Gadget, key), undefined);
    await world().client.create(Gadget, { metadata: key, spec: { color: 'red' } });
    await dry.delete(Gadget, key);
    await dry.patch(Gadget, key, { type: 'merge', body: { spec: { color: 'blue' } } });
    await dry.deleteAllOf(Gadget, { namespace });
    assert.equal((await world().client.get(Gadget, key)).spec.color, 'red');
  });

  it('runtime/A9: a strict client is refused fields that the kind does not have', async () => {
    const odd = { metadata: { namespace, name: 'odd' }, spec: { size: 1, sise: 2 } };
    const error = await failureOf(strictClient(world().client).create(Gadget, odd));
    assert.match(error.message, /strict decoding error: unknown field "spec\.sise"/);
    const lease = { metadata: { namespace, name: 'odd' }, spec: { holder: 'x' } };
    const other = await failureOf(strictClient(world().client).create(Lease, lease as never));
    assert.match(other.message, /strict decoding error: unknown field "spec\.holder"/);
    assert.deepEqual((await world().client.create(Gadget, odd)).spec, { size: 1 });
  });

  it('runtime/A9: a namespaced client works in its namespace', async () => {
    const here = namespacedClient(world().client, namespace);
    await here.create(ConfigMap, { metadata: { name: 'here' } });
    assert.equal((await here.get(ConfigMap, { name: 'here' })).metadata.namespace, namespace);
    const { items } = await here.list(ConfigMap);
    assert.ok(items.every((item) => item.metadata.namespace === namespace));
    assert.match(
      String(await failureOf(here.get(ConfigMap, { namespace: 'default', name: 'x' }))),
      /out of reach/,
    );
  });

  it('runtime/N7: a warning of the server is logged once, and told each time', async () => {
    const told: string[] = [];
    await using warned = await world().connect({
      onWarning: (text, about) => void told.push(`${about}: ${text}`),
    });
    const odd = (name: string) => ({ metadata: { namespace, name }, spec: { size: 1, sise: 2 } });
    for (const name of ['warn-1', 'warn-2']) {
      await warned.client.create(Gadget, odd(name), { fieldValidation: 'Warn' });
    }
    const expected = 'reading.runtime.slipway.test/v1 gadgets: unknown field "spec.sise"';
    assert.deepEqual(told, [expected, expected]);
    assert.equal(warned.lines.filter(({ level }) => level === 'warn').length, 1);
    await warned.client.list(Endpoints, { namespace });
    assert.match(told.at(-1) ?? '', /^v1 endpoints: v1 Endpoints is deprecated in v1\.33\+/);
  });
};
