import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import * as z from 'zod';
import {
  MutatingWebhookConfiguration,
  ValidatingWebhookConfiguration,
} from '../../../src/api/generated/admissionregistration-v1.ts';
import type { CustomResourceDefinition } from '../../../src/api/generated/apiextensions-v1.ts';
import type { KubeObject } from '../../../src/api/object.ts';
import { defineKind, type KindOf } from '../../../src/api/schema/define-kind.ts';
import { defineVersions } from '../../../src/api/schema/define-versions.ts';
import { ApiError, isForbidden, isInvalid } from '../../../src/kube/client/api-error.ts';
import { PrometheusMetrics } from '../../../src/kube/metrics/metrics.ts';
import { MemoryCertificate } from '../../../src/kube/serving/certificate-source.ts';
import { denied, invalid } from '../../../src/kube/webhook/admission-result.ts';
import { spoke } from '../../../src/kube/webhook/conversion.ts';
import type { Validator } from '../../../src/kube/webhook/typed-webhooks.ts';
import { webhookConfigurations, withConversion } from '../../../src/kube/webhook/webhook-configurations.ts';
import { WebhookServer } from '../../../src/kube/webhook/webhook-server.ts';
import { Webhooks } from '../../../src/kube/webhook/webhooks.ts';
import { invalid as invalidField } from '../../../src/object/field-error.ts';
import { collect } from '../../support/kube-client.ts';
import type { RuntimeSuite } from '../../support/runtime-servers.ts';
import type { RunningManager } from '../../support/runtime-world.ts';
import { recordedLog } from '../../support/store.ts';
import { failureOf, testAuthority, testServing } from '../../support/transport-world.ts';

const shared = {
  group: 'webhooks.runtime.slipway.test',
  kind: 'Ticket',
  plural: 'tickets',
  scope: 'Namespaced',
} as const;
const Ticket = defineKind({
  ...shared,
  version: 'v1',
  spec: z.object({ title: z.string().max(50), urgency: z.int32().default(0) }),
});
type Ticket = KindOf<typeof Ticket>;
const OldTicket = defineKind({ ...shared, version: 'v1beta1', spec: z.object({ subject: z.string().max(60) }) });
type OldTicket = KindOf<typeof OldTicket>;

/** `subject` is the title with the urgency before it. */
const toOld = ({ metadata, spec: { title, urgency } }: Ticket): OldTicket => ({
  apiVersion: 'webhooks.runtime.slipway.test/v1beta1',
  kind: 'Ticket',
  metadata,
  spec: { subject: `${urgency}:${title}` },
});
const toNew = ({ metadata, spec: { subject } }: OldTicket): Ticket => ({
  apiVersion: 'webhooks.runtime.slipway.test/v1',
  kind: 'Ticket',
  metadata,
  spec: { urgency: Number(subject.split(':')[0]), title: subject.slice(subject.indexOf(':') + 1) },
});

const SPOKE = spoke(Ticket, OldTicket, { convertTo: toNew, convertFrom: toOld });

const validator: Validator<Ticket> = {
  validateCreate: ({ spec }, context) => {
    if (spec.title === 'denied') return denied('nobody wants this');
    if (spec.title === 'broken') throw new TypeError('a mistake of the webhook');
    if (spec.title === 'odd') context.warn('an odd title');
    if (!spec.title.startsWith('bad')) return undefined;
    return invalid([invalidField('spec.title', spec.title, 'must be good')]);
  },
  validateUpdate: (old, { spec }) =>
    spec.urgency < old.spec.urgency ? denied('urgency never falls', { code: 409, reason: 'Conflict' }) : undefined,
  validateDelete: ({ spec }) => (spec.urgency > 8 ? denied('too urgent to be deleted') : undefined),
};

/** Webhooks that the API server calls over HTTPS (section 12). */
export const webhookSuite: RuntimeSuite = (world) => {
  let namespace: string;
  let run: RunningManager;
  const metrics = new PrometheusMetrics();
  before(async () => {
    namespace = await world().namespace('webhooks');
    const { clock } = world();
    const { log } = recordedLog();
    const webhooks = new Webhooks({ clock, log, metrics, checksDefaulters: true })
      .mutating(Ticket, (ticket) => {
        ticket.metadata.labels = { ...ticket.metadata.labels, urgent: String(ticket.spec.urgency > 5) };
      })
      .validating(Ticket, validator)
      .converting(Ticket, SPOKE);
    const { certificatePem, keys } = await testServing();
    const certificates = new MemoryCertificate({ certificatePem, keyPem: keys.privateKeyPem });
    const server = new WebhookServer({ webhooks, certificates, bind: { host: '127.0.0.1', port: 0 }, clock, log });
    run = await world().manager({ setup: (manager) => manager.add(server) });
    await run.manager.whenReady();
    const caPem = (await testAuthority()).certificatePem;
    const options = {
      name: 'runtime.slipway.test',
      address: { url: `https://127.0.0.1:${server.port}` },
      trust: { caPem },
    };
    const definition = defineVersions(Ticket, [OldTicket]).toCRD() as unknown as KubeObject;
    await world().install(withConversion(definition, options) as CustomResourceDefinition, [Ticket, OldTicket]);
    for (const configuration of webhookConfigurations(webhooks, options)) {
      const isMutating = configuration.kind === 'MutatingWebhookConfiguration';
      const kind = isMutating ? MutatingWebhookConfiguration : ValidatingWebhookConfiguration;
      await world().client.apply(kind as typeof MutatingWebhookConfiguration, configuration as never);
    }
    const probe = { metadata: { namespace, name: 'probe' }, spec: { title: 'denied' } };
    // The server learns of the configurations a little later.
    await world().eventually(
      () =>
        world()
          .client.create(Ticket, probe, { dryRun: true })
          .then(() => false, isForbidden),
      'the webhooks are called',
    );
  });
  after(async () => {
    const { client } = world();
    for (const kind of [MutatingWebhookConfiguration, ValidatingWebhookConfiguration]) {
      await client.delete(kind as typeof MutatingWebhookConfiguration, { name: 'runtime.slipway.test' });
    }
    await run.stop();
  });
  const create = (name: string, title: string, urgency = 0) =>
    world().client.create(Ticket, { metadata: { namespace, name }, spec: { title, urgency } });

  it('runtime/W3: a defaulter changes the object on its way in', async () => {
    const [calm, urgent] = [await create('calm', 'a'), await create('urgent', 'a', 6)];
    assert.deepEqual([calm.metadata.labels, urgent.metadata.labels], [{ urgent: 'false' }, { urgent: 'true' }]);
  });

  it('runtime/W3: sample 15: a denial reaches the client with code, reason and message', async () => {
    const error = await failureOf(create('denied', 'denied'));
    assert.ok(isForbidden(error), String(error));
    assert.deepEqual([error.code, error.reason], [403, 'Forbidden']);
    const hook = 'validate-webhooks-runtime-slipway-test-v1-ticket.webhooks.slipway.dev';
    assert.equal(error.message, `admission webhook "${hook}" denied the request: nobody wants this`);
  });

  it('runtime/W4: an invalid object is 422 with the field; updates and deletions are judged, too', async () => {
    const error = await failureOf(create('bad', 'bad title'));
    assert.ok(isInvalid(error), String(error));
    assert.match(error.message, /denied the request: .*spec\.title: Invalid value: "bad title": must be good/);
    assert.deepEqual(
      error.details.causes?.map(({ field }) => field),
      ['spec.title'],
    );
    const ticket = await create('falling', 'a', 9);
    const less = { ...ticket, spec: { ...ticket.spec, urgency: 1 } };
    const fallen = await failureOf(world().client.update(Ticket, less));
    assert.ok(fallen instanceof ApiError);
    assert.deepEqual([fallen.code, fallen.reason], [409, 'Conflict']);
    const kept = await failureOf(world().client.delete(Ticket, { namespace, name: 'falling' }));
    assert.match(kept.message, /too urgent to be deleted/);
  });

  it('runtime/W3: a webhook that throws refuses the write, and warnings reach the client', async () => {
    const broken = await failureOf(create('broken', 'broken'));
    assert.ok(broken instanceof ApiError);
    assert.equal(broken.code, 500);
    assert.doesNotMatch(broken.message, /at .*\.ts/);
    const told: string[] = [];
    await using warned = await world().connect({ onWarning: (text) => void told.push(text) });
    await warned.client.create(Ticket, { metadata: { namespace, name: 'odd' }, spec: { title: 'odd' } });
    assert.deepEqual(told, ['an odd title']);
    assert.match(await metrics.text(), /^controller_runtime_webhook_panics_total 1$/m);
  });

  it('runtime/W5: an object is read and written in every version, alone and in lists, by watches, too', async () => {
    const { client } = world();
    const key = { namespace, name: 'both' };
    await client.create(OldTicket, { metadata: { ...key, labels: { set: 'both' } }, spec: { subject: '3:help' } });
    assert.deepEqual((await client.get(Ticket, key)).spec, { title: 'help', urgency: 3 });
    await client.patch(Ticket, key, { type: 'merge', body: { spec: { urgency: 4 } } });
    const { items } = await client.list(OldTicket, { namespace, labels: 'set=both' });
    assert.deepEqual(
      items.map(({ apiVersion, spec }) => `${apiVersion} ${spec.subject}`),
      ['webhooks.runtime.slipway.test/v1beta1 4:help'],
    );
    const applied = await client.apply(
      OldTicket,
      { metadata: key, spec: { subject: '5:help me' } },
      { force: true },
    );
    assert.equal(applied.spec.subject, '5:help me');
    const options = { namespace, labels: 'set=both', sendInitialEvents: true, allowBookmarks: true } as const;
    const watch = { ...options, resourceVersionMatch: 'NotOlderThan', timeoutSeconds: 1 } as const;
    const events = await collect(client.live.watch(OldTicket, watch));
    const seen = events
      .filter(({ type }) => type === 'ADDED')
      .map(({ object }) => (object as OldTicket).spec.subject);
    assert.deepEqual(seen, ['5:help me']);
  });
};
