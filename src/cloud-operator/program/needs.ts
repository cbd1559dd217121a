import { SystemClock } from '../../base/clock.ts';
import { userError } from '../../base/errors.ts';
import { SILENT_LOG } from '../../base/log.ts';
import type { Environment } from '../../kube/config/surroundings.ts';
import type { Need } from '../../kube/rbac/need.ts';
import { tlsFromCluster } from '../../kube/serving/tls-profile.ts';
import { electionTiming } from '../config/election.ts';
import type { ProviderRegistry } from '../registry/providers.ts';
import { assembled, leaseNamespace, type ProgramParts } from './assembly.ts';
import { readSettings } from './settings.ts';

export interface NeedsOptions {
  readonly argv: readonly string[];
  readonly env?: Environment;
  readonly registry: ProviderRegistry;
}

const OFFLINE = () => Promise.reject(new Error('nobody is asked while the needs of a program are counted'));

/**
 * What a program with these flags asks of the API server, each with its namespace (R92); not what it must hold because
 * operands grant it, which the registry knows. Sends nothing. Throws a userError for flags that end the program.
 */
export function programNeeds(parts: ProgramParts, { argv, env = {}, registry }: NeedsOptions): readonly Need[] {
  const { settings, problems } = readSettings({ argv, env, registry, ...parts });
  if (problems.length > 0) throw userError('InvalidFlags', problems.join('; '));
  const { election: flags, lease } = settings;
  const namespace = leaseNamespace(settings, OFFLINE);
  const manager = assembled({
    parts,
    settings,
    registry,
    kube: OFFLINE,
    election: flags.isEnabled && { id: lease.name, namespace, ...electionTiming(flags, undefined) },
    tls: tlsFromCluster(undefined),
    version: '',
    clock: new SystemClock(),
    log: SILENT_LOG,
    stop: () => {},
  });
  const { namespaces } = parts.cache({ settings, registry });
  return manager.needs.flatMap((need) =>
    need.scope === 'Cluster' || need.namespace !== undefined
      ? [need]
      : namespaces.map((one) => ({ ...need, namespace: one })),
  );
}
