import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { agentDefinitions } from '../../api/agent/definitions.schema.ts';
import { clusterApiDefinitions } from '../../api/cluster-api/definitions.schema.ts';
import { CustomResourceDefinition } from '../../api/generated/apiextensions-v1.ts';
import { metal3Definitions } from '../../api/metal3/definitions.schema.ts';
import type { KubeObject } from '../../api/object.ts';
import { startApiServer } from '../../apiserver/start.ts';
import { SystemClock } from '../../base/clock.ts';
import { SILENT_LOG } from '../../base/log.ts';
import { applyObject } from '../../kube/apply/apply-object.ts';
import { until } from '../../kube/apply/until.ts';
import { createClient } from '../../kube/client/create-client.ts';
import { createRestMapper } from '../../kube/client/rest-mapper.ts';
import { isTrue } from '../../object/conditions.ts';
import { journeyClusterManifests } from './journey-cluster.ts';

const MANIFESTS = journeyClusterManifests({ platformName: 'acme', releaseRepository: '127.0.0.1:5000/ocp' });
const of = (kind: string) => MANIFESTS.filter((object) => object.kind === kind);

describe('the manifests of the journey', () => {
  it('ask for three control-plane machines and two workers on hosts of their own', () => {
    const hosts = of('BareMetalHost').map(({ metadata }) => metadata.name);
    assert.deepEqual(hosts, ['cp-0', 'cp-1', 'cp-2', 'w-0', 'w-1']);
    assert.partialDeepStrictEqual(of('OpenshiftAssistedControlPlane'), [{ spec: { replicas: 3 } }]);
    assert.partialDeepStrictEqual(of('MachineDeployment'), [{ spec: { replicas: 2 } }]);
    const macs = of('BareMetalHost').map((host) => JSON.stringify(host).match(/"bootMACAddress":"[^"]+"/)?.[0]);
    assert.equal(new Set(macs).size, 5);
  });

  it('are on platform External, whose nodes wait for the cloud controller manager of the definition', () => {
    const prefix = 'controlplane.cluster.x-k8s.io';
    assert.partialDeepStrictEqual(of('OpenshiftAssistedControlPlane')[0]?.metadata.annotations, {
      [`${prefix}/platform`]: 'External',
      [`${prefix}/platform-name`]: 'acme',
      [`${prefix}/cloud-controller-manager`]: 'External',
    });
    assert.match(JSON.stringify(of('OpenshiftAssistedControlPlane')), /127\.0\.0\.1:5000\/ocp/);
  });

  it('all have one cluster and one namespace', () => {
    const others = MANIFESTS.filter(({ kind }) => kind !== 'Namespace');
    assert.deepEqual([...new Set(others.map(({ metadata }) => metadata.namespace))], ['acme-lab']);
    assert.deepEqual(
      of('Cluster').map(({ metadata }) => metadata.name),
      ['acme-lab'],
    );
  });

  it('are what an API server with these kinds takes, twice', async () => {
    const clock = new SystemClock();
    await using server = await startApiServer({ listen: false, clock });
    const transport = server.client('admin', ['system:masters']);
    const client = createClient({ transport, fieldManager: 'test', clock, log: SILENT_LOG });
    const definitions: readonly KubeObject[] = [
      ...clusterApiDefinitions(),
      ...agentDefinitions(),
      ...metal3Definitions(),
    ];
    for (const definition of definitions) {
      // What a definition says of its versions is checked by the server.
      await client.apply(CustomResourceDefinition, definition as never);
      await until(
        { client, kind: CustomResourceDefinition, key: definition.metadata },
        (crd) => isTrue(crd, 'Established'),
        { clock, timeoutMs: 30_000 },
      );
    }
    const mapper = createRestMapper(client, clock);
    const applied = async () => {
      const stored: KubeObject[] = [];
      for (const object of MANIFESTS)
        stored.push(await applyObject({ client, mapper }, object, { fieldValidation: 'Strict' }));
      return stored;
    };
    await applied();
    const objects = await applied();
    for (const [at, object] of MANIFESTS.entries()) {
      // What a schema does not know would be dropped; a Secret has its text in another field.
      const { stringData: _text, ...sent } = { stringData: undefined, ...object };
      assert.partialDeepStrictEqual(objects[at], sent, object.kind);
    }
  });
});
