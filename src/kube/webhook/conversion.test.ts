import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { JsonObject } from '../../api/json.ts';
import type { Kind, KubeObject } from '../../api/object.ts';
import { VirtualClock } from '../../base/clock.ts';
import { SlipwayError, userError } from '../../base/errors.ts';
import { PrometheusMetrics } from '../metrics/metrics.ts';
import { BodyTooLarge } from '../serving/request-body.ts';
import { spoke } from './conversion.ts';
import { webhookConfigurations, withConversion } from './webhook-configurations.ts';
import { Webhooks } from './webhooks.ts';

// Tests look into answers they asked for themselves.
// oxlint-disable-next-line typescript/no-explicit-any
type Loose = any;

interface WidgetV1 extends KubeObject {
  readonly spec: { readonly size: number };
}
interface WidgetV2 extends KubeObject {
  readonly spec: { readonly width: number; readonly height: number };
}
interface WidgetV3 extends KubeObject {
  readonly spec: { readonly area: string };
}
const kind = <T extends KubeObject>(version: string): Kind<T> => ({
  group: 'ex.io',
  version,
  kind: 'Widget',
  plural: 'widgets',
  scope: 'Namespaced',
});
const [V1, V2, V3] = [kind<WidgetV1>('v1'), kind<WidgetV2>('v2'), kind<WidgetV3>('v3')];
const LOG = { error: () => {}, warn: () => {}, info: () => {}, debug: () => {}, child: () => LOG };

const FIRST = spoke(V2, V1, {
  convertTo: ({ spec: { size }, ...rest }) => ({ ...rest, spec: { width: size, height: size } }),
  convertFrom: ({ spec, ...rest }) => {
    if (spec.width < 0) throw userError('Negative', 'spec.width must not be negative');
    if (spec.width !== spec.height) throw new RangeError('not a square');
    return { ...rest, spec: { size: spec.width } };
  },
});
const THIRD = spoke(V2, V3, {
  convertTo: async ({ spec, ...rest }) => {
    const [width = 0, height = 0] = spec.area.split('x').map(Number);
    return { ...rest, spec: { width, height } };
  },
  convertFrom: ({ spec: { width, height }, ...rest }) => {
    // A careless converter: none of this may reach the server.
    rest.metadata.name = 'renamed';
    delete rest.metadata.uid;
    rest.metadata.labels = { shape: 'box' };
    delete rest.metadata.annotations;
    return { ...rest, kind: 'Gadget', spec: { area: `${width}x${height}` } };
  },
});

function world() {
  const clock = new VirtualClock();
  const metrics = new PrometheusMetrics();
  const webhooks = new Webhooks({ clock, log: LOG, metrics }).converting(V2, FIRST, THIRD);
  const convert = async (objects: readonly JsonObject[], desired: string, version = 'v1'): Promise<Loose> =>
    webhooks.local(
      {
        kind: 'ConversionReview',
        apiVersion: `apiextensions.k8s.io/${version}`,
        request: { uid: 'u1', desiredAPIVersion: desired, objects: [...objects] },
      },
      '/convert',
    );
  return { metrics, webhooks, convert };
}

const widget = (version: string, spec: JsonObject, name = 'w1'): JsonObject => ({
  apiVersion: `ex.io/${version}`,
  kind: 'Widget',
  metadata: { name, namespace: 'demo', uid: 'u', labels: { a: 'b' }, annotations: { c: 'd' } },
  spec,
});

const reasonOf = (run: () => unknown): string => {
  try {
    run();
    return 'none';
  } catch (error) {
    return error instanceof SlipwayError ? error.reason : String(error);
  }
};

describe('conversion', () => {
  it('runtime/W5: goes through the hub both ways and keeps the order of objects', async () => {
    const { convert } = world();
    const table: readonly [JsonObject[], string, unknown[]][] = [
      [[widget('v1', { size: 2 })], 'ex.io/v2', [{ width: 2, height: 2 }]],
      [[widget('v2', { width: 3, height: 3 })], 'ex.io/v1', [{ size: 3 }]],
      [[widget('v3', { area: '4x4' })], 'ex.io/v1', [{ size: 4 }]],
      [
        [widget('v1', { size: 1 }, 'a'), widget('v3', { area: '2x5' }, 'b'), widget('v1', { size: 3 }, 'c')],
        'ex.io/v2',
        [
          { width: 1, height: 1 },
          { width: 2, height: 5 },
          { width: 3, height: 3 },
        ],
      ],
      [[], 'ex.io/v2', []],
    ];
    for (const [objects, desired, specs] of table) {
      const { response, apiVersion } = await convert(objects, desired);
      assert.deepEqual([apiVersion, response.uid], ['apiextensions.k8s.io/v1', 'u1']);
      assert.deepEqual(response.result, { status: 'Success' });
      assert.deepEqual(
        response.convertedObjects.map(({ spec }: Loose) => spec),
        specs,
      );
      for (const object of response.convertedObjects) assert.equal(object.apiVersion, desired);
    }
    assert.equal((await convert([], 'ex.io/v2', 'v1beta1')).apiVersion, 'apiextensions.k8s.io/v1beta1');
  });

  it('runtime/W5: metadata stays what it was, except for labels and annotations', async () => {
    const { convert } = world();
    const { response } = await convert([widget('v1', { size: 2 })], 'ex.io/v3');
    assert.deepEqual(response.convertedObjects, [
      {
        apiVersion: 'ex.io/v3',
        kind: 'Widget',
        metadata: { name: 'w1', namespace: 'demo', uid: 'u', labels: { shape: 'box' } },
        spec: { area: '2x2' },
      },
    ]);
  });

  it('runtime/W5: an error fails the whole review with its message', async () => {
    const { convert, metrics } = world();
    const table: readonly [JsonObject[], string, RegExp][] = [
      [[widget('v1', { size: 1 })], 'ex.io/v1', /asked for in ex\.io\/v1, which it has/],
      [[widget('v1', { size: 1 })], 'ex.io/v9', /cannot be converted from ex\.io\/v1 to ex\.io\/v9/],
      [[widget('v9', {})], 'ex.io/v1', /cannot be converted from ex\.io\/v9/],
      [[{ ...widget('v1', {}), kind: 'Gadget' }], 'ex.io/v2', /Gadget cannot be converted/],
      [[widget('v2', { width: -1, height: 1 })], 'ex.io/v1', /spec\.width must not be negative/],
      [
        [widget('v1', { size: 1 }), widget('v2', { width: 1, height: 2 })],
        'ex.io/v1',
        /which it has|not a square/,
      ],
      [[widget('v2', { width: 1, height: 2 })], 'ex.io/v1', /not a square/],
      [['text' as unknown as JsonObject], 'ex.io/v1', /no object/],
    ];
    for (const [objects, desired, message] of table) {
      const { response } = await convert(objects, desired);
      assert.deepEqual(
        [response.uid, response.result.status, response.convertedObjects],
        ['u1', 'Failure', undefined],
      );
      assert.match(response.result.message, message);
    }
    assert.match(await metrics.text(), /controller_runtime_conversion_webhook_panics_total 1/);
  });

  it('runtime/W5: what is no review is a bad request', async () => {
    const { webhooks } = world();
    await assert.rejects(webhooks.local({ kind: 'Pod' }, '/convert'), /400 the body is "Pod"/);
    const { status } = await webhooks.serve({
      method: 'POST',
      path: '/convert',
      query: new URLSearchParams(),
      headers: {},
      body: () => Promise.reject(new BodyTooLarge(1)),
      signal: new AbortController().signal,
    });
    assert.equal(status, 413);
  });

  it('runtime/W5: a kind has one hub, and each version one spoke of the same kind', () => {
    const { webhooks } = world();
    const other = { ...V1, kind: 'Gadget' };
    const fresh = () => new Webhooks({ clock: new VirtualClock(), log: LOG, metrics: new PrometheusMetrics() });
    assert.equal(
      reasonOf(() => webhooks.converting(V2, FIRST)),
      'DuplicateConversion',
    );
    assert.equal(
      reasonOf(() => fresh().converting(V2, FIRST, FIRST)),
      'DuplicateConversion',
    );
    assert.equal(
      reasonOf(() => fresh().converting(V2, { ...FIRST, kind: other })),
      'ForeignVersion',
    );
    assert.deepEqual(webhooks.convertedDefinitions, ['widgets.ex.io']);
  });
});

describe('webhook configurations', () => {
  const service = { namespace: 'system', name: 'robot' };
  const base = { name: 'robot', address: { service }, trust: 'self-managed' } as const;
  const registered = () => {
    const { webhooks } = world();
    return webhooks
      .validating(V1, { validateDelete: () => {} }, { failurePolicy: 'Ignore', timeoutSeconds: 5 })
      .mutating(V2, () => {}, { reinvocationPolicy: 'IfNeeded', objectSelector: { matchLabels: { a: 'b' } } })
      .mutating(V1, () => {}, { matchConditions: [{ name: 'c', expression: 'true' }], namespaceSelector: {} });
  };

  it('runtime/W6: are made of what is registered, sorted', () => {
    const [mutating, validating, ...more]: Loose[] = [...webhookConfigurations(registered(), base)];
    assert.deepEqual(more, []);
    assert.deepEqual(
      mutating.webhooks.map(({ name }: Loose) => name),
      ['mutate-ex-io-v1-widget.webhooks.slipway.dev', 'mutate-ex-io-v2-widget.webhooks.slipway.dev'],
    );
    assert.deepEqual(validating, {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingWebhookConfiguration',
      metadata: { name: 'robot' },
      webhooks: [
        {
          name: 'validate-ex-io-v1-widget.webhooks.slipway.dev',
          admissionReviewVersions: ['v1'],
          clientConfig: { service: { ...service, path: '/validate-ex-io-v1-widget', port: 443 } },
          failurePolicy: 'Ignore',
          matchPolicy: 'Equivalent',
          rules: [
            {
              apiGroups: ['ex.io'],
              apiVersions: ['v1'],
              operations: ['DELETE'],
              resources: ['widgets'],
              scope: 'Namespaced',
            },
          ],
          sideEffects: 'None',
          timeoutSeconds: 5,
        },
      ],
    });
    const empty = world().webhooks;
    assert.deepEqual(webhookConfigurations(empty, base), []);
    assert.equal(
      reasonOf(() => webhookConfigurations(registered(), { ...base, domain: 'x' })),
      'InvalidWebhookName',
    );
  });

  it('runtime/W6: have the name that is given, when it is one', () => {
    const named = (name: string): Loose =>
      webhookConfigurations(world().webhooks.validating(V1, { validateDelete: () => {} }, { name }), base)[0];
    assert.equal(named('v1.validation.widget.ex.io').webhooks[0].name, 'v1.validation.widget.ex.io');
    assert.equal(
      reasonOf(() => named('widget')),
      'InvalidWebhookName',
    );
  });

  it('runtime/W6: the authority comes from PEM, from the service CA of OpenShift, or later', () => {
    const first = (trust: Loose, address: Loose = base.address): Loose =>
      webhookConfigurations(registered(), { ...base, trust, address, labels: { l: '1' } })[0];
    const pem = first({ caPem: 'PEM' }, { url: 'https://127.0.0.1:9443/' });
    assert.deepEqual(pem.webhooks[0].clientConfig, {
      caBundle: Buffer.from('PEM').toString('base64'),
      url: 'https://127.0.0.1:9443/mutate-ex-io-v1-widget',
    });
    const openShift = first('service-ca');
    assert.deepEqual(openShift.metadata, {
      name: 'robot',
      labels: { l: '1' },
      annotations: { 'service.beta.openshift.io/inject-cabundle': 'true' },
    });
    assert.equal('caBundle' in first('self-managed').webhooks[0].clientConfig, false);
  });

  it('runtime/W6: a definition gets its conversion, and is not written to', () => {
    const definition: Loose = Object.freeze({
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: 'widgets.ex.io', annotations: { a: 'b' } },
      spec: { group: 'ex.io' },
    });
    const converted: Loose = withConversion(definition, { ...base, trust: 'service-ca' });
    assert.deepEqual(converted.spec, {
      group: 'ex.io',
      conversion: {
        strategy: 'Webhook',
        webhook: {
          clientConfig: { service: { ...service, path: '/convert', port: 443 } },
          conversionReviewVersions: ['v1'],
        },
      },
    });
    assert.deepEqual(Object.keys(converted.metadata.annotations), [
      'a',
      'service.beta.openshift.io/inject-cabundle',
    ]);
    assert.deepEqual(withConversion(definition, base).metadata, definition.metadata);
  });
});
