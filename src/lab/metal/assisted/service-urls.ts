import type { InfraEnv } from '../../../api/assisted/agent-install-v1beta1.ts';
import { keyOf } from '../../../api/object.ts';
import { apiKey } from './api-key.ts';

/** Where the service is, and how its keys are made. */
export interface ServiceAddress {
  /** `http://127.0.0.1:8090`, without a slash at its end. */
  readonly baseUrl: string;
  /** Signs the keys in URLs. None: the service asks nobody for a key. */
  readonly secret?: string;
}

export const API_BASE = '/api/assisted-install/v2';
const USUAL_ARCHITECTURE = 'x86_64';

/** The object's own identifier: a restart gives the same. */
export const infraEnvId = ({ metadata }: InfraEnv): string => metadata.uid ?? '';

/** The key to what belongs to an InfraEnv; undefined where nobody asks for one. */
export const keyTo = (infraEnv: InfraEnv, { secret }: ServiceAddress): string | undefined =>
  secret === undefined ? undefined : apiKey({ infraEnvId: infraEnvId(infraEnv), key: keyOf(infraEnv) }, secret);

function url(
  path: string,
  query: Readonly<Record<string, string | undefined>>,
  { baseUrl }: ServiceAddress,
): string {
  const given = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) given.set(name, value);
  return `${baseUrl}${path}${given.size === 0 ? '' : `?${given.toString()}`}`;
}

export const eventsUrl = (infraEnv: InfraEnv, address: ServiceAddress): string =>
  url(`${API_BASE}/events`, { api_key: keyTo(infraEnv, address), infra_env_id: infraEnvId(infraEnv) }, address);

export const fileUrl = (infraEnv: InfraEnv, file: string, address: ServiceAddress): string =>
  url(
    `${API_BASE}/infra-envs/${infraEnvId(infraEnv)}/downloads/files`,
    { file_name: file, api_key: keyTo(infraEnv, address) },
    address,
  );

/** Names the InfraEnv: whoever boots it belongs to that. */
export const isoUrl = (infraEnv: InfraEnv, address: ServiceAddress): string =>
  url(
    `/byid/${infraEnvId(infraEnv)}/latest/${infraEnv.spec?.cpuArchitecture ?? USUAL_ARCHITECTURE}/full.iso`,
    { api_key: keyTo(infraEnv, address) },
    address,
  );
