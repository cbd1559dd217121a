import { userError } from '../../base/errors.ts';
import type { JsonObject } from '../../object/json.ts';

/** What the files of the mounted Secret hold, as they stand; undefined for one that is not there. */
export interface AzureCredentials {
  readonly clientId: string;
  readonly clientSecret: string | undefined;
  readonly federatedTokenFile: string | undefined;
  readonly tenantId: string | undefined;
}

/** R83: either a secret, or a token and the tenant that it is for. */
export function checkCredentials({ clientSecret, federatedTokenFile, tenantId }: AzureCredentials): void {
  if (federatedTokenFile === undefined) {
    if (clientSecret === undefined) {
      throw unfit('azure_client_secret should be set up, since there is no azure_federated_token_file');
    }
    return;
  }
  if (clientSecret !== undefined) {
    throw unfit(
      'azure_client_secret and azure_federated_token_file are both there; remove the one that is not used',
    );
  }
  if (tenantId === undefined) throw unfit('azure_tenant_id should be set up beside azure_federated_token_file');
}

const unfit = (message: string) => userError('CredentialsUnfit', message);

export interface Injected {
  readonly config: JsonObject;
  /** What the result may not do as its user thinks. */
  readonly warnings: readonly string[];
}

export interface InjectOptions {
  readonly disableIdentityExtension: boolean;
}

/** R84: the configuration with the credentials in it. */
export function injectCredentials(
  config: JsonObject,
  { clientId, clientSecret = '', federatedTokenFile = '', tenantId = '' }: AzureCredentials,
  { disableIdentityExtension }: InjectOptions,
): Injected {
  const warnings: string[] = [];
  const result: JsonObject = { ...config, aadClientId: clientId };
  if (Object.hasOwn(config, 'useManagedIdentityExtension')) {
    if (disableIdentityExtension) result['useManagedIdentityExtension'] = false;
    else if (config['useManagedIdentityExtension'] === true) {
      warnings.push('useManagedIdentityExtension is true, injected credentials may not be used');
    }
  }
  if (tenantId !== '' && federatedTokenFile !== '') {
    result['tenantId'] = tenantId;
    result['aadFederatedTokenFile'] = federatedTokenFile;
    result['useFederatedWorkloadIdentityExtension'] = true;
  } else {
    result['aadClientSecret'] = clientSecret;
    if (clientSecret === '')
      warnings.push('there is no secret and no token that is not empty, the result cannot log in');
  }
  return { config: result, warnings };
}
