import { userError } from '../../base/errors.ts';
import type { Writer } from '../client/kube-client.ts';
import type { RuntimeConfig } from '../config/runtime-config.ts';
import { serveMetrics } from '../metrics/metrics-endpoint.ts';
import { reviewGate } from '../metrics/scrape-gate.ts';
import { parseBindAddress } from '../serving/bind-address.ts';
import { certificateDirectory, selfSignedCertificate } from '../serving/certificate-source.ts';
import { type HealthChecks, serveHealth } from './health-checks.ts';
import type { ManagerContext } from './manager-context.ts';
import { ServedPart } from './served-part.ts';

/** Probes, in plain HTTP: the kubelet asks without credentials (M6). Undefined when switched off. */
export function healthServer(
  { config, clock, log }: ManagerContext,
  endpoints: ReadonlyMap<string, HealthChecks>,
): ServedPart | undefined {
  const bind = parseBindAddress(config.health?.bind ?? '0', 'health.bind');
  if (bind === undefined) return undefined;
  const setting = '--health-probe-bind-address (health.bind)';
  return new ServedPart({ name: 'health', bind, setting, clock, log, serve: serveHealth(endpoints, log) });
}

/** Whether the metrics endpoint asks the API server who may read it, which takes rights. */
export const reviewsScrapes = ({
  metrics = {},
}: {
  readonly metrics?: Partial<RuntimeConfig['metrics']>;
}): boolean =>
  (metrics.auth ?? metrics.secure ?? false) && parseBindAddress(metrics.bind ?? '0', 'metrics.bind') !== undefined;

/** Metrics, plain or for those who may read them (M7). Undefined when switched off. */
export function metricsServer(
  { config, clock, log, metrics, hostname }: ManagerContext,
  client: Pick<Writer, 'create'>,
): ServedPart | undefined {
  const { bind: address = '0', secure = false, auth = secure, certDir, tls } = config.metrics ?? {};
  const bind = parseBindAddress(address, 'metrics.bind');
  if (bind === undefined) return undefined;
  if (auth && !secure) {
    throw userError('InsecureMetrics', 'metrics.auth needs metrics.secure: tokens would be sent in the clear');
  }
  const gate = auth ? reviewGate({ client, clock, log }) : undefined;
  const certificates =
    certDir === undefined
      ? selfSignedCertificate({ clock, dnsNames: ['localhost', hostname] })
      : certificateDirectory({ directory: certDir, clock, log });
  const serve = serveMetrics(metrics, gate);
  const secured = secure && { tls: { certificates, ...tls } };
  const setting = '--metrics-bind-address (metrics.bind)';
  return new ServedPart({ name: 'metrics', bind, setting, clock, log, serve, ...secured });
}
