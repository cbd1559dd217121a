import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { after, before, describe, it } from 'node:test';
import { connect } from 'node:tls';
import type { Kind, KubeObject } from '../../api/object.ts';
import type { ApiServer } from '../../apiserver/options.ts';
import { startApiServer } from '../../apiserver/start.ts';
import { VirtualClock } from '../../base/clock.ts';
import { invalid as invalidField } from '../../object/field-error.ts';
import { createClient } from '../client/create-client.ts';
import { PrometheusMetrics } from '../metrics/metrics.ts';
import { selfSignedCertificate } from '../serving/certificate-source.ts';
import { denied, invalid } from './admission-result.ts';
import { CertificateRotation } from './certificate-rotation.ts';
import { spoke } from './conversion.ts';
import { SecretCertificates } from './secret-certificates.ts';
import { type ConfigurationOptions, webhookConfigurations, withConversion } from './webhook-configurations.ts';
import { WebhookServer } from './webhook-server.ts';
import { Webhooks } from './webhooks.ts';

// Tests look into answers they asked for themselves.
// oxlint-disable-next-line typescript/no-explicit-any
type Loose = any;

const MINUTE = 60_000;
const LOG = { error: () => {}, warn: () => {}, info: () => {}, debug: () => {}, child: () => LOG };
const NAMES = { dnsNames: ['hooks.system.svc'], ipAddresses: ['127.0.0.1'] };

interface WidgetV1 extends KubeObject {
  readonly spec: { readonly size: number; readonly color?: string };
}
interface WidgetV2 extends KubeObject {
  readonly spec: { readonly width: number; readonly color?: string };
}
const kind = <T extends KubeObject>(version: string): Kind<T> => ({
  group: 'ex.io',
  version,
  kind: 'Widget',
  plural: 'widgets',
  scope: 'Namespaced',
});
const V1 = kind<WidgetV1>('v1');
const V2 = kind<WidgetV2>('v2');

const open = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
const schema = { openAPIV3Schema: { type: 'object', properties: { spec: open } } };
const DEFINITION = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'widgets.ex.io' },
  spec: {
    group: 'ex.io',
    scope: 'Namespaced',
    names: { plural: 'widgets', kind: 'Widget', listKind: 'WidgetList', singular: 'widget' },
    versions: [
      { name: 'v1', served: true, storage: false, schema },
      { name: 'v2', served: true, storage: true, schema },
    ],
  },
};

const registered = (webhooks: Webhooks): Webhooks =>
  webhooks
    .mutating(V1, (object) => {
      object.spec.color ??= 'red';
    })
    .validating(V1, {
      validateCreate: ({ spec: { size } }, context) => {
        context.warn('widgets are old-fashioned');
        return size > 9 ? invalid([invalidField('spec.size', size, 'must be at most 9')]) : undefined;
      },
      validateDelete: ({ metadata: { name } }) => (name === 'keep' ? denied('it is needed') : undefined),
    })
    .converting(
      V2,
      spoke(V2, V1, {
        convertTo: ({ spec: { size, ...spec }, ...rest }) => ({ ...rest, spec: { ...spec, width: size } }),
        convertFrom: ({ spec: { width, ...spec }, ...rest }) => ({ ...rest, spec: { ...spec, size: width } }),
      }),
    );

const widget = (name: string, size: number) => ({
  apiVersion: 'ex.io/v1',
  kind: 'Widget',
  metadata: { name },
  spec: { size, extra: { kept: true } },
});
const WIDGETS = '/apis/ex.io/v1/namespaces/default/widgets';

async function sent(server: ApiServer, method: string, target: string, body?: Loose): Promise<Loose> {
  const answer = await server.client()({
    method,
    target,
    headers: { 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const value = JSON.parse(Buffer.from(await answer.bytes()).toString());
  return { code: answer.status, warning: answer.headers['warning'], ...value };
}

async function install(server: ApiServer, webhooks: Webhooks, options: ConfigurationOptions): Promise<void> {
  const definition = withConversion(DEFINITION, options);
  const made = await sent(server, 'POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', definition);
  assert.equal(made.code, 201, made.message);
  for (const object of webhookConfigurations(webhooks, options)) {
    const plural = `${object.kind.toLowerCase()}s`;
    const { code, message } = await sent(
      server,
      'POST',
      `/apis/admissionregistration.k8s.io/v1/${plural}`,
      object,
    );
    assert.equal(code, 201, message);
  }
}

/** What every way to the webhooks must do alike. */
async function behaves(server: ApiServer, prefix: string): Promise<void> {
  const made = await sent(server, 'POST', WIDGETS, widget(`${prefix}a`, 3));
  assert.equal(made.code, 201, made.message);
  assert.deepEqual(made.spec, { size: 3, extra: { kept: true }, color: 'red' });
  assert.match(String(made.warning), /widgets are old-fashioned/);
  const refused = await sent(server, 'POST', WIDGETS, widget(`${prefix}b`, 10));
  assert.equal(refused.code, 422);
  assert.match(
    refused.message,
    /Widget\.ex\.io "\w+" is invalid: spec\.size: Invalid value: 10: must be at most 9/,
  );
  assert.deepEqual(refused.details.causes[0].field, 'spec.size');
  const converted = await sent(server, 'GET', `${WIDGETS.replace('/v1/', '/v2/')}/${prefix}a`);
  assert.deepEqual(converted.spec, { width: 3, extra: { kept: true }, color: 'red' });
}

describe('webhooks of an API server in this process', () => {
  it('runtime/W8: mutate, validate and convert without a socket', async () => {
    const clock = new VirtualClock();
    const webhooks = registered(
      new Webhooks({ clock, log: LOG, metrics: new PrometheusMetrics(), checksDefaulters: true }),
    );
    await using server = await startApiServer({ listen: false, clock, resolveService: () => webhooks.local });
    const address = { service: { namespace: 'system', name: 'hooks' } };
    await install(server, webhooks, { name: 'robot', address, trust: 'self-managed' });
    await behaves(server, 'w');
    assert.equal((await sent(server, 'POST', WIDGETS, widget('keep', 1))).code, 201);
    const kept = await sent(server, 'DELETE', `${WIDGETS}/keep`);
    assert.deepEqual([kept.code, kept.reason], [403, 'Forbidden']);
    assert.match(kept.message, /it is needed/);
  });
});

describe('the webhook server', () => {
  // Two thirds of the first certificate's life are over when the clock shows what the sockets believe.
  const clock = new VirtualClock({ start: new Date(Date.now() - 19 * MINUTE) });
  const webhooks = registered(new Webhooks({ clock, log: LOG, metrics: new PrometheusMetrics() }));
  const stop = new AbortController();
  const stack = new AsyncDisposableStack();
  let server: ApiServer;
  let hooks: WebhookServer;
  let rotation: CertificateRotation;

  before(async () => {
    const resolveService = () => `https://127.0.0.1:${hooks.port}`;
    server = stack.use(await startApiServer({ listen: false, clock, resolveService }));
    const client = createClient({ transport: server.client(), fieldManager: 'robot', clock, log: LOG });
    await sent(server, 'POST', '/api/v1/namespaces', { metadata: { name: 'system' } });
    const secret = { namespace: 'system', name: 'certs' };
    const options = { client, clock, log: LOG, validityMs: 30 * MINUTE, ...NAMES };
    const certificates = new SecretCertificates({ ...options, secret });
    const targets = { mutating: ['robot'], validating: ['robot'], definitions: ['widgets.ex.io'] };
    rotation = new CertificateRotation({ ...options, certificates, targets });
    hooks = new WebhookServer({ webhooks, certificates, clock, log: LOG, bind: { host: '127.0.0.1', port: 0 } });
    await assert.rejects(hooks.check(), /does not listen/);
    const running = hooks.run(stop.signal);
    stack.defer(async () => {
      stop.abort();
      await running;
      await assert.rejects(hooks.check(), /does not listen/);
    });
    await hooks.ready(stop.signal);
    const address = { service: { namespace: 'system', name: 'hooks' } };
    await install(server, webhooks, { name: 'robot', address, trust: 'self-managed' });
    await rotation.pass();
  });
  after(() => stack.disposeAsync());

  /** The certificate that a new connection sees, with a bundle that the API server uses. */
  async function shown(): Promise<string> {
    const { webhooks: configured } = await sent(
      server,
      'GET',
      '/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/robot',
    );
    const ca = Buffer.from(configured[0].clientConfig.caBundle, 'base64');
    const socket = connect({ host: '127.0.0.1', port: hooks.port ?? 0, servername: 'hooks.system.svc', ca });
    await once(socket, 'secureConnect');
    const { raw } = socket.getPeerCertificate();
    assert.equal(socket.authorized, true);
    socket.destroy();
    return new X509Certificate(raw).fingerprint256;
  }

  it('runtime/W7: is ready when it listens', async () => {
    await hooks.check();
    assert.equal(hooks.group, 'webhook');
  });

  it('runtime/W3: mutates, validates and converts for an API server that calls it over HTTPS', () =>
    behaves(server, 'h'));

  it('runtime/W1: offers nothing older than TLS 1.2', async () => {
    const old = connect({
      host: '127.0.0.1',
      port: hooks.port ?? 0,
      rejectUnauthorized: false,
      maxVersion: 'TLSv1.1',
      minVersion: 'TLSv1',
    });
    const [error] = await once(old, 'error');
    assert.match(String(error.code ?? error.message), /TLS|SSL|EPROTO|ECONNRESET/);
  });

  it('runtime/W6: the certificate rotates without one failed call', async () => {
    const codes: number[] = [];
    const call = async () => {
      const { code, message } = await sent(server, 'POST', WIDGETS, widget(`r${codes.length}`, 1));
      assert.equal(code, 201, message);
      codes.push(code);
    };
    const settle = async () => {
      for (let turns = 0; turns < 10; turns++) await clock.advance(0);
    };
    const first = await shown();
    await call();
    await clock.advance(19 * MINUTE);
    await settle();
    await rotation.pass();
    await Promise.all([call(), shown()]);
    await clock.advance(60_000);
    await rotation.pass();
    // The Secret has the new one, this replica has not looked yet.
    assert.equal(await shown(), first);
    await call();
    await clock.advance(30_000);
    await settle();
    assert.notEqual(await shown(), first);
    await call();
    await rotation.pass();
    await call();
    assert.equal(codes.length, 5);
  });

  it('runtime/W1: rejects when its address is taken, for whoever runs it and whoever waits', async () => {
    const certificates = selfSignedCertificate({ clock });
    const bind = { host: '127.0.0.1', port: hooks.port ?? 0 };
    const second = new WebhookServer({ webhooks, certificates, clock, log: LOG, bind });
    const signal = new AbortController().signal;
    const waiting = assert.rejects(second.ready(signal), /cannot listen/);
    await assert.rejects(second.run(signal), /cannot listen.*choose another address with --webhook-port$/);
    await waiting;
    const never = new WebhookServer({ webhooks, certificates, clock, log: LOG, bind });
    await assert.rejects(never.ready(AbortSignal.abort(new Error('stopped'))), /stopped/);
  });
});
