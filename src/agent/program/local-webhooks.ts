import { SystemClock } from '../../base/clock.ts';
import { SILENT_LOG } from '../../base/log.ts';
import { PrometheusMetrics } from '../../kube/metrics/metrics.ts';
import { Webhooks } from '../../kube/webhook/webhooks.ts';
import type { Provider } from '../provider.ts';
import { registerWebhooks } from './assembly.ts';

/** Admission and conversion without a server: for an API server in the same process, and for what installs them. */
export function localWebhooks(providers: readonly Provider[] = ['bootstrap', 'control-plane']): Webhooks {
  const webhooks = new Webhooks({ clock: new SystemClock(), log: SILENT_LOG, metrics: new PrometheusMetrics() });
  registerWebhooks(webhooks, providers);
  return webhooks;
}
