import { SelfSubjectAccessReview } from '../../api/generated/authorization-v1.ts';
import type { Clock } from '../../base/clock.ts';
import { dispositionOf, messageOf, retryError, terminalError, userError } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import { isForbidden, isNetwork, isUnauthorized } from '../client/api-error.ts';
import type { Writer } from '../client/kube-client.ts';
import type { Need, Verb } from '../rbac/need.ts';
import { isCertificateProblem } from '../transport/network-failure.ts';
import { CACHE_SYNC_TIMEOUT } from './exit-code.ts';
import { notInRules, type Permission } from './own-rules.ts';

/** Many questions at once, few enough that a server under load answers them. */
const CONCURRENCY = 8;
/** A creation has no name yet. A list of one object by its name has one: generated roles allow no other (B4). */
const NAMELESS: ReadonlySet<Verb> = new Set(['create', 'deletecollection']);

/** Each single permission that these needs come to. Pure. */
export function permissionsOf(needs: readonly Need[], namespaces: readonly string[]): readonly Permission[] {
  const all = needs.flatMap(({ verbs, group, resource, names = [], namespace, scope }) => {
    const where = scope === 'Cluster' ? [''] : namespace !== undefined ? [namespace] : namespaces;
    const named = (verb: Verb) => (NAMELESS.has(verb) || names.length === 0 ? [''] : names);
    return verbs.flatMap((verb) =>
      (where.length === 0 ? [''] : where).flatMap((place) =>
        named(verb).map((name) => ({ verb, group, resource, namespace: place, name })),
      ),
    );
  });
  return [...new Map(all.map((permission) => [JSON.stringify(permission), permission])).values()];
}

/** Asks whether this process has these permissions, and gives those it has not. Rejects when it cannot ask. */
export async function missingPermissions(
  client: Pick<Writer, 'create'>,
  permissions: readonly Permission[],
  signal?: AbortSignal,
): Promise<readonly Permission[]> {
  const open = [...(await notInRules(client, permissions, signal))];
  const missing = new Set<Permission>();
  const ask = async () => {
    for (let next = open.shift(); next !== undefined; next = open.shift()) {
      const spec = { resourceAttributes: attributesOf(next) };
      const review = await client.create(
        SelfSubjectAccessReview,
        { spec },
        signal === undefined ? {} : { signal },
      );
      if (review.status?.allowed !== true) missing.add(next);
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, ask));
  return permissions.filter((permission) => missing.has(permission));
}

function attributesOf({ verb, group, resource, namespace, name }: Permission) {
  const [plural = '', subresource = ''] = resource.split('/');
  return { verb, group, resource: plural, subresource, namespace, name };
}

/** One line for people: permissions that differ only in their verb are said together. */
export function permissionText(missing: readonly Permission[]): string {
  const byPlace = new Map<string, Verb[]>();
  for (const { verb, group, resource, namespace, name } of missing) {
    const [plural = '', ...sub] = resource.split('/');
    const what = [group === '' ? plural : `${plural}.${group}`, ...sub].join('/');
    const which = name === '' ? '' : ` "${name}"`;
    const place = `${what}${which} ${namespace === '' ? 'in the whole cluster' : `in namespace ${namespace}`}`;
    byPlace.set(place, [...(byPlace.get(place) ?? []), verb]);
  }
  return [...byPlace].map(([place, verbs]) => `${verbs.join(', ')} ${place}`).join('; ');
}

export interface SelfCheckOptions {
  /** Not behind the fence of a leader, and without retries of its own, which would keep back what it waits for. */
  readonly client: Pick<Writer, 'create'>;
  readonly needs: readonly Need[];
  /** Empty: all. */
  readonly namespaces: readonly string[];
  readonly clock: Clock;
  readonly log: Log;
  /** How long a server that does not answer is waited for. */
  readonly timeoutMs: number;
}

const RETRY_MS = 2000;

/**
 * Rejects with every permission that is missing (exit code 1): better one line at the start than a failure per
 * controller later. Waits for a server that does not answer, up to `timeoutMs` (exit code 3).
 */
export async function checkPermissions(options: SelfCheckOptions, signal: AbortSignal): Promise<void> {
  const { client, needs, namespaces, clock, log, timeoutMs } = options;
  const permissions = permissionsOf(needs, namespaces);
  const startMs = clock.monotonicMs();
  for (let told = ''; ; ) {
    try {
      const missing = await missingPermissions(client, permissions, signal);
      if (missing.length === 0) return;
      throw terminalError('MissingPermissions', `this program may not: ${permissionText(missing)}; ${ADVICE}`);
    } catch (thrown) {
      if (signal.aborted || isFinal(thrown)) throw explained(thrown);
      const problem = messageOf(thrown);
      if (clock.monotonicMs() - startMs >= timeoutMs) throw unreachable(problem, thrown);
      if (told !== problem) log.warn({ problem }, 'Waiting for the API server');
      told = problem;
      await clock.sleep(Math.min(RETRY_MS, startMs + timeoutMs - clock.monotonicMs()), signal);
    }
  }
}

const ADVICE = 'grant it by a Role or ClusterRole (the command `manifests` of this program prints them)';

/** Asking again does not change these. */
const isFinal = (thrown: unknown): boolean =>
  dispositionOf(thrown) !== 'retry' || isUnauthorized(thrown) || isForbidden(thrown) || isUntrusted(thrown);

const isUntrusted = (thrown: unknown): boolean => isNetwork(thrown) && isCertificateProblem(thrown);

/** What the server says itself is one word, or is about a connection; here it is about a program that cannot start. */
function explained(thrown: unknown): unknown {
  if (isUntrusted(thrown)) {
    return userError('UntrustedServer', `the API server is not trusted: ${messageOf(thrown)}`, { cause: thrown });
  }
  if (!isUnauthorized(thrown)) return thrown;
  const what = 'the API server does not accept the credentials of this program (401 Unauthorized)';
  const way = 'check the user of the kubeconfig context, or the token of the service account';
  return terminalError('Unauthorized', `${what}; ${way}`, { cause: thrown });
}

const unreachable = (problem: string, cause: unknown) =>
  retryError(CACHE_SYNC_TIMEOUT, `the API server did not answer in time: ${problem}`, { cause });
