import { CertificateSigningRequest } from '../../src/api/generated/certificates-v1.ts';
import { ConfigMap, Namespace, Node, Pod, Service, ServiceAccount } from '../../src/api/generated/core-v1.ts';
import { PodDisruptionBudget } from '../../src/api/generated/policy-v1.ts';
import { time } from '../../src/api/time.ts';
import type { KubeClient } from '../../src/kube/client/kube-client.ts';
import type { Controller } from '../../src/kube/controller/controller.ts';
import {
  rootAuthorityController,
  serviceAccountController,
} from '../../src/lab/workloads/accounts/controllers.ts';
import { csrSignerController } from '../../src/lab/workloads/csr-signer/controller.ts';
import { disruptionController } from '../../src/lab/workloads/disruption/controller.ts';
import { staleDisruptionController } from '../../src/lab/workloads/disruption/stale-disruption.ts';
import { endpointSliceController } from '../../src/lab/workloads/endpoints/controller.ts';
import { endpointsController } from '../../src/lab/workloads/endpoints/legacy-controller.ts';
import { nodeLifecycleController } from '../../src/lab/workloads/node-lifecycle/controller.ts';
import { podGcController } from '../../src/lab/workloads/pod-gc/controller.ts';
import { taintEvictionController } from '../../src/lab/workloads/taint-eviction/controller.ts';
import { CertificateAuthority } from '../../src/pki/certificate-authority.ts';
import { generateKeyPair } from '../../src/pki/key-pair.ts';
import { signingRequest } from '../../src/pki/signing-request.ts';
import type { CrashScenario, ScenarioWorld } from '../../src/testing/crash-scenario.ts';
import { report } from './lifecycle-world.ts';
import { addNodes, setTaints } from './pretend-nodes.ts';
import { silenceServerAccounts } from './server-accounts.ts';
import { addService, addServiceNode, addServicePod, setPodStatus, WEB } from './service-world.ts';

type Step = (world: ScenarioWorld) => Promise<unknown>;

/** What happens in a cluster, one after the other; in between everything comes to rest. */
const scenario = (
  name: string,
  controllers: () => readonly Controller[],
  steps: readonly Step[],
): CrashScenario => ({
  name,
  start: () => ({
    controllers,
    async act(world) {
      for (const step of steps) {
        await step(world);
        await world.converge();
      }
    },
  }),
});

const pod = (name: string) => ({ namespace: 'default', name });
const gone = { gracePeriodSeconds: 0 };

const servicesStory: readonly Step[] = [
  async ({ env }) => {
    await addServiceNode(env, 'n1');
    await addService(env, { ports: [{ port: 80, targetPort: 'http' }] });
  },
  ({ env }) => addServicePod(env, 'a', { spec: named(8080), isReady: false }),
  async ({ env }) => {
    await setPodStatus(env, 'a', {});
    await addServicePod(env, 'b', { ip: '10.16.32.2', spec: named(9090) });
  },
  ({ client }) => client.delete(Pod, pod('a'), gone),
  ({ client }) => client.delete(Pod, pod('b'), gone),
  ({ client }) => client.delete(Service, WEB),
];

const named = (containerPort: number) => ({
  containers: [{ name: 'web', ports: [{ name: 'http', containerPort }] }],
});

const keys = await generateKeyPair();
const { certificatePem } = await CertificateAuthority.create({
  commonName: 'lab',
  now: new Date('2026-01-01T00:00:00Z'),
  validityMs: 86_400_000,
});
/** The same in every run, where a real one has a serial number of its own. */
const authority = { certificatePem, certify: () => 'a certificate' };
const wish = { commonName: 'system:node:a', organizations: ['system:nodes'], dnsNames: [], ipAddresses: [] };
const request = Buffer.from(signingRequest(wish, keys)).toString('base64');

async function askAndApprove(
  client: KubeClient,
  name: string,
  usage: 'client auth' | 'server auth',
): Promise<void> {
  const made = await client.create(CertificateSigningRequest, {
    metadata: { name },
    spec: {
      request,
      signerName: 'kubernetes.io/kube-apiserver-client-kubelet',
      usages: ['digital signature', usage],
    },
  });
  const conditions = [{ type: 'Approved', status: 'True', reason: 'Test', message: 'by a test' }];
  const body = { ...made, status: { conditions } };
  await client.subresource('approval').update(CertificateSigningRequest, { name }, body);
}

const ACCOUNT = { namespace: 'team', name: 'default' };
const AUTHORITY = { namespace: 'team', name: 'kube-root-ca.crt' };
const accounts = () => [serviceAccountController(), rootAuthorityController({ authorityPem: certificatePem })];

/** Each as short as it can be: it is played once for each write and each fault. */
export const SERVICE_SCENARIOS: readonly CrashScenario[] = [
  scenario('lab/W31: slices follow pods', () => [endpointSliceController()], servicesStory),
  scenario('lab/W31: Endpoints follow pods', () => [endpointsController()], servicesStory),
  scenario('lab/W33: a budget follows pods and evictions', () => [disruptionController()], [
    async ({ env, client }) => {
      for (const name of ['a', 'b']) await addServicePod(env, name);
      const spec = { minAvailable: 1, selector: { matchLabels: { app: 'web' } } };
      await client.create(PodDisruptionBudget, { metadata: WEB, spec });
    },
    ({ client }) => client.evict(pod('a')),
    ({ client }) => client.delete(Pod, pod('a'), gone),
    ({ client }) => client.patch(PodDisruptionBudget, WEB, { type: 'merge', body: { spec: { minAvailable: 0 } } }),
  ]),
  scenario('lab/W33: a mark is taken back', () => [staleDisruptionController()], [
    async ({ env, client }) => {
      await addServicePod(env, 'a');
      const lastTransitionTime = time(env.clock.now());
      const mark = { type: 'DisruptionTarget', status: 'True', reason: 'Test', lastTransitionTime };
      const body = { status: { conditions: [mark] } };
      await client.patch(Pod, pod('a'), { type: 'strategic', body }, { subresource: 'status' });
      await env.advance(120_000);
    },
  ]),
  scenario('lab/W35: a node is lost, comes back and is lost again', () => [nodeLifecycleController()], [
    async ({ env, client }) => {
      await client.create(Node, { metadata: { name: 'n1' }, spec: {} });
      await report(env, 'n1');
      await addServicePod(env, 'a');
      await env.advance(60_000);
    },
    ({ env }) => report(env, 'n1', { Ready: 'False' }),
  ]),
  scenario('lab/W37: pods leave a tainted node', () => [taintEvictionController()], [
    async ({ env, client }) => {
      await addNodes(client, 'n1');
      const toleration = { key: 'x', operator: 'Exists', effect: 'NoExecute' } as const;
      await addServicePod(env, 'plain');
      await addServicePod(env, 'patient', { spec: { tolerations: [{ ...toleration, tolerationSeconds: 30 }] } });
      await addServicePod(env, 'hardy', { spec: { tolerations: [toleration] } });
      await setTaints(client, 'n1', [{ key: 'x', effect: 'NoExecute' }]);
    },
  ]),
  scenario('lab/W38: pods of a Node that is gone', () => [podGcController()], [
    async ({ env, client }) => {
      await addNodes(client, 'n1');
      await addServicePod(env, 'a');
      await addServicePod(env, 'b', { phase: 'Succeeded', isReady: false });
    },
    ({ client }) => client.delete(Node, { name: 'n1' }),
  ]),
  scenario('lab/W39: a namespace gets what its pods need', accounts, [
    async ({ client }) => {
      await silenceServerAccounts(client);
      await client.create(Namespace, { metadata: { name: 'team' } });
    },
    async ({ client }) => {
      await client.delete(ServiceAccount, ACCOUNT);
      await client.patch(ConfigMap, AUTHORITY, { type: 'merge', body: { data: { more: 'x' } } });
    },
  ]),
  scenario('lab/W40: one request is signed, one is refused', () => [csrSignerController({ authority })], [
    ({ client }) => askAndApprove(client, 'good', 'client auth'),
    ({ client }) => askAndApprove(client, 'bad', 'server auth'),
  ]),
];
