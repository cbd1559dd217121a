import { Service } from '../../api/generated/core-v1.ts';
import { EndpointSlice } from '../../api/generated/discovery-v1.ts';
import type { ApiServerOptions } from '../../apiserver/options.ts';
import { retryError, userError } from '../../base/errors.ts';
import type { Cache } from '../../kube/cache/cache.ts';
import type { AddressPlan } from '../address/address-plan.ts';
import { serviceBackends } from './service-frontends.ts';

export interface ServiceResolverOptions {
  readonly plan: Pick<AddressPlan, 'target'>;
  /** Of the cluster; somebody else runs it. Asked for Services and EndpointSlices only when a webhook is called. */
  readonly cache: Cache;
}

type ServiceResolver = NonNullable<ApiServerOptions['resolveService']>;

/**
 * Where the API server calls a webhook that is behind a service: a ready endpoint, by its wire address, one after the
 * other; no names are looked up (X12). Undefined when there is no such service; throws when it has no such port, when
 * nobody serves it, and when it is only a name for something outside.
 */
export function serviceResolver({ plan, cache }: ServiceResolverOptions): ServiceResolver {
  let turn = 0;
  return ({ namespace, name, port }) => {
    const [services, slices] = [cache.informer(Service), cache.informer(EndpointSlice)];
    if (!services.isSynced || !slices.isSynced)
      throw retryError('ServicesUnknown', `the services of the cluster have not been read yet`);
    const service = services.get({ namespace, name });
    if (service === undefined) return undefined;
    if (service.spec?.type === 'ExternalName')
      throw userError(
        'UnsupportedService',
        `service "${name}" is of type ExternalName, which is looked up nowhere`,
      );
    const servicePort = service.spec?.ports?.find((one) => one.port === port);
    if (servicePort === undefined)
      throw userError('NoServicePort', `no service port ${port} found for service "${name}"`);
    const backends = serviceBackends(service, servicePort, slices.list({ namespace })).filter(
      ({ isReady }) => isReady,
    );
    const backend = backends[turn++ % Math.max(1, backends.length)];
    if (backend === undefined) throw retryError('NoEndpoints', `no endpoints available for service "${name}"`);
    const { host, port: wirePort } = plan.target(backend);
    return `https://${host}:${wirePort}`;
  };
}
