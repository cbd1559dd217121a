import assert from 'node:assert/strict';
import { after as afterAll, before, describe, it } from 'node:test';
import type { Kind, KubeObject } from '../../src/api/object.ts';
import { startApiServer } from '../../src/apiserver/start.ts';
import { SystemClock } from '../../src/base/clock.ts';
import { terminalError, userError } from '../../src/base/errors.ts';
import type { Log } from '../../src/base/log.ts';
import { createCache } from '../../src/kube/cache/create-cache.ts';
import { createClient } from '../../src/kube/client/create-client.ts';
import { controllerFor } from '../../src/kube/controller/controller.ts';
import { DONE, type ReconcileContext } from '../../src/kube/controller/reconcile.ts';
import { UNFENCED } from '../../src/kube/election/fence.ts';
import { PrometheusMetrics } from '../../src/kube/metrics/metrics.ts';
import type { Transport } from '../../src/kube/transport/transport.ts';
import { conditionsOf } from '../../src/object/conditions.ts';

interface Gadget extends KubeObject {
  readonly spec?: { readonly size?: number };
}
const GADGET: Kind<Gadget> = {
  group: 'outcome.example.com',
  version: 'v1',
  kind: 'Gadget',
  plural: 'gadgets',
  scope: 'Namespaced',
  hasConditions: true,
};
const CRD: Kind = {
  group: 'apiextensions.k8s.io',
  version: 'v1',
  kind: 'CustomResourceDefinition',
  plural: 'customresourcedefinitions',
  scope: 'Cluster',
};
const text = { type: 'string' };
const conditions = {
  type: 'array',
  'x-kubernetes-list-type': 'map',
  'x-kubernetes-list-map-keys': ['type'],
  items: {
    type: 'object',
    required: ['type', 'status'],
    properties: {
      type: text,
      status: text,
      reason: text,
      message: text,
      lastTransitionTime: { type: 'string', format: 'date-time' },
      observedGeneration: { type: 'integer' },
    },
  },
};
const definition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'gadgets.outcome.example.com' },
  spec: {
    group: GADGET.group,
    scope: GADGET.scope,
    names: { kind: 'Gadget', plural: 'gadgets', singular: 'gadget', listKind: 'GadgetList' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              spec: { type: 'object', properties: { size: { type: 'integer' } } },
              status: { type: 'object', properties: { conditions, size: { type: 'integer' } } },
            },
          },
        },
      },
    ],
  },
};

const silent: Log = {
  error: () => undefined,
  warn: () => undefined,
  info: () => undefined,
  debug: () => undefined,
  child: () => silent,
};
const clock = new SystemClock();

async function until(isTrue: () => Promise<boolean> | boolean, what: string): Promise<void> {
  for (let attempt = 0; attempt < 400; attempt++) {
    if (await isTrue()) return;
    await clock.sleep(25);
  }
  assert.fail(`never: ${what}`);
}

/** Everything real but the reconciler, which does what the size says. */
class Program {
  readonly writes: string[] = [];
  readonly told: string[] = [];
  reconciles = 0;
  readonly #stop = new AbortController();
  readonly client;
  readonly #ended: Promise<unknown>;

  constructor(transport: Transport) {
    const counting: Transport = (request) => {
      if (request.method !== 'GET') this.writes.push(`${request.method} ${request.target.split('?')[0]}`);
      return transport(request);
    };
    const live = createClient({ transport: counting, fieldManager: 'test', clock, log: silent }).live;
    const cache = createCache({ live, clock, log: silent });
    this.client = createClient({ transport: counting, fieldManager: 'test', clock, log: silent, cache });
    const events = {
      normal: () => undefined,
      warning: (_: KubeObject, reason: string) => void this.told.push(reason),
    };
    const controller = controllerFor(GADGET).reconcile({
      reconcile: (gadget, context) => this.#reconcile(gadget, context),
    });
    const { runnables } = controller.bind({
      cache,
      client: this.client,
      clock,
      events,
      fence: UNFENCED,
      log: silent,
      metrics: new PrometheusMetrics(),
    });
    const { signal } = this.#stop;
    this.#ended = Promise.all([cache.run(signal), ...runnables.map((part) => part.run(signal))]);
  }

  async #reconcile({ metadata, spec: { size = 0 } = {} }: Gadget, { client }: ReconcileContext) {
    this.reconciles++;
    if (size === 1) throw userError('BadSize', 'spec.size must not be 1');
    if (size === 2) throw terminalError('NoSuchSize', 'there is no size 2 here');
    const ready = {
      type: 'Ready',
      status: 'True',
      reason: 'Fine',
      message: '',
      lastTransitionTime: '2026-01-01T00:00:00Z',
    };
    const { name, namespace = '' } = metadata;
    // Without force, as for a field that nobody else should write.
    if (size === 3)
      await client.applyStatus(GADGET, {
        metadata: { name, namespace },
        status: { conditions: [ready], size },
      } as never);
    return DONE;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#ended;
  }
}

describe('outcomes of reconciles on a server', () => {
  let server: Awaited<ReturnType<typeof startApiServer>>;
  let transport: Transport;

  before(async () => {
    server = await startApiServer({ storage: 'memory', listen: false });
    transport = server.client('admin', ['system:masters']);
    const client = createClient({ transport, fieldManager: 'setup', clock, log: silent });
    await client.create(CRD, definition as unknown as KubeObject);
    await until(
      () =>
        client.live.list(GADGET).then(
          () => true,
          () => false,
        ),
      'the kind is served',
    );
  });
  afterAll(() => server[Symbol.asyncDispose]());

  it('a failure is shown, follows the edits, and leaves no trace when it is over', async () => {
    await using program = new Program(transport);
    const { client } = program;
    const key = { namespace: 'default', name: 'story' };
    const shown = async () =>
      conditionsOf(await client.live.get(GADGET, key)).map(
        ({ type, status, reason }) => `${type}=${status} ${reason}`,
      );
    const resize = (size: number) => client.patch(GADGET, key, { type: 'merge', body: { spec: { size } } });
    const shows = (want: readonly string[]) =>
      until(async () => JSON.stringify(await shown()) === JSON.stringify(want), want.join());

    await client.create(GADGET, {
      apiVersion: 'outcome.example.com/v1',
      kind: 'Gadget',
      metadata: key,
      spec: { size: 1 },
    });
    await shows(['Ready=False BadSize']);
    await resize(2);
    await shows(['Ready=False NoSuchSize', 'Stalled=True NoSuchSize']);
    await resize(0);
    await shows([]);
    const { metadata } = await client.live.get(GADGET, key);
    assert.deepEqual(
      (metadata.managedFields ?? []).filter(({ manager }) => manager?.endsWith('/outcome')),
      [],
    );

    await resize(2);
    await shows(['Ready=False NoSuchSize', 'Stalled=True NoSuchSize']);
    await resize(3);
    await shows(['Ready=True Fine']);
    assert.deepEqual(program.told, ['BadSize', 'NoSuchSize', 'NoSuchSize']);
  });

  it('its own writes cause no reconcile, and an unchanged world no write', async () => {
    await using program = new Program(transport);
    const { client } = program;
    const key = { namespace: 'default', name: 'quiet' };
    await client.create(GADGET, {
      apiVersion: 'outcome.example.com/v1',
      kind: 'Gadget',
      metadata: key,
      spec: { size: 1 },
    });
    await until(async () => conditionsOf(await client.live.get(GADGET, key)).length > 0, 'the failure is shown');
    const seen = program.reconciles;
    const writes = program.writes.length;
    await clock.sleep(300);
    assert.deepEqual([program.reconciles, program.writes.length], [seen, writes]);
    await client.patch(GADGET, key, { type: 'merge', body: { metadata: { labels: { touched: 'yes' } } } });
    await until(() => program.reconciles > seen, 'the edit is seen');
    await clock.sleep(100);
    assert.deepEqual([program.reconciles, program.writes.length], [seen + 1, writes + 1]);
  });
});
