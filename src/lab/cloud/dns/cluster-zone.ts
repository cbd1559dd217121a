import { isWithin } from './domain-name.ts';
import type { RecordSet } from './record-set.ts';
import { DEFAULT_TTL_SECONDS, type Zone, zoneOf } from './zone.ts';

/** Where the fixed names of a cluster lead; names without addresses do not exist. */
export interface ClusterNames {
  /** `<cluster>.<base>` */
  readonly domain: string;
  readonly api: readonly string[];
  readonly apiInternal: readonly string[];
  /** Everything below `apps`. */
  readonly apps: readonly string[];
  /** Grows with every change; 1 unless told otherwise. */
  readonly serial?: number;
}

/** Whether a name is one that a cluster has by itself, or would have if there was an address for it. */
export const isClusterName = (name: string, domain: string): boolean =>
  name === `api.${domain}` || name === `api-int.${domain}` || isWithin(name, `apps.${domain}`);

/** The names that every cluster has without anybody making records (C27). IPv4, as everything in the lab. */
export function clusterZone({ domain, api, apiInternal, apps, serial = 1 }: ClusterNames): Zone {
  const places = { api, 'api-int': apiInternal, '*.apps': apps };
  const recordSets = Object.entries(places)
    .filter(([, values]) => values.length > 0)
    .map(
      ([label, values]): RecordSet => ({
        name: `${label}.${domain}`,
        type: 'A',
        ttl: DEFAULT_TTL_SECONDS,
        values,
      }),
    );
  return zoneOf({ name: domain, serial, recordSets });
}
