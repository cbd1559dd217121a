import { isDeepStrictEqual } from 'node:util';
import type { Node } from '../../api/generated/core-v1-types.ts';
import type { Clock } from '../../base/clock.ts';
import type { ChannelSource } from '../../kube/controller/channel.ts';
import type { Predicate } from '../../kube/controller/predicates.ts';

/** Why routes are looked at: the keys of the queue, and a label of the metric (T2, T10). */
export const TRIGGERS = ['periodic', 'node_change'] as const;
export type RouteTrigger = (typeof TRIGGERS)[number];

/** What a Node says that its routes are made of. The first pass is for all Nodes that are there at the start. */
export const changesRoutes: Predicate<Node> = ({ type, old, object, isInInitialList }) => {
  if (isInInitialList) return false;
  if (type !== 'update' || old === undefined) return true;
  return (
    !isDeepStrictEqual(old.spec.podCIDRs, object.spec.podCIDRs) ||
    !isDeepStrictEqual(old.status?.addresses, object.status?.addresses)
  );
};

/** At once, and then at a fixed rate. */
export const everyPeriod = (clock: Pick<Clock, 'timer'>, periodMs: number): ChannelSource => ({
  subscribe: (listener) => {
    let timer: Disposable;
    const tick = () => {
      timer = clock.timer(periodMs, tick);
      listener({ name: 'periodic' satisfies RouteTrigger });
    };
    tick();
    return { [Symbol.dispose]: () => timer[Symbol.dispose]() };
  },
});
