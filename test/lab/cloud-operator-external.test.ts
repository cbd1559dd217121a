// The operator beside that of the payload, on platform External, with the provider of the example as processes.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { Secret } from '../../src/api/generated/core-v1.ts';
import { releaseVersion } from '../../src/app/release.ts';
import { OperatorLab } from '../support/operator-lab.ts';

const NAMESPACE = 'openshift-acme-cloud-cloud-controller-manager';
const REQUEST = 'openshift-cloud-credential-operator/openshift-acme-cloud-cloud-controller-manager';
const MACHINES = ['m-1', 'm-2'];

describe('the cloud operator for a provider of a partner', () => {
  let world: OperatorLab;
  before(async () => {
    world = await OperatorLab.start({ provider: 'acme-cloud', scaled: 6 });
    await world.boot(...MACHINES);
    await world.describeExternal();
    await world.install();
  });
  after(() => world[Symbol.asyncDispose]());

  const reasonOf = async (type: string) => (await world.condition(type)).reason;

  it('operator/R36: names the Secret that is missing and the request that should produce it, until it comes', async () => {
    const message = await world.untilCondition('Progressing', 'True', /Secret/);
    assert.ok(message.startsWith(`Secret ${NAMESPACE}/cloud-credentials is missing`), message);
    assert.ok(message.includes(`CredentialsRequest ${REQUEST};`), message);
    assert.match(message, /create it: oc create secret generic cloud-credentials -n \S+ --from-file=ACME_/);
    assert.equal(await reasonOf('Progressing'), 'CredentialsMissing');
    assert.notEqual((await world.condition('Available')).status, 'True');
    await world.apply(world.credentials());
    const { status } = await world.untilAvailable(releaseVersion());
    assert.ok(!JSON.stringify(status).includes('is missing'), JSON.stringify(status?.conditions));
  });

  it('operator/D1: deploys its cloud controller manager, which initialises nodes', async () => {
    const nodes = await world.untilInitialised(...MACHINES);
    for (const { metadata, spec, status } of nodes) {
      assert.match(spec?.providerID ?? '', /^acme-cloud:\/\/[ab]\/i-[0-9a-f]{12}$/);
      assert.match(metadata.labels?.['topology.kubernetes.io/zone'] ?? '', /^[ab]$/);
      assert.ok(
        status?.addresses?.some(({ type }) => type === 'InternalIP'),
        metadata.name,
      );
    }
    await world.boot('m-3');
    await world.untilInitialised('m-3');
  });

  it('operator/R53: hands on what the program says of a cloud configuration that is no JSON, and recovers with a right one', async () => {
    await world.describeExternal('endpoint = somewhere');
    const message = await world.untilCondition('Degraded', 'True', /JSON/);
    assert.match(
      message,
      /^Failed to resync for operator: \S+ because Deployment acme-cloud-cloud-controller-manager: container cloud-controller-manager of pod \S+ is in CrashLoopBackOff: .*must be a JSON object with endpoint, region and clusterId \(--cloud-config=\S+cloud\.conf\)/,
    );
    await world.describeExternal();
    await world.untilAvailable(releaseVersion());
    await world.boot('m-4');
    await world.untilInitialised('m-4');
  });

  it('operator/R36: goes on by itself when the Secret was taken away for a while', async () => {
    await world.cluster.client.delete(Secret, { namespace: NAMESPACE, name: 'cloud-credentials' });
    await world.untilCondition('Progressing', 'True', /cloud-credentials is missing/);
    await world.apply(world.credentials());
    await world.untilAvailable(releaseVersion());
    await world.boot('m-5');
    await world.untilInitialised('m-5');
  });
});
