import { Deployment } from '../../api/generated/apps-v1.ts';
import { Lease } from '../../api/generated/coordination-v1.ts';
import { ConfigMap, Pod, type Secret } from '../../api/generated/core-v1.ts';
import type { KubeObject, ObjectKey } from '../../api/object.ts';
import { Infrastructure, SINGLETON } from '../../api/openshift/config-v1.ts';
import { CREDENTIALS_SECRET } from '../../cloud/index.ts';
import { installationFiles } from '../../cloud-operator/index.ts';
import type { KubeClient } from '../../kube/client/kube-client.ts';
import type { Lab } from '../../lab/index.ts';
import { printYaml } from '../../object/yaml.ts';
import { chosenProvider } from '../cloud-operator/chosen-provider.ts';
import { installationOf } from '../cloud-operator/installation.ts';
import type { LoadedProvider } from '../provider/load-provider.ts';
import { releaseImage } from '../release.ts';
import { type Installed, installedNames, operatorLabels, operatorOf } from './cloud-facts.ts';

/** What the things of the lab's cluster are tagged with. */
export const LAB_CLUSTER_ID = 'lab';
const REGION = 'lab';
/** Of the ConfigMap, as installers call it. */
const CLOUD_CONFIG = { namespace: 'openshift-config', name: 'cloud-provider-config', key: 'cloud.conf' };

/**
 * What `slipway render cloud-operator` prints, applied to a cluster on platform External, with the
 * configuration and the credentials that a partner would bring. The operator does the rest.
 */
export async function installInLab(lab: Lab, provider: LoadedProvider): Promise<void> {
  const { file } = provider;
  const { cloud } = lab;
  const text = JSON.stringify({ endpoint: cloud.url, region: REGION, clusterId: LAB_CLUSTER_ID });
  await writeCloudConfig(lab.cluster().client, text);
  const chosen = await chosenProvider('/', file, { providerFile: file });
  const files = installationFiles(installationOf(chosen, { image: releaseImage(), providerFile: file }));
  // A lab has no monitoring.
  const served = files.filter(({ needsMonitoring }) => needsMonitoring !== true);
  const [namespaces = [], ...others] = served.map(({ objects }) => objects);
  const objects = [...namespaces, credentials(lab, provider), ...others.flat()];
  await lab.cluster().apply(objects.map((object) => `---\n${printYaml(object)}`).join(''));
}

/** As a partner does after the installation: the configuration of his cloud, and where the cluster finds it. */
async function writeCloudConfig(client: KubeClient, text: string): Promise<void> {
  const { namespace, name, key } = CLOUD_CONFIG;
  await client.apply(ConfigMap, { metadata: { namespace, name }, data: { [key]: text } }, { force: true });
  const body = { spec: { cloudConfig: { name, key } } };
  await client.patch(Infrastructure, SINGLETON, { type: 'merge', body });
}

/** The variables that the definition asks for. */
function credentials({ cloud }: Lab, { definition }: LoadedProvider): KubeObject {
  const [user] = cloud.credentials().filter(({ scope }) => !scope.includes('admin'));
  const { clientId, clientSecret } = user ?? { clientId: '', clientSecret: '' };
  const valueOf = (name: string) => (name.endsWith('_ID') ? clientId : clientSecret);
  const secret: Secret = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: CREDENTIALS_SECRET, namespace: installedNames(definition).namespace },
    stringData: Object.fromEntries(definition.secrets.map((name) => [name, valueOf(name)])),
  };
  return secret;
}

/**
 * Ends what an earlier run installed before this moment, pods and leases. A lab that ends takes its programs with it, which
 * then cannot give back their leases: for more than two minutes nobody would lead. And those that begin again with the lab
 * may be what that run was broken by.
 */
export async function endEarlierLife(lab: Lab, provider: Installed, moment: Date): Promise<void> {
  const { client } = lab.cluster();
  const { name, namespace, labels } = installedNames(provider.definition);
  const operator = operatorOf(provider.definition);
  const isEarlier = async (key: ObjectKey) => {
    const found = await client.find(Deployment, key);
    return found !== undefined && Date.parse(found.metadata.creationTimestamp ?? '') < moment.getTime();
  };
  // The operator first: it would bring the other one back.
  for (const { key, pods } of [
    { key: operator.deployment, pods: operatorLabels },
    { key: { namespace, name }, pods: labels },
  ]) {
    if (!(await isEarlier(key))) continue;
    // All of them first: one that is left would take the lease, or wait for it as long as for the old one.
    await client.delete(Deployment, key);
    const areGone = async () =>
      (await client.list(Pod, { namespace: key.namespace, labels: pods })).items.length === 0;
    await lab.until(areGone, { within: '2m' });
    for (const { metadata } of (await client.list(Lease, { namespace: key.namespace })).items)
      await client.delete(Lease, metadata);
  }
}
