import { type ConnectContext, ProviderError } from 'slipway/sdk';

/** Where the cloud is, and who we are there. */
export interface Settings {
  readonly endpoint: string;
  readonly region: string;
  readonly clusterId: string;
  readonly clientId: string;
  readonly clientSecret: string;
}

/** From the file of `--cloud-config`, which is JSON, and from variables for what is secret. */
export function readSettings({ config, secret }: Pick<ConnectContext, 'config' | 'secret'>): Settings {
  const file = parsed(config);
  const wanted = (name: string, value: unknown): string => {
    if (typeof value === 'string' && value !== '') return value;
    throw new ProviderError('invalid', `${name} is missing: it must be a text that is not empty`);
  };
  return {
    endpoint: wanted('endpoint of the cloud config', file['endpoint']),
    region: wanted('region of the cloud config', file['region']),
    clusterId: wanted('clusterId of the cloud config', file['clusterId']),
    clientId: wanted('ACME_CLOUD_CLIENT_ID', secret('ACME_CLOUD_CLIENT_ID')),
    clientSecret: wanted('ACME_CLOUD_CLIENT_SECRET', secret('ACME_CLOUD_CLIENT_SECRET')),
  };
}

function parsed(config: string | undefined): Readonly<Record<string, unknown>> {
  if (config === undefined)
    throw new ProviderError('invalid', 'there is no cloud config: name it with --cloud-config');
  try {
    const value: unknown = JSON.parse(config);
    if (typeof value === 'object' && value !== null) return value as Record<string, unknown>;
  } catch {
    // The parser quotes what it found, and that may be a secret.
  }
  throw new ProviderError('invalid', 'the cloud config must be a JSON object with endpoint, region and clusterId');
}
