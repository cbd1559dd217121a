// The operator in the place of the one of the payload, on platform AWS, with processes.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import {
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyBinding,
} from '../../src/api/generated/admissionregistration-v1.ts';
import { Deployment } from '../../src/api/generated/apps-v1.ts';
import { ConfigMap, Service } from '../../src/api/generated/core-v1.ts';
import { PodDisruptionBudget } from '../../src/api/generated/policy-v1.ts';
import { AWS_IMAGES, awsManagerImages, BROKEN_WORDS } from '../support/aws-manager-images.ts';
import { OperatorLab } from '../support/operator-lab.ts';
import { scratchDirectory } from '../support/scratch.ts';

const NAMESPACE = 'openshift-cloud-controller-manager';
const NAME = 'aws-cloud-controller-manager';
const POLICY = { name: 'openshift-cloud-controller-manager-cloud-provider-aws' };
/** Failures that may pass are told when they last so long. */
const WINDOW_MS = 150_000;
/** Clocks of two processes that run faster than outside do not agree to the second. */
const DOUBT_MS = 10_000;

const imagesJson = (image: string): string => JSON.stringify({ cloudControllerManagerAWS: image });

describe('the cloud operator on platform AWS, in the place of that of the payload', () => {
  const things = new AsyncDisposableStack();
  let world: OperatorLab;
  before(async () => {
    const directory = things.use(await scratchDirectory());
    const images = await awsManagerImages(directory.path);
    world = things.use(await OperatorLab.start({ provider: 'aws', scaled: 20, hosts: 2, images }));
    await describeAws('4.22.0');
    await world.install({ version: '4.22.0', images: { cloudControllerManagerAWS: AWS_IMAGES.first } });
  });
  after(() => things.disposeAsync());

  const describeAws = (version: string, cloudConfig?: string) =>
    world.describe({
      platformSpec: { type: 'AWS' },
      platformStatus: { type: 'AWS' },
      version,
      ...(cloudConfig !== undefined && { cloudConfig }),
    });
  const get = () => world.cluster.client.get(Deployment, world.operand);
  /** As somebody with an editor. */
  const edit = async (change: (spec: Deployment['spec']) => Deployment['spec'], labels = {}) => {
    const { metadata, spec, ...found } = await get();
    // Whatever was written since he looked; the controllers of the cluster write all the time.
    const { resourceVersion: _seen, ...others } = metadata;
    const edited = { ...others, labels: { ...metadata.labels, ...labels } };
    await world.cluster.client.update(Deployment, { ...found, metadata: edited, spec: change(spec) });
  };
  const images = async () =>
    (await world.pods()).map(({ spec }) => spec.containers.map(({ image }) => image).join());
  const containers = async () =>
    new Set((await world.pods()).map(({ status }) => status?.containerStatuses?.[0]?.containerID));
  /** Both pods run, as the Deployment says that it has them, with this image. */
  const untilRunning = (image: string) =>
    world.until(`both pods run ${image}`, async () => {
      const { status } = await get();
      const found = await images();
      return status?.readyReplicas === 2 && found.length === 2 && found.every((one) => one === image);
    });

  it('operator/R50: case 1: rolls out what the platform needs, and is available with its version', async () => {
    const { status } = await world.untilAvailable('4.22.0');
    assert.deepEqual(status?.versions, [{ name: 'operator', version: '4.22.0' }]);
    const { spec } = await get();
    assert.equal(spec.replicas, 2);
    const { client } = world.cluster;
    await client.get(ValidatingAdmissionPolicy, POLICY);
    await client.get(ValidatingAdmissionPolicyBinding, POLICY);
    await client.get(PodDisruptionBudget, { namespace: NAMESPACE, name: NAME });
    await client.get(Service, { namespace: NAMESPACE, name: NAME });
    await untilRunning(AWS_IMAGES.first);
    const related = (status?.relatedObjects ?? []).map(({ resource, name }) => `${resource}/${name}`);
    for (const one of [`deployments/${NAME}`, 'configmaps/cloud-conf', 'configmaps/ccm-trusted-ca'])
      assert.ok(related.includes(one), related.join('\n'));
  });

  it('operator/R81: case 12: gives the program its configuration and the authorities to trust', async () => {
    const { client } = world.cluster;
    const { data } = await client.get(ConfigMap, { namespace: NAMESPACE, name: 'cloud-conf' });
    assert.match(data?.['cloud.conf'] ?? '', /^\[Global\]\n/);
    const trusted = await client.get(ConfigMap, { namespace: NAMESPACE, name: 'ccm-trusted-ca' });
    assert.match(trusted.data?.['ca-bundle.crt'] ?? '', /-----BEGIN CERTIFICATE-----/);
    await world.until('the program has spoken', async () => (await world.logs()).includes('\n'));
    const words = JSON.parse((await world.logs()).trim().split('\n')[0] ?? '');
    assert.equal(words.cloudConfig, data?.['cloud.conf']);
    assert.ok(words.words.includes('--leader-elect-resource-namespace=openshift-cloud-controller-manager'));
  });

  it('operator/R41: case 8: takes back what somebody changes in an operand, and leaves foreign labels', async () => {
    const wanted = (await get()).spec;
    await edit(withPort, { mine: 'yes' });
    await world.until('the port is gone', async () => portsOf((await get()).spec).length === 1);
    await edit((spec) => ({ ...spec, replicas: 1 }));
    await world.until('it has two replicas again', async () => (await get()).spec.replicas === 2);
    const { metadata, spec } = await get();
    assert.equal(metadata.labels?.['mine'], 'yes');
    assert.deepEqual(spec, wanted);
    await world.untilAvailable('4.22.0');
    await untilRunning(AWS_IMAGES.first);
  });

  it('operator/R40: makes anew what somebody deletes', async () => {
    const { client } = world.cluster;
    const { metadata } = await get();
    const key = { namespace: NAMESPACE, name: NAME };
    await client.delete(PodDisruptionBudget, key);
    await client.delete(ConfigMap, { namespace: NAMESPACE, name: 'cloud-conf' });
    await client.delete(Deployment, world.operand);
    await world.until('all are back', async () => {
      const found = await Promise.all([
        client.find(PodDisruptionBudget, key),
        client.find(ConfigMap, { namespace: NAMESPACE, name: 'cloud-conf' }),
        client.find(Deployment, world.operand),
      ]);
      const deployment = found[2];
      return !found.includes(undefined) && deployment?.metadata.uid !== metadata.uid;
    });
    await world.untilAvailable('4.22.0');
    await untilRunning(AWS_IMAGES.first);
  });

  it('operator/R51, operator/R57: says what it is progressing to until the new images run, and only then has the new version', async () => {
    await describeAws('4.23.0');
    await world.install({ version: '4.23.0', images: { cloudControllerManagerAWS: AWS_IMAGES.second } });
    await world.untilCondition('Progressing', 'True', /^Progressing towards operator: 4\.23\.0$/);
    const { status } = (await world.operator()) ?? assert.fail('it is gone');
    assert.deepEqual(status?.versions, [{ name: 'operator', version: '4.22.0' }]);
    await world.untilAvailable('4.23.0');
    await untilRunning(AWS_IMAGES.second);
    const told = await world.events();
    assert.ok(told.includes('Normal Status upgrade Progressing towards operator: 4.23.0'), told.join('\n'));
  });

  it('operator/R59, operator/R53: is degraded after the window when the program crashes, with its last words, and well with a mended image', async () => {
    await world.writeImages(imagesJson(AWS_IMAGES.broken));
    await world.until('the Deployment has the image', async () => imageOf(await get()) === AWS_IMAGES.broken);
    const began = world.lab.clock.now();
    const message = await world.untilCondition('Degraded', 'True', /CrashLoopBackOff/);
    assert.match(
      message,
      new RegExp(
        `^Failed to resync for operator: 4\\.23\\.0 because Deployment ${NAME}: container cloud-controller-manager ` +
          `of pod ${NAME}-\\S+ is in CrashLoopBackOff: it ended by Error with exit code 1: .*${BROKEN_WORDS}$`,
      ),
    );
    const { lastTransitionTime = '' } = await world.condition('Degraded');
    const lastedMs = Date.parse(lastTransitionTime) - began.getTime();
    assert.ok(lastedMs >= WINDOW_MS - DOUBT_MS, `degraded after ${lastedMs} ms`);
    assert.equal((await world.condition('Upgradeable')).status, 'False');
    await world.writeImages(imagesJson(AWS_IMAGES.second));
    await world.untilAvailable('4.23.0');
    await untilRunning(AWS_IMAGES.second);
  });

  it('operator/R10, operator/R58: names line and key of an images.json that it cannot read, touches nothing, and goes on once it is mended', async () => {
    const running = await containers();
    await world.writeImages('{\n  "cloudControllerManagerAWS": 7\n}');
    const message = await world.untilCondition('Degraded', 'True', /images\.json/);
    assert.match(
      message,
      / because failed to build operator config: \S+\/images\.json:2: cloudControllerManagerAWS must be an image as text, not the number 7$/,
    );
    assert.deepEqual(await containers(), running);
    await world.writeImages(imagesJson(AWS_IMAGES.second));
    await world.untilAvailable('4.23.0');
    assert.deepEqual(await containers(), running);
  });

  it('operator/R70, operator/R29: says where a cloud configuration is wrong, and takes it once it is right', async () => {
    const running = await containers();
    await describeAws('4.23.0', '[Global\nZone = a\n');
    const said = await world.untilCondition('CloudConfigControllerDegraded', 'True');
    assert.match(said, /failed to transform cloud config: .*(line 1|1:)/);
    const message = await world.untilCondition('Degraded', 'True', /CloudConfigControllerDegraded/);
    assert.ok(message.includes(said), message);
    assert.deepEqual(await containers(), running);
    await describeAws('4.23.0', '[Global]\nZone = a\n');
    await world.untilAvailable('4.23.0');
    await world.until('the program has it', async () =>
      /Zone +=\s*a/.test((await world.logs()).replaceAll('\\n', '\n')),
    );
    await untilRunning(AWS_IMAGES.second);
  });
});

const podOf = (spec: Deployment['spec']) => spec.template.spec ?? assert.fail('it has no pod');
const portsOf = (spec: Deployment['spec']) => podOf(spec).containers[0]?.ports ?? [];
const imageOf = ({ spec }: Deployment) => podOf(spec).containers[0]?.image;

function withPort(spec: Deployment['spec']): Deployment['spec'] {
  const ports = [...portsOf(spec), { name: 'mine', containerPort: 10_999 }];
  const containers = podOf(spec).containers.map((container) => ({ ...container, ports }));
  return { ...spec, template: { ...spec.template, spec: { ...podOf(spec), containers } } };
}
