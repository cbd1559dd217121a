import { isIPv4 } from 'node:net';
import { z } from 'zod';
import { CloudError, invalidArgument } from '../cloud-error.ts';
import type { ListenerConfig } from './balancer-config.ts';
import { rangeProblem } from './source-ranges.ts';

const [MOST_LISTENERS, MOST_TARGETS, MOST_RANGES] = [50, 500, 100];

const port = z.int().min(1).max(65_535);

const listener = z.strictObject({
  port,
  targetPort: port,
  protocol: z.literal('tcp', 'must be tcp: the lab balances nothing else').default('tcp'),
  proxyProtocol: z.enum(['v1', 'v2']).optional(),
});

const target = z
  .strictObject({
    instanceId: z.string().optional(),
    address: z.string().refine(isIPv4, 'must be an IPv4 address').optional(),
  })
  .refine(
    ({ instanceId, address }) => (instanceId === undefined) !== (address === undefined),
    'needs either instanceId or address',
  );

const seconds = (least: number, most: number) => z.int().min(least).max(most);
const threshold = z.int().min(1).max(10);

const USUAL_CHECK = {
  protocol: 'tcp',
  path: '/',
  intervalSeconds: 5,
  timeoutSeconds: 2,
  healthyThreshold: 2,
  unhealthyThreshold: 2,
} as const;

const healthCheck = z
  .strictObject({
    protocol: z.enum(['tcp', 'http', 'https']).default(USUAL_CHECK.protocol),
    port: port.optional(),
    path: z
      .string()
      .max(1024)
      .regex(/^\/[\x21-\x7e]*$/, 'must begin with a slash and hold no spaces')
      .default(USUAL_CHECK.path),
    intervalSeconds: seconds(1, 300).default(USUAL_CHECK.intervalSeconds),
    timeoutSeconds: seconds(1, 60).default(USUAL_CHECK.timeoutSeconds),
    healthyThreshold: threshold.default(USUAL_CHECK.healthyThreshold),
    unhealthyThreshold: threshold.default(USUAL_CHECK.unhealthyThreshold),
  })
  .default(USUAL_CHECK);

const sourceRange = z.string().superRefine((text, context) => {
  const message = rangeProblem(text);
  if (message !== undefined) context.addIssue({ code: 'custom', message });
});

/** What of a load balancer can be changed. */
export const changeableShape = {
  listeners: z.array(listener).min(1, 'there must be at least one').max(MOST_LISTENERS),
  targets: z.array(target).max(MOST_TARGETS).default([]),
  healthCheck,
  sourceRanges: z.array(sourceRange).max(MOST_RANGES).default([]),
  idleTimeoutSeconds: seconds(1, 4000).default(350),
  drainSeconds: seconds(0, 3600).default(30),
  failOpen: z.boolean().default(false),
};

export const schemeSchema = z.enum(['public', 'internal']).default('public');

export type BalancerSettings = z.output<z.ZodObject<typeof changeableShape>>;
export type BalancerTarget = BalancerSettings['targets'][number];

/** By which the balancer knows it: the instance, or the address itself. */
export const targetName = ({ instanceId, address }: BalancerTarget): string => instanceId ?? address ?? '';

/** A port leads to one place only (C18). */
export function requireDistinctPorts(listeners: readonly ListenerConfig[]): void {
  const at = listeners.findIndex(
    (each, index) => listeners.findIndex((other) => other.port === each.port) < index,
  );
  const twice = listeners[at];
  if (twice === undefined) return;
  throw new CloudError('InUse', `listeners.${at}.port: ${twice.port} has another listener already`, {
    target: `listeners.${at}.port`,
  });
}

export function requireDistinctTargets(targets: readonly BalancerTarget[]): void {
  const names = targets.map(targetName);
  const at = names.findIndex((name, index) => names.indexOf(name) < index);
  if (at >= 0) throw invalidArgument(`targets.${at}`, `targets.${at}: ${names[at]} is there already`);
}
