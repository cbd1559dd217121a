import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { platformContext } from '../../../test/support/platform-contexts.ts';
import {
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyBinding,
} from '../../api/generated/admissionregistration-v1.ts';
import { DaemonSet, Deployment } from '../../api/generated/apps-v1.ts';
import { Namespace, Pod, Service } from '../../api/generated/core-v1.ts';
import { PodDisruptionBudget } from '../../api/generated/policy-v1.ts';
import { ClusterRole, ClusterRoleBinding, Role, RoleBinding } from '../../api/generated/rbac-v1.ts';
import type { Kind, KubeObject } from '../../api/object.ts';
import type { PlatformStatus } from '../../api/openshift/config-v1.ts';
import { startApiServer } from '../../apiserver/start.ts';
import { VirtualClock } from '../../base/clock.ts';
import { SILENT_LOG } from '../../base/log.ts';
import { createClient } from '../../kube/client/create-client.ts';
import { type CloudProviderDefinition, MANAGED_NAMESPACE } from '../definition.ts';
import { defineCloudProvider } from '../render/cloud-provider.ts';
import { PLATFORMS } from './index.ts';

const KINDS: ReadonlyMap<string, Kind> = new Map(
  [
    Deployment,
    DaemonSet,
    Service,
    Pod,
    PodDisruptionBudget,
    Role,
    RoleBinding,
    ClusterRole,
    ClusterRoleBinding,
    ValidatingAdmissionPolicy,
    ValidatingAdmissionPolicyBinding,
  ].map((kind) => [kind.kind, kind]),
);

function rendered(definition: CloudProviderDefinition): readonly KubeObject[] {
  const cloudName = definition.id === 'azurestack' ? 'AzureStackCloud' : 'AzurePublicCloud';
  const status: PlatformStatus = { type: definition.match.type, azure: { cloudName } };
  const [provider, context] = [defineCloudProvider(definition), platformContext(status)];
  return [...provider.getResources(context), ...provider.getBootstrapResources(context)];
}

/** What the server would store. It stores nothing, since platforms share names. */
async function stored(objects: readonly KubeObject[]): Promise<readonly KubeObject[]> {
  await using server = await startApiServer({ storage: 'memory', listen: false });
  const client = createClient({
    transport: server.client(),
    fieldManager: 'test',
    clock: new VirtualClock(),
    log: SILENT_LOG,
  });
  await client.create(Namespace, { metadata: { name: MANAGED_NAMESPACE } });
  const answers: KubeObject[] = [];
  for (const object of objects) {
    const kind = KINDS.get(object.kind) ?? assert.fail(object.kind);
    answers.push(await client.create(kind, object, { dryRun: true, fieldValidation: 'Strict' }));
  }
  return answers;
}

describe('an API server', () => {
  it('operator/R98: takes every object of every platform as it is, with fields that it knows', async () => {
    const objects = PLATFORMS.flatMap(rendered);
    const answers = await stored(objects);
    assert.deepEqual(
      answers.map(({ kind, metadata: { namespace, name } }) => ({ kind, namespace, name })),
      objects.map(({ kind, metadata: { namespace, name } }) => ({ kind, namespace, name })),
    );
  });

  it('operator/E8: makes an empty folder of the volume of Azure that has no source', async () => {
    const objects = PLATFORMS.filter(({ id }) => id === 'azure')
      .flatMap(rendered)
      .filter(({ kind }) => kind === 'Deployment' || kind === 'DaemonSet');
    assert.equal(objects.length, 2);
    for (const object of await stored(objects)) {
      const { volumes = [] } = (object as Deployment).spec.template.spec ?? assert.fail('no pod');
      const merged = volumes.find(({ name }) => name === 'merged-cloud-config');
      assert.deepEqual(merged, { name: 'merged-cloud-config', emptyDir: {} });
    }
  });
});
