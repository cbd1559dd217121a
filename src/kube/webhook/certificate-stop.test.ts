import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { VirtualClock } from '../../base/clock.ts';
import { SILENT_LOG } from '../../base/log.ts';
import type { CallOptions, KubeClient } from '../client/kube-client.ts';
import { PrometheusMetrics } from '../metrics/metrics.ts';
import { CertificateRotation } from './certificate-rotation.ts';
import { SecretCertificates } from './secret-certificates.ts';
import { WebhookServer } from './webhook-server.ts';
import { Webhooks } from './webhooks.ts';

/** An API server that is away: requests end only with their signal. */
const never = (signal?: AbortSignal): Promise<never> =>
  new Promise((_, reject) => signal?.addEventListener('abort', () => reject(new Error('cut off'))));
const AWAY = {
  live: { find: (_kind: unknown, _key: unknown, options?: CallOptions) => never(options?.signal) },
} as unknown as KubeClient;

function setUp() {
  const clock = new VirtualClock();
  const shared = { client: AWAY, clock, log: SILENT_LOG, dnsNames: ['hooks.n.svc'] };
  const certificates = new SecretCertificates({ ...shared, secret: { namespace: 'n', name: 's' } });
  const rotation = new CertificateRotation({ ...shared, certificates, targets: {} });
  const webhooks = new Webhooks({ clock, log: SILENT_LOG, metrics: new PrometheusMetrics() });
  const server = new WebhookServer({ webhooks, certificates, clock, log: SILENT_LOG, bind: { port: 0 } });
  return { clock, certificates, rotation, server };
}

type World = ReturnType<typeof setUp>;
const PARTS: readonly { name: string; run: (world: World, signal: AbortSignal) => Promise<void> }[] = [
  {
    name: 'who follows the certificate',
    run: ({ certificates }, signal) => certificates.follow(() => {}, signal),
  },
  { name: 'the rotation', run: ({ rotation }, signal) => rotation.run(signal) },
  { name: 'the first trust', run: ({ rotation }, signal) => rotation.firstTrust().run(signal) },
  { name: 'a server that waits for its certificate', run: ({ server }, signal) => server.run(signal) },
];

describe('webhook certificates, when the API server does not answer', () => {
  for (const { name, run } of PARTS)
    it(`runtime/M2: ${name} stops at once`, async () => {
      const world = setUp();
      const stop = new AbortController();
      const state = { isEnded: false };
      const ended = () => {
        state.isEnded = true;
      };
      run(world, stop.signal).then(ended, ended);
      await world.clock.advance(30_000);
      assert.equal(state.isEnded, false);
      stop.abort();
      await world.clock.advance(0);
      assert.equal(state.isEnded, true);
    });
});
