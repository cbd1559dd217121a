import { ClusterVersion } from '../../api/openshift/config-v1.ts';
import { openshiftDefinitions } from '../../api/openshift/definitions.schema.ts';
import { describeOpenShift, type LabCluster, type OpenShiftFacts } from '../../lab/index.ts';
import { printYaml } from '../../object/yaml.ts';

/** Any that is one: nothing in a lab reports to anybody. */
const CLUSTER_ID = '00000000-0000-4000-8000-000000000000';
const FORCE = { force: true } as const;

/**
 * Makes a cluster of the lab look to operators like one of OpenShift: its kinds, its namespaces, and the objects that say
 * what it runs on. Can be done again, with other facts.
 */
export async function becomeOpenShift(
  cluster: Pick<LabCluster, 'client' | 'apply'>,
  facts: OpenShiftFacts,
): Promise<void> {
  const { client } = cluster;
  await cluster.apply(
    openshiftDefinitions()
      .map((definition) => `---\n${printYaml(definition)}`)
      .join(''),
  );
  await describeOpenShift(client, facts);
  const { version } = facts;
  const release = { metadata: { name: 'version' } };
  await client.apply(ClusterVersion, { ...release, spec: { clusterID: CLUSTER_ID } }, FORCE);
  const desired = { version, image: `lab.invalid/release:${version}` };
  await client.applyStatus(ClusterVersion, { ...release, status: { desired, history: [] } }, FORCE);
}
