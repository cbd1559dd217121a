import type { RunnableGroup } from './runnable.ts';

/**
 * Started one after the other, each when the one before is ready (M1). Probes and webhooks are served before the caches
 * are read: the API server may need our conversion webhook to answer those reads.
 */
export const START_ORDER = [
  'http',
  'webhook',
  'cache',
  'other',
  'warm-up',
] as const satisfies readonly RunnableGroup[];

/** The group that waits for leadership. */
export const LEADER_GROUP = 'leader' satisfies RunnableGroup;

/** Stopped stage by stage, each when the one before has ended (M2). The lease is given back after the last. */
export const STOP_ORDER: readonly (readonly RunnableGroup[])[] = [
  ['other'],
  // Sources feed the queues that reconciles in flight still answer to, so both end together.
  ['leader', 'warm-up'],
  ['cache'],
  ['webhook'],
  ['http'],
];

export const ALL_GROUPS: readonly RunnableGroup[] = [...START_ORDER, LEADER_GROUP];
