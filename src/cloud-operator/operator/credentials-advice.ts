import type { PlatformType } from '../../api/openshift/config-v1.ts';
import type { CredentialsRequestSpec } from '../definition.ts';
import { CREDENTIALS_NAMESPACE } from './related-objects.ts';

/** What to say of a Secret that is missing: who should make it, or how to make it where nobody does. */
export function credentialsAdvice(
  { name, secretName, keys = [] }: CredentialsRequestSpec,
  namespace: string,
  platform: PlatformType,
): string {
  const missing = `Secret ${namespace}/${secretName} is missing`;
  const request = `CredentialsRequest ${CREDENTIALS_NAMESPACE}/${name}`;
  if (platform !== 'External') return `${missing}, which ${request} should produce`;
  // By files: a value in a command stays in the history of a shell.
  const files = (keys.length > 0 ? keys : ['<key>']).map((key) => ` --from-file=${key}`).join('');
  const command = `oc create secret generic ${secretName} -n ${namespace}${files}`;
  return `${missing}, and on platform External nobody fulfils ${request}; create it: ${command} (each key from a file of its name)`;
}
