import { Deployment } from '../../api/generated/apps-v1.ts';
import { Lease } from '../../api/generated/coordination-v1.ts';
import { Pod, type Secret } from '../../api/generated/core-v1.ts';
import type { KubeObject } from '../../api/object.ts';
import { CREDENTIALS_SECRET, installManifests, installNames, installNeeds } from '../../cloud/index.ts';
import type { Lab } from '../../lab/index.ts';
import { printYaml } from '../../object/yaml.ts';
import type { LoadedProvider } from '../provider/load-provider.ts';
import { releaseImage } from '../release.ts';
import { type Installed, managerLease } from './cloud-facts.ts';

/** What the things of the lab's cluster are tagged with. */
export const LAB_CLUSTER_ID = 'lab';
const REGION = 'lab';
const CLOUD_CONFIG = 'cloud-config';

/** What `slipway render deploy` prints, applied to the lab, with the credentials that a partner would bring. */
export async function installInLab(lab: Lab, provider: LoadedProvider): Promise<void> {
  const { definition, file } = provider;
  const options = {
    image: releaseImage(),
    providerFile: file,
    cloudConfig: 'Secret',
    clusterName: LAB_CLUSTER_ID,
  } as const;
  const { namespace, roles, trustedCa, deployment } = installManifests(
    definition,
    installNeeds(definition, options),
    options,
  );
  const objects = [namespace, ...cloudSecrets(lab, provider), ...roles, trustedCa, deployment];
  await lab.cluster().apply(objects.map((object) => `---\n${printYaml(object)}`).join(''));
}

/** The cloud config, and the variables that the definition asks for. */
function cloudSecrets({ cloud }: Lab, { definition }: LoadedProvider): readonly KubeObject[] {
  const { namespace } = installNames(definition);
  const [user] = cloud.credentials().filter(({ scope }) => !scope.includes('admin'));
  const { clientId, clientSecret } = user ?? { clientId: '', clientSecret: '' };
  const config = { endpoint: cloud.url, region: REGION, clusterId: LAB_CLUSTER_ID, clientId, clientSecret };
  const valueOf = (name: string) => (name.endsWith('_ID') ? clientId : clientSecret);
  const secret = (name: string, stringData: Readonly<Record<string, string>>): Secret => ({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name, namespace },
    stringData,
  });
  return [
    secret(CLOUD_CONFIG, { 'cloud.conf': JSON.stringify(config) }),
    secret(CREDENTIALS_SECRET, Object.fromEntries(definition.secrets.map((name) => [name, valueOf(name)]))),
  ];
}

/**
 * Ends what an earlier run installed before this moment, pods and lease. A lab that ends takes its programs with it, which
 * then cannot give back their lease: for more than two minutes nobody would lead. And those that begin again with the lab
 * may be what that run was broken by.
 */
export async function endEarlierLife(lab: Lab, provider: Installed, moment: Date): Promise<void> {
  const { client } = lab.cluster();
  const { name, namespace, labels } = installNames(provider.definition);
  const deployment = await client.find(Deployment, { namespace, name });
  if (deployment === undefined || Date.parse(deployment.metadata.creationTimestamp ?? '') >= moment.getTime())
    return;
  // All of them first: one that is left would take the lease, or wait for it as long as for the old one.
  await client.delete(Deployment, { namespace, name });
  const areGone = async () => (await client.list(Pod, { namespace, labels })).items.length === 0;
  await lab.until(areGone, { within: '2m' });
  const lease = await managerLease(lab, provider);
  if (lease !== undefined) await client.delete(Lease, lease.metadata);
}
