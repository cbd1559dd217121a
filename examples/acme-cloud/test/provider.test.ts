import { instancesConformance, loadBalancersConformance, zonesConformance } from 'slipway/sdk';
import type { Balancer } from '../src/client.ts';
import { backendOf, idOf, nodeOf, startWorld } from './world.ts';

zonesConformance({ make: async () => (await startWorld()).subject });

instancesConformance({
  make: async () => {
    const { ask, subject, machine } = await startWorld();
    const act = (id: string, action: 'start' | 'stop') =>
      ask<void>('POST', `/v1/instances/${id}/actions`, { action });
    return {
      ...subject,
      create: async () => {
        const made = await machine();
        return { ref: nodeOf(made), nodeIP: made.privateAddress };
      },
      stop: (ref) => act(idOf(ref), 'stop'),
      start: (ref) => act(idOf(ref), 'start'),
      terminate: (ref) => ask<void>('DELETE', `/v1/instances/${idOf(ref)}`),
    };
  },
});

loadBalancersConformance({
  make: async () => {
    const { lab, ask, subject, machine } = await startWorld();
    const creation = { method: 'POST', kind: 'load-balancers' };
    const machines = [await machine(), await machine()] as const;
    const nodes = new Map(machines.map(({ id, name }) => [id, name]));
    const balancers = async () => (await ask<{ items: readonly Balancer[] }>('GET', '/v1/load-balancers')).items;
    const removed = async (others: readonly Balancer[]) => {
      for (const { id } of others) await ask('DELETE', `/v1/load-balancers/${id}`);
      while ((await balancers()).some(({ id }) => others.some((other) => other.id === id)))
        await lab.clock.sleep(1000);
    };
    return {
      ...subject,
      backends: [backendOf(machines[0]), backendOf(machines[1])],
      ports: [8080, 8443],
      count: async () => (await balancers()).length,
      observe: async (name) => {
        const found = (await balancers()).find((balancer) => balancer.name === name);
        if (found === undefined) return undefined;
        const nodeNames = found.targets.map(({ instanceId }) => nodes.get(instanceId) ?? instanceId);
        const ports = found.listeners.map(({ port }) => port);
        return { ports, nodeNames, tags: found.tags, scope: found.scheme };
      },
      exhaustQuota: async () => {
        const others = await Promise.all(
          Array.from({ length: 3 - (await balancers()).length }, (_, at) =>
            ask<Balancer>('POST', '/v1/load-balancers', {
              name: `other-${at}`,
              listeners: [{ port: 9, targetPort: 9 }],
            }),
          ),
        );
        return { [Symbol.asyncDispose]: () => removed(others) };
      },
      breakMidway: async () =>
        lab.cloud.fault({ match: creation, effect: { dropAfter: 'commit', stateStuck: true } }),
      loseAnswer: async () => lab.cloud.fault({ match: creation, effect: { dropAfter: 'commit' }, times: 1 }),
    };
  },
});
