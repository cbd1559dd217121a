import { SystemClock } from '../../base/clock.ts';
import { SILENT_LOG } from '../../base/log.ts';
import type { Need } from '../../kube/rbac/need.ts';
import { tlsFromCluster } from '../../kube/serving/tls-profile.ts';
import { agentNames } from '../manifests/names.ts';
import type { Provider } from '../provider.ts';
import { assembledManagers } from './assembly.ts';
import { readSettings, speaksTls } from './settings.ts';

const OFFLINE = () => Promise.reject(new Error('nobody is asked while the needs of a program are counted'));

/** What a provider asks of the API server when it runs as it is installed: elected, with webhooks. Sends nothing. */
export function agentNeeds(provider: Provider, argv: readonly string[] = ['--leader-elect']): readonly Need[] {
  const { settings } = readSettings([`--leader-elect-namespace=${agentNames(provider).namespace}`, ...argv], {});
  const managers = assembledManagers({
    providers: [provider],
    settings,
    kube: OFFLINE,
    ...(speaksTls(settings) && { tls: tlsFromCluster(undefined) }),
    http: OFFLINE,
    connectWorkload: OFFLINE,
    version: '',
    clock: new SystemClock(),
    log: SILENT_LOG,
    stop: () => {},
  });
  return managers.flatMap((manager) => manager.needs);
}
