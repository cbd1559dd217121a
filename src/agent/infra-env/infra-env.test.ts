import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { DISCOVERY_IGNITION_OVERRIDE, type OpenshiftAssistedConfig } from '../../api/agent/bootstrap-v1alpha2.ts';
import type { InfraEnv } from '../../api/assisted/agent-install-v1beta1.ts';
import type { ClusterDeployment } from '../../api/hive/hive-v1.ts';
import { ASSISTED_DEFAULTS, assistedSettings } from './assisted-settings.ts';
import { hasIgnitionUrl, ignitionUrl, shownUrl } from './ignition-url.ts';
import { foreignCluster, infraEnvProblem, infraEnvSpec } from './infra-env.ts';

const config = (
  spec: OpenshiftAssistedConfig['spec'] = {},
  annotations: Readonly<Record<string, string>> = {},
): OpenshiftAssistedConfig => ({
  apiVersion: 'bootstrap.cluster.x-k8s.io/v1alpha2',
  kind: 'OpenshiftAssistedConfig',
  metadata: { name: 'c', namespace: 'n', annotations },
  spec,
});
const deployment: ClusterDeployment = {
  apiVersion: 'hive.openshift.io/v1',
  kind: 'ClusterDeployment',
  metadata: { name: 'cd', namespace: 'n' },
};
const infraEnv = (status: InfraEnv['status'] = {}): InfraEnv => ({
  apiVersion: 'agent-install.openshift.io/v1beta1',
  kind: 'InfraEnv',
  metadata: { name: 'i', namespace: 'n' },
  status,
});
const events = (eventsURL: string): InfraEnv => infraEnv({ debugInfo: { eventsURL } });

describe('the spec of an InfraEnv', () => {
  it('agent/E2: has what the config says of discovery, and no kernel arguments', () => {
    const said = {
      additionalNTPSources: ['a', 'b'],
      additionalTrustBundle: 'pem',
      nmStateConfigLabelSelector: { matchLabels: { a: 'b' } },
      osImageVersion: '4.17',
      proxy: { httpProxy: 'http://p' },
      sshAuthorizedKey: 'ssh',
    };
    const more = { cpuArchitecture: 'arm64', kernelArguments: [{ operation: 'append', value: 'x' } as const] };
    assert.deepEqual(infraEnvSpec({ config: config({ ...said, ...more }), deployment, pullSecret: 'pull' }), {
      ...said,
      clusterRef: { name: 'cd', namespace: 'n' },
      cpuArchitecture: 'arm64',
      pullSecretRef: { name: 'pull' },
      imageType: 'full-iso',
    });
    assert.deepEqual(
      infraEnvSpec({
        config: config({ additionalNTPSources: [], sshAuthorizedKey: '' }),
        deployment,
        pullSecret: 'p',
      }),
      {
        clusterRef: { name: 'cd', namespace: 'n' },
        cpuArchitecture: 'x86_64',
        pullSecretRef: { name: 'p' },
        imageType: 'full-iso',
      },
    );
  });

  for (const { text, want } of [
    { text: '{"a":1}', want: '{"a":1}' },
    { text: '[]', want: '[]' },
    { text: '{', want: undefined },
    { text: '', want: undefined },
  ])
    it(`agent/E3: ${want === undefined ? 'leaves out' : 'has'} the override ${JSON.stringify(text)}`, () => {
      const given = config({}, { [DISCOVERY_IGNITION_OVERRIDE]: text });
      assert.equal(infraEnvSpec({ config: given, deployment, pullSecret: 'p' }).ignitionConfigOverride, want);
    });

  it('agent/X14: a version of the image is a problem, since the host belongs to a cluster', () => {
    assert.equal(infraEnvProblem(config()), undefined);
    assert.match(infraEnvProblem(config({ osImageVersion: '4.1' })) ?? '', /"4\.1"; make the config without it$/);
  });

  it('of another cluster is told by its reference', () => {
    const of = (name: string) => ({ ...infraEnv(), spec: { clusterRef: { name, namespace: 'n' } } });
    assert.equal(foreignCluster(of('cd'), deployment), undefined);
    assert.equal(foreignCluster(infraEnv(), deployment), undefined);
    assert.equal(foreignCluster(of('x'), deployment), 'n/x');
  });
});

describe('where the ignition is', () => {
  const base = 'https://assisted.example:8443/api/assisted-install/v2';
  const key = 'eyJ0eXAi.e30.sig';
  for (const { name, given, settings = {}, want } of [
    {
      name: 'agent/E5: follows from the address of the events',
      given: events(`${base}/events?api_key=${key}&infra_env_id=42`),
      want: `${base}/infra-envs/42/downloads/files?api_key=${key}&file_name=discovery.ign`,
    },
    {
      name: 'agent/X15: needs no key',
      given: events('http://a.example/x?infra_env_id=42'),
      want: 'http://a.example/api/assisted-install/v2/infra-envs/42/downloads/files?file_name=discovery.ign',
    },
    {
      name: 'agent/X15: is what assisted-service says, where it says it',
      given: infraEnv({
        debugInfo: { eventsURL: 'http://a' },
        bootArtifacts: { discoveryIgnitionURL: `${base}/told?x=1` },
      }),
      want: `${base}/told?x=1`,
    },
    {
      name: 'agent/E6: is at the Service of the namespace of the InfraEnv',
      given: events(`${base}/events?infra_env_id=42`),
      settings: { useInternalImageUrl: true },
      want: 'http://assisted-service.n.svc.cluster.local:8090/api/assisted-install/v2/infra-envs/42/downloads/files?file_name=discovery.ign',
    },
    {
      name: 'agent/E6: is at the Service that the settings name',
      given: infraEnv({ bootArtifacts: { discoveryIgnitionURL: `${base}/told?x=1` } }),
      settings: { useInternalImageUrl: true, assistedInstallerNamespace: 'ai', assistedServiceName: 'svc' },
      want: 'http://svc.ai.svc.cluster.local:8090/api/assisted-install/v2/told?x=1',
    },
  ])
    it(name, () => assert.equal(ignitionUrl(given, { ...ASSISTED_DEFAULTS, ...settings }).href, want));

  for (const { given, message } of [
    { given: infraEnv(), message: 'cannot generate ignition url if events URL is not generated' },
    {
      given: events('http://a/?api_key=x'),
      message: 'no infra_env_id found in query string of status.debugInfo.eventsURL',
    },
    {
      given: events('ftp://a/?infra_env_id=1'),
      message: 'status.debugInfo.eventsURL of the InfraEnv is no http or https address',
    },
    {
      given: events('secret text'),
      message: 'status.debugInfo.eventsURL of the InfraEnv is no http or https address',
    },
  ])
    it(`agent/E5: is unknown: ${message}`, () =>
      assert.throws(() => ignitionUrl(given, ASSISTED_DEFAULTS), { reason: 'InvalidIgnitionURL', message }));

  it('is shown without its query', () => {
    assert.equal(shownUrl(new URL('https://u:p@a.example:8443/b?api_key=x#y')), 'https://a.example:8443/b');
  });

  it('agent/B12: is there with either address', () => {
    assert.equal(hasIgnitionUrl(infraEnv()), false);
    assert.equal(hasIgnitionUrl(events('http://a')), true);
    assert.equal(hasIgnitionUrl(infraEnv({ bootArtifacts: { discoveryIgnitionURL: 'http://a' } })), true);
  });
});

describe('the settings of the environment', () => {
  it('agent/E6, agent/E7: have the defaults of upstream, and what is set, also when it is empty', () => {
    assert.deepEqual(assistedSettings({}), { settings: ASSISTED_DEFAULTS, problems: [] });
    const env = { USE_INTERNAL_IMAGE_URL: 'true', ASSISTED_CA_BUNDLE_NAME: '', ASSISTED_CA_BUNDLE_NAMESPACE: '' };
    assert.deepEqual(assistedSettings(env).settings, {
      ...ASSISTED_DEFAULTS,
      useInternalImageUrl: true,
      caBundleName: '',
      caBundleNamespace: '',
    });
  });

  for (const { env, problem } of [
    { env: { USE_INTERNAL_IMAGE_URL: 'maybe' }, problem: /USE_INTERNAL_IMAGE_URL must be true or false/ },
    {
      env: { ASSISTED_CA_BUNDLE_NAME: '' },
      problem: /ASSISTED_CA_BUNDLE_NAME is "" and ASSISTED_CA_BUNDLE_NAMESPACE is/,
    },
    { env: { ASSISTED_CA_BUNDLE_RESOURCE: 'Secret' }, problem: /must be secret or configmap, not "Secret"/ },
  ])
    it(`agent/E7: are wrong: ${JSON.stringify(env)}`, () => {
      const { problems } = assistedSettings(env);
      assert.equal(problems.length, 1);
      assert.match(problems[0] ?? '', problem);
    });
});
