import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../../base/clock.ts';
import type { Log } from '../../base/log.ts';
import type { Writer } from '../../kube/client/kube-client.ts';
import { ServedPart } from '../../kube/manager/served-part.ts';
import type { Metrics } from '../../kube/metrics/metrics.ts';
import { serveMetrics } from '../../kube/metrics/metrics-endpoint.ts';
import { reviewGate } from '../../kube/metrics/scrape-gate.ts';
import { parseBindAddress } from '../../kube/serving/bind-address.ts';
import {
  type CertificateSource,
  certificateDirectory,
  selfSignedCertificate,
} from '../../kube/serving/certificate-source.ts';
import { listenerTls } from '../../kube/serving/listener-tls.ts';
import type { TlsSettings } from '../../kube/serving/tls-profile.ts';

export interface MetricsServerOptions {
  readonly bind: string;
  readonly tls: TlsSettings;
  /** Empty: none. */
  readonly certDir: string;
  readonly hostname: string;
  readonly metrics: Metrics;
  /** Asks about those who come in; every replica does. */
  readonly client: Pick<Writer, 'create'>;
  readonly clock: Clock;
  readonly log: Log;
}

/** `/metrics` over TLS as the profile of the cluster wants it, for those who may read it. Undefined when switched off. */
export function metricsServer(options: MetricsServerOptions): ServedPart | undefined {
  const { client, clock, log, metrics } = options;
  const bind = parseBindAddress(options.bind, '--metrics-bind-address');
  if (bind === undefined) return undefined;
  const tls = { ...listenerTls(options.tls), certificates: certificatesOf(options) };
  const serve = serveMetrics(metrics, reviewGate({ client, clock, log }));
  const setting = '--metrics-bind-address';
  return new ServedPart({ name: 'metrics', bind, setting, tls, clock, log, serve });
}

/** How often files are looked for that are not there yet. */
const LOOK_MS = 10_000;

/** Files that may come later: whoever signs them may need what this program deploys. */
function certificatesOf({ certDir, hostname, clock, log }: MetricsServerOptions): CertificateSource {
  const own = selfSignedCertificate({ clock, dnsNames: ['localhost', hostname] });
  if (certDir === '') return own;
  const files = certificateDirectory({ directory: certDir, clock, log });
  const isThere = () => existsSync(join(certDir, 'tls.crt')) && existsSync(join(certDir, 'tls.key'));
  return {
    load: (signal) => (isThere() ? files : own).load(signal),
    follow: async (changed, signal) => {
      while (!isThere() && !signal.aborted) await clock.sleep(LOOK_MS, signal).catch(() => undefined);
      await files.follow(changed, signal);
    },
  };
}
