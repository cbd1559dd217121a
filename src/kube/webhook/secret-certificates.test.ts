import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { KubeObject } from '../../api/object.ts';
import { VirtualClock } from '../../base/clock.ts';
import { ApiError } from '../client/api-error.ts';
import type { KubeClient } from '../client/kube-client.ts';
import { SecretCertificates } from './secret-certificates.ts';

const LOG = { error: () => {}, warn: () => {}, info: () => {}, debug: () => {}, child: () => LOG };

/** A Secret in memory; `failure` is what the next request meets. */
class Held {
  secret: KubeObject | undefined = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 's', namespace: 'n' } };
  failure: Error | undefined;
  readonly client = {
    live: { find: () => this.#answer(() => this.secret) },
    update: (_kind: unknown, object: KubeObject) => this.#answer(() => this.#keep(object)),
    create: (_kind: unknown, object: KubeObject) => this.#answer(() => this.#keep(object)),
  } as unknown as KubeClient;

  #keep(object: KubeObject): KubeObject {
    this.secret = object;
    return object;
  }

  async #answer<T>(answer: () => T): Promise<T> {
    await Promise.resolve();
    if (this.failure !== undefined) throw this.failure;
    return answer();
  }
}

function world() {
  const clock = new VirtualClock();
  const held = new Held();
  const replica = () =>
    new SecretCertificates({
      client: held.client,
      clock,
      log: LOG,
      secret: { namespace: 'n', name: 's' },
      dnsNames: ['hooks.n.svc'],
    });
  return { clock, held, replica };
}

describe('certificates from a Secret', () => {
  it('runtime/W6: replicas look every 30 s; a look that fails or finds nothing new changes nothing', async () => {
    const { clock, held, replica } = world();
    const certificates = replica();
    await certificates.load();
    const stop = new AbortController();
    const seen: string[] = [];
    const following = certificates.follow(({ certificatePem }) => void seen.push(certificatePem), stop.signal);
    held.failure = new Error('away');
    await clock.advance(30_000);
    held.failure = undefined;
    await clock.advance(30_000);
    assert.deepEqual(seen, []);
    held.secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 's', namespace: 'n' } };
    const { certificatePem } = await replica().load();
    await clock.advance(29_999);
    assert.deepEqual(seen, []);
    await clock.advance(1);
    assert.deepEqual(seen, [certificatePem]);
    stop.abort();
    await following;
    assert.equal(clock.nextDueMs, undefined);
  });

  it('runtime/W6: gives up for now when others write all the time', async () => {
    const { held, replica } = world();
    const { client } = held;
    const conflict = new ApiError({ code: 409, reason: 'Conflict', message: 'changed' });
    Object.assign(client, { update: () => Promise.reject(conflict) });
    await assert.rejects(replica().load(), /Secret n\/s changes faster than it can be written/);
  });

  it('runtime/W6: any other failure is told as it is', async () => {
    const { held, replica } = world();
    Object.assign(held.client, { update: () => Promise.reject(new Error('disk full')) });
    await assert.rejects(replica().load(), /disk full/);
  });
});
