import type { Component } from '../../src/app/components.ts';
import type { Phase, PhaseContext } from '../../src/app/journey/phase.ts';

/** What the usual times of its phases are said to be: the cluster is slow. */
export const TROUBLED_USUAL_MS = { hub: 400, cluster: 1000 };

/** A journey with everything that can be wrong without being over: it stays up, and the second attempt works. */
export function troubledComponents(): readonly Component[] {
  let attempts = 0;
  const hub: Phase = {
    id: 'hub',
    needs: [],
    probes: [],
    run: async (context) => {
      context.keep('the hub API server', { [Symbol.asyncDispose]: async () => {} });
      context.warn('the certificate ends in 3 days');
      await context.clock.sleep(400, context.signal);
      return {
        health: 'done',
        detail: 'API ready on 127.0.0.1:40123',
        addresses: [
          { label: 'hub', value: 'export KUBECONFIG=$PWD/.slipway/hub.kubeconfig' },
          { label: 'artefacts', value: 'out/', note: '142 files', isLasting: true },
        ],
      };
    },
  };
  const cluster: Phase = {
    id: 'cluster',
    needs: ['hub'],
    probes: [{ predicate: 'every disk can be written', ask: async () => ({ isTrue: true }) }],
    run: async (context) => (++attempts === 1 ? firstAttempt(context) : secondAttempt(context)),
  };
  const cloud: Phase = {
    id: 'cloud',
    needs: ['cluster'],
    probes: [],
    run: async () => ({ health: 'skipped', detail: 'the definition has no cloud' }),
  };
  return [{ name: 'troubled', phases: [hub, cluster, cloud] }];
}

async function firstAttempt(context: PhaseContext) {
  context.progress('acme-lab · 2 hosts');
  context.row({ path: ['control plane'], health: 'attention', word: 'one host is not as it should be' });
  context.row({ path: ['control plane', 'cp-0'], health: 'working', word: 'Installing', percent: 100 / 7.8 });
  context.row({ path: ['control plane', 'cp-1'], health: 'working', word: 'Installing', percent: 10 });
  await context.clock.sleep(3000, context.signal);
  context.row({ path: ['control plane', 'cp-0'], health: 'done', word: 'Done', percent: 100 });
  context.row({ path: ['control plane', 'cp-1'], health: 'failed', word: 'disk sda cannot be written' });
  context.waitingFor('2 of 2 hosts Done');
  return {
    health: 'failed',
    detail: '1 of 2 hosts failed, see http://127.0.0.1:7440/#/journey/3',
    code: 'SW1201',
  } as const;
}

async function secondAttempt(context: PhaseContext) {
  context.row({ path: ['cp-1'], health: 'attention', word: 'slow disk' });
  await context.clock.sleep(500, context.signal);
  context.keep('cluster acme-lab', { [Symbol.asyncDispose]: async () => {} });
  return { health: 'attention', detail: '2 of 2 hosts, one of them slow' } as const;
}
