import type { InfraEnv } from '../../api/assisted/agent-install-v1beta1.ts';
import { userError } from '../../base/errors.ts';
import type { AssistedSettings } from './assisted-settings.ts';

const INTERNAL_PORT = 8090;

/** Pure: whether assisted-service has told where the ignition of an InfraEnv is (B12, X15). */
export const hasIgnitionUrl = ({ status }: InfraEnv): boolean =>
  (status?.bootArtifacts?.discoveryIgnitionURL ?? '') !== '' || (status?.debugInfo?.eventsURL ?? '') !== '';

/**
 * Pure: where the discovery ignition is: as assisted-service says, else by the address of its events (E5, X15). Throws
 * without any part of a query, where keys are.
 */
export function ignitionUrl(infraEnv: InfraEnv, settings: AssistedSettings): URL {
  const { bootArtifacts, debugInfo } = infraEnv.status ?? {};
  const told = bootArtifacts?.discoveryIgnitionURL ?? '';
  const url =
    told === '' ? fromEvents(debugInfo?.eventsURL ?? '') : parsed(told, 'bootArtifacts.discoveryIgnitionURL');
  return settings.useInternalImageUrl ? internal(url, infraEnv, settings) : url;
}

function fromEvents(eventsUrl: string): URL {
  if (eventsUrl === '') throw invalid('cannot generate ignition url if events URL is not generated');
  const events = parsed(eventsUrl, 'debugInfo.eventsURL');
  const id = events.searchParams.get('infra_env_id') ?? '';
  if (id === '') throw invalid('no infra_env_id found in query string of status.debugInfo.eventsURL');
  const key = events.searchParams.get('api_key');
  const url = new URL(events.origin);
  url.pathname = `/api/assisted-install/v2/infra-envs/${encodeURIComponent(id)}/downloads/files`;
  if (key !== null) url.searchParams.set('api_key', key);
  url.searchParams.set('file_name', 'discovery.ign');
  return url;
}

/** The same path at the Service of this cluster, which speaks plain HTTP there (E6). */
function internal(url: URL, { metadata }: InfraEnv, settings: AssistedSettings): URL {
  const namespace = settings.assistedInstallerNamespace || (metadata.namespace ?? '');
  const host = `${settings.assistedServiceName}.${namespace}.svc.cluster.local:${INTERNAL_PORT}`;
  return new URL(`http://${host}${url.pathname}${url.search}`);
}

function parsed(text: string, field: string): URL {
  const url = URL.parse(text);
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:'))
    throw invalid(`status.${field} of the InfraEnv is no http or https address`);
  return url;
}

/** Pure: an address for people, without the query, where keys are. */
export const shownUrl = ({ origin, pathname }: URL): string => `${origin}${pathname}`;

const invalid = (message: string): Error => userError('InvalidIgnitionURL', message);
