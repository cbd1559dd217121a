import ipaddr from 'ipaddr.js';
import { z } from 'zod';
import { rangeProblem } from '../load-balancers/source-ranges.ts';

const MOST_RULES = 256;

const rangeSchema = z.string().superRefine((text, context) => {
  const problem = rangeProblem(text);
  if (problem !== undefined) context.addIssue({ code: 'custom', message: problem });
});

/** One rule for pods of a node; what is not said matches everything. */
const ruleSchema = z.strictObject({
  action: z.enum(['allow', 'deny']),
  /** A range of addresses, such as `169.254.169.254/32`. */
  to: rangeSchema,
  protocol: z.enum(['tcp', 'udp']).optional(),
  port: z.int().min(1).max(65_535).optional(),
  namespaces: z.array(z.string().max(63)).max(1000).optional(),
});

/** Rules of one node, in order: the first that matches decides. */
export const egressRulesSchema = z.array(ruleSchema).max(MOST_RULES, `a node has at most ${MOST_RULES} rules`);

export type EgressRule = z.output<typeof ruleSchema>;

/** A pod that wants somewhere. */
export interface EgressAttempt {
  readonly namespace: string;
  /** All names of the place: one that matches is enough. */
  readonly addresses: readonly string[];
  readonly protocol: 'tcp' | 'udp';
  readonly port: number;
}

/** Pure: what a list of rules says; allowed when none matches (C29). */
export function isEgressAllowed(rules: readonly EgressRule[], attempt: EgressAttempt): boolean {
  return rules.find((rule) => matches(rule, attempt))?.action !== 'deny';
}

function matches({ to, protocol, port, namespaces }: EgressRule, attempt: EgressAttempt): boolean {
  const isMeant =
    (protocol ?? attempt.protocol) === attempt.protocol &&
    (port ?? attempt.port) === attempt.port &&
    (namespaces?.includes(attempt.namespace) ?? true);
  return isMeant && attempt.addresses.some((address) => isInRange(address, to));
}

function isInRange(text: string, range: string): boolean {
  const [address, parsed] = [ipaddr.process(text), ipaddr.parseCIDR(range)];
  return address.kind() === parsed[0].kind() && address.match(parsed);
}

/** Where pods of each node may not go. */
export class EgressTable {
  /** By instance, since nodes of two clusters may have one name. Bounded by the instances: `keep` drops the others. */
  readonly #rules = new Map<string, readonly EgressRule[]>();

  rulesOf(instanceId: string): readonly EgressRule[] {
    return this.#rules.get(instanceId) ?? [];
  }

  /** All rules of the node of an instance at once, as they are from now on. */
  set(instanceId: string, rules: readonly EgressRule[]): void {
    if (rules.length === 0) this.#rules.delete(instanceId);
    else this.#rules.set(instanceId, rules);
  }

  /** Forgets the rules of instances that are gone. */
  keep(isThere: (instanceId: string) => boolean): void {
    for (const id of this.#rules.keys()) if (!isThere(id)) this.#rules.delete(id);
  }
}
