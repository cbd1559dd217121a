import { userError } from '../../base/errors.ts';
import type { WebhookConfig } from '../config/runtime-config.ts';
import type { Manager } from '../manager/create-manager.ts';
import { certificateNeeds } from '../rbac/runtime-needs.ts';
import { certificateDirectory } from '../serving/certificate-source.ts';
import type { ListenerTls } from '../serving/https-listener.ts';
import { CertificateRotation } from './certificate-rotation.ts';
import { SecretCertificates } from './secret-certificates.ts';
import type { TrustTargets } from './trust-injection.ts';
import { WEBHOOK_PORT, WebhookServer } from './webhook-server.ts';
import { Webhooks } from './webhooks.ts';

export interface AddWebhooksOptions {
  /** Registers admission and conversion. */
  readonly register: (webhooks: Webhooks) => void;
  /** Where the program runs: its Service and the Secret with its certificates are there. */
  readonly namespace: string;
  /** Of the configuration objects that `webhookConfigurations` makes; that of the program unless told otherwise. */
  readonly configurationName?: string;
  /** What the policy of the cluster asks for. */
  readonly tls?: Pick<ListenerTls, 'minVersion' | 'ciphers'>;
}

/**
 * Serves webhooks in a manager as its configuration says: certificates from a directory, or an authority of its own in
 * a Secret, looked after by the leader (W1, W6). readyz waits for the server. Throws a userError when the
 * configuration names neither.
 */
export function addWebhooks(manager: Manager, options: AddWebhooksOptions): Webhooks {
  const { clock, log, metrics, config } = manager;
  const webhooks = new Webhooks({ clock, log, metrics });
  options.register(webhooks);
  const { host, port = WEBHOOK_PORT, clientCA } = config.webhook ?? {};
  const server = new WebhookServer({
    webhooks,
    certificates: certificatesOf(manager, webhooks, options),
    clock,
    log,
    bind: { port, ...(host !== undefined && { host }) },
    ...(clientCA !== undefined && { clientCaPem: clientCA }),
    ...(options.tls !== undefined && { tls: options.tls }),
  });
  manager.add(server);
  manager.readyz.add('webhook', server.check);
  return webhooks;
}

function certificatesOf(manager: Manager, webhooks: Webhooks, options: AddWebhooksOptions) {
  const { clock, log, config } = manager;
  const { certDir, selfSigned } = config.webhook ?? {};
  if (certDir !== undefined) return certificateDirectory({ directory: certDir, clock, log });
  if (selfSigned !== undefined) return ownCertificates(manager, webhooks, { ...options, selfSigned });
  throw userError(
    'NoWebhookCertificate',
    'webhook.certDir (--webhook-cert-dir) and webhook.selfSigned are both missing: say where the certificate of the webhook server comes from',
  );
}

type SelfSigned = NonNullable<WebhookConfig['selfSigned']>;

function ownCertificates(
  manager: Manager,
  webhooks: Webhooks,
  { namespace, configurationName = manager.name, selfSigned }: AddWebhooksOptions & { selfSigned: SelfSigned },
): SecretCertificates {
  const { clock, log, client, unfencedClient } = manager;
  const secret = { namespace, name: selfSigned.secretName };
  const host = `${selfSigned.service}.${namespace}.svc`;
  const dnsNames = [host, `${host}.cluster.local`];
  const targets = targetsOf(webhooks, configurationName);
  // Every replica may be the first to fill the Secret, leader or not.
  const certificates = new SecretCertificates({ client: unfencedClient, secret, dnsNames, clock, log });
  // What the leader does later must end with its leadership, the Secret included.
  const led = new SecretCertificates({ client, secret, dnsNames, clock, log });
  const rotation = new CertificateRotation({ client, certificates: led, targets, dnsNames, clock, log });
  const first = new CertificateRotation({ client: unfencedClient, certificates, targets, dnsNames, clock, log });
  manager.add({
    name: rotation.name,
    group: rotation.group,
    run: (signal) => rotation.run(signal),
    needs: certificateNeeds({ secret, ...targets }),
  });
  manager.add(first.firstTrust());
  return certificates;
}

function targetsOf(webhooks: Webhooks, name: string): TrustTargets {
  const has = (type: string) => webhooks.registrations.some((registration) => registration.type === type);
  return {
    ...(has('mutating') && { mutating: [name] }),
    ...(has('validating') && { validating: [name] }),
    definitions: webhooks.convertedDefinitions,
  };
}
