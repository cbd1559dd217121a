import { Secret } from '../../../api/generated/core-v1.ts';
import type { BareMetalHost, SecretReference } from '../../../api/metal3/metal3-v1alpha1.ts';
import { retryError, userError } from '../../../base/errors.ts';
import type { KubeClient } from '../../../kube/client/kube-client.ts';
import { isRecord } from '../../../object/record.ts';
import { parseYaml } from '../../../object/yaml.ts';
import type { BootedHost } from '../host/host-power.ts';
import { architectureOf, hostHardwareId, macAddresses } from './bare-metal-hosts.ts';

const isLiveIso = ({ spec }: BareMetalHost): boolean => spec?.image?.format === 'live-iso';

/**
 * The host as its power switch knows it. A live ISO is booted as it is: it gets neither user data nor a config drive,
 * since nothing is written to the disk that could read them.
 */
export async function bootedHost(host: BareMetalHost, client: KubeClient): Promise<BootedHost> {
  const { namespace = '', name } = host.metadata;
  const common = {
    id: hostHardwareId(host),
    namespace,
    name,
    macAddresses: macAddresses(host),
    architecture: architectureOf(host),
  };
  const { url = '' } = host.spec?.image ?? {};
  if (isLiveIso(host)) return { ...common, boot: { from: 'live-iso', url }, metadata: {} };
  const userData = await secretText(host.spec?.userData, ['userData', 'value'], { namespace, client });
  const given = await secretText(host.spec?.metaData, ['metaData'], { namespace, client });
  return { ...common, boot: { from: 'disk', userData }, metadata: { ...ownMetadata(host), ...parsed(given) } };
}

/** What every host has on its config drive. */
function ownMetadata({ metadata: { namespace = '', name, uid = '' } }: BareMetalHost) {
  return {
    uuid: uid,
    name,
    'metal3-name': name,
    'metal3-namespace': namespace,
    'local-hostname': name,
    local_hostname: name,
  };
}

function parsed(text: string): Readonly<Record<string, string>> {
  if (text.trim() === '') return {};
  const value = parseYaml(text);
  if (!isRecord(value))
    throw userError('InvalidMetaData', 'the metaData Secret of the host holds no map; write key: value');
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, String(item)]));
}

interface Place {
  readonly namespace: string;
  readonly client: KubeClient;
}

/** Empty without a reference. */
async function secretText(
  { name = '', namespace: given = '' }: SecretReference = {},
  keys: readonly string[],
  { namespace, client }: Place,
): Promise<string> {
  if (name === '') return '';
  const key = { namespace: given === '' ? namespace : given, name };
  const secret = await client.live.find(Secret, key);
  if (secret === undefined)
    throw retryError(
      'SecretNotFound',
      `the host refers to Secret ${key.namespace}/${name}, which does not exist; create it`,
    );
  const found = keys.map((item) => secret.data?.[item]).find((value) => value !== undefined);
  return Buffer.from(found ?? '', 'base64').toString('utf8');
}
