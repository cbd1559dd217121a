import type { UnusedNeed } from '../kube/rbac/audit.ts';
import type { Need } from '../kube/rbac/need.ts';
import type { TestEnv } from './test-env.ts';

export interface ExactRbacOptions {
  /** The manager whose roles are looked at. */
  readonly manager?: string;
  /** What this test does not use and a program does, such as `create events.k8s.io/events`. Each must be unused. */
  readonly unused?: readonly string[];
}

/**
 * Fails unless a manager used exactly what its roles allow (reliability P62): no request beyond them, and no verb that
 * nothing used. Beside a watch that was used, `get` and `list` count: the cache falls back to them. With an event that
 * was created, `patch` counts: the second one like it is written so. `update` of `<owner>/finalizers` always counts: an
 * admission plugin asks for it when an owned object is written, and nobody requests it.
 */
export function expectExactRbac(env: TestEnv, { manager, unused: expected = [] }: ExactRbacOptions = {}): void {
  const { uncovered, unused } = env.rbacDifference(manager);
  const idle = new Set(unused.filter((one) => !isFallback(one, unused)).map(textOf));
  const problems = [
    ...uncovered.map(
      ({ verb, group, resource, path }) => `no role allows: ${text(verb, group, resource) || path}`,
    ),
    ...[...idle].filter((verb) => !expected.includes(verb)).map((verb) => `nothing used: ${verb}`),
    ...expected
      .filter((verb) => !idle.has(verb))
      .map((verb) => `used or not allowed, though said to be unused: ${verb}`),
  ];
  if (problems.length > 0) throw new Error(`the roles are not what is used: ${problems.join('; ')}`);
}

const text = (verb: string, group: string, resource: string): string =>
  resource === '' ? '' : `${verb} ${group === '' ? '' : `${group}/`}${resource}`;

const textOf = ({ verb, need: { group, resource } }: UnusedNeed): string => text(verb, group, resource);

function isFallback({ need, verb }: UnusedNeed, unused: readonly UnusedNeed[]): boolean {
  const isUsed = (other: Need['verbs'][number]) =>
    need.verbs.includes(other) && !unused.some((one) => one.need === need && one.verb === other);
  if (verb === 'get' || verb === 'list') return isUsed('watch');
  return verb === 'patch' && need.resource === 'events' && isUsed('create');
}
