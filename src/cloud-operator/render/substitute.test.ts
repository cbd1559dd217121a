import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Container, EnvVar } from '../../api/generated/core-v1.ts';
import type { KubeObject } from '../../api/object.ts';
import type { CloudProviderDefinition, RenderContext } from '../definition.ts';
import { specimenContext } from './specimen.ts';
import { substituteOperand, substituteStaticPod } from './substitute.ts';

const ACME: CloudProviderDefinition = {
  id: 'acme',
  match: { type: 'External' },
  images: {
    manager: { container: 'cloud-controller-manager', payloadTag: 'acme-manager' },
    node: { container: ['cloud-node-manager', 'warm-up'], field: 'Node', payloadTag: 'acme-node', optional: true },
    operator: { field: 'Operator', payloadTag: 'operator' },
  },
  assets: { objects: [] },
};
const DEFAULT = 'openshift-cloud-controller-manager';

interface Workload extends KubeObject {
  readonly spec: {
    readonly replicas?: number;
    readonly template: {
      readonly spec: { readonly containers: readonly Container[]; readonly initContainers?: readonly Container[] };
    };
  };
}

const workload = (
  container: Partial<Container>,
  { kind = 'Deployment', init }: { readonly kind?: string; readonly init?: Partial<Container> } = {},
): Workload => ({
  apiVersion: 'apps/v1',
  kind,
  metadata: { name: 'a', namespace: DEFAULT },
  spec: {
    template: {
      spec: {
        containers: [
          { name: 'cloud-controller-manager', ...container },
          { name: 'other', image: 'other' },
        ],
        ...(init === undefined ? {} : { initContainers: [{ name: 'init', ...init }] }),
      },
    },
  },
});

const substituted = <T extends KubeObject>(object: T, context: Partial<RenderContext> = {}): T =>
  // A copy of an object has its type.
  substituteOperand(object, ACME, { ...specimenContext(ACME), ...context }) as T;

const containersOf = ({ spec }: Workload): readonly Container[] => spec.template.spec.containers;
const environments = (object: Workload): readonly (readonly EnvVar[] | undefined)[] =>
  containersOf(object).map(({ env }) => env);
const imagesOf = (object: Workload): readonly (string | undefined)[] =>
  [...containersOf(object), ...(object.spec.template.spec.initContainers ?? [])].map(({ image }) => image);

const proxy = (status: NonNullable<RenderContext['proxy']>['status']): Partial<RenderContext> => ({
  proxy: {
    apiVersion: 'config.openshift.io/v1',
    kind: 'Proxy',
    metadata: { name: 'cluster' },
    spec: { trustedCA: { name: 'a' } },
    ...(status === undefined ? {} : { status }),
  },
});

describe('the proxy of a cluster', () => {
  it('operator/case 4: is the last that every container hears of, and no init container does', () => {
    const given = workload({ env: [{ name: 'A', value: 'b' }] }, { init: { image: 'init' } });
    const before = structuredClone(given);
    const object = substituted(given, proxy({ httpProxy: 'http://p:1' }));
    const variable = { name: 'HTTP_PROXY', value: 'http://p:1' };
    assert.deepEqual(environments(object), [[{ name: 'A', value: 'b' }, variable], [variable]]);
    assert.deepEqual(object.spec.template.spec.initContainers, [{ name: 'init', image: 'init' }]);
    assert.deepEqual(given, before);
  });

  it('operator/R25.1: has up to three variables, in a fixed order and whatever is there already', () => {
    const given = workload({ env: [{ name: 'NO_PROXY', value: 'a' }] }, { kind: 'DaemonSet' });
    const object = substituted(given, proxy({ noProxy: 'c', httpsProxy: 'b', httpProxy: 'a' }));
    assert.deepEqual(
      environments(object)[0]?.map(({ name, value }) => `${name}=${value}`),
      ['NO_PROXY=a', 'HTTP_PROXY=a', 'HTTPS_PROXY=b', 'NO_PROXY=c'],
    );
  });

  it('operator/R25.1: adds nothing that is empty', () => {
    for (const status of [undefined, {}, { httpProxy: '', httpsProxy: '', noProxy: '' }]) {
      assert.deepEqual(environments(substituted(workload({}), proxy(status))), [undefined, undefined]);
    }
  });
});

describe('what a rendered operand becomes', () => {
  it('operator/R25.2: has one replica where there is one control plane machine, if it is a Deployment', () => {
    const replicas = (kind: string, singleReplica: boolean) =>
      substituted(workload({}, { kind }), { singleReplica }).spec.replicas;
    assert.deepEqual([replicas('Deployment', true), replicas('Deployment', false)], [1, undefined]);
    assert.equal(replicas('DaemonSet', true), undefined);
  });

  it('operator/R25.3: has the images of its containers by their names', () => {
    const images = new Map([
      ['manager', 'm:1'],
      ['node', 'n:1'],
      ['operator', 'o:1'],
    ]);
    const object = workload({ image: 'literal' }, { init: { name: 'warm-up', image: 'literal' } });
    assert.deepEqual(imagesOf(substituted(object, { images })), ['m:1', 'other', 'n:1']);
  });

  it('operator/R25.3: keeps an image of the payload that the template has named', () => {
    const images = new Map([
      ['manager', 'm:1'],
      ['operator', 'o:1'],
    ]);
    assert.deepEqual(imagesOf(substituted(workload({ image: 'o:1' }), { images })), ['o:1', 'other']);
  });

  it('operator/R25.3: keeps its image where none is configured', () => {
    const object = workload({ name: 'cloud-node-manager', image: 'literal' });
    for (const images of [new Map<string, string>(), new Map([['node', '']])]) {
      assert.deepEqual(imagesOf(substituted(object, { images })), ['literal', 'other']);
    }
  });

  it('operator/R25.4: knows the name of the infrastructure where it asks for it', () => {
    const env = [
      { name: 'OCP_INFRASTRUCTURE_NAME', value: 'stale' },
      { name: 'OTHER', value: 'kept' },
      { name: 'OCP_INFRASTRUCTURE_NAME', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
    ];
    const [variables] = environments(substituted(workload({ env })));
    assert.deepEqual(variables, [{ ...env[0], value: 'specimen-x7k2p' }, env[1], env[2]]);
    const { infra } = specimenContext(ACME);
    const nameless = substituted(workload({ env }), { infra: { ...infra, status: {} } });
    assert.deepEqual(environments(nameless)[0], env);
    assert.deepEqual(environments(substituted(workload({ env }, { kind: 'DaemonSet' })))[0], env);
  });
});

describe('another namespace than the default', () => {
  const namespace = 'openshift-acme-cloud-controller-manager';
  const moved = <T extends KubeObject>(object: T): T => substituted(object, { managedNamespace: namespace });

  it('operator/R25.5: takes objects that were in the default one, and no others', () => {
    const at = (place: string | undefined) =>
      moved({
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: DEFAULT, ...(place === undefined ? {} : { namespace: place }) },
      }).metadata;
    assert.deepEqual(at(DEFAULT), { name: DEFAULT, namespace });
    assert.deepEqual(at('kube-system'), { name: DEFAULT, namespace: 'kube-system' });
    assert.deepEqual(at(undefined), { name: DEFAULT });
  });

  it('operator/R25.5: is that of the subjects of bindings', () => {
    const subjects = [
      { kind: 'ServiceAccount', name: 'cloud-controller-manager', namespace: DEFAULT },
      { kind: 'ServiceAccount', name: 'cloud-controller-manager', namespace: 'kube-system' },
      { kind: 'User', name: `system:serviceaccount:${DEFAULT}:cloud-node-manager` },
      { kind: 'Group', name: `system:serviceaccounts:${DEFAULT}-operator` },
      { kind: 'User', name: DEFAULT },
    ];
    for (const kind of ['RoleBinding', 'ClusterRoleBinding']) {
      const object = moved({ apiVersion: 'v1', kind, metadata: { name: 'a' }, subjects });
      assert.deepEqual(object.subjects, [
        { ...subjects[0], namespace },
        subjects[1],
        { kind: 'User', name: `system:serviceaccount:${namespace}:cloud-node-manager` },
        subjects[3],
        subjects[4],
      ]);
    }
  });

  it('operator/R25.5: is where the leader is elected', () => {
    const flag = '--leader-elect-resource-namespace=';
    const object = moved(
      workload({
        command: ['/bin/bash', '-c', `exec manager \\\n  ${flag}${DEFAULT} \\\n  --config=/etc/${DEFAULT}`],
        args: [`${flag}${DEFAULT}-operator`, `${flag}${DEFAULT}`],
      }),
    );
    const [container] = containersOf(object);
    assert.equal(container?.command?.[2], `exec manager \\\n  ${flag}${namespace} \\\n  --config=/etc/${DEFAULT}`);
    assert.deepEqual(container?.args, [`${flag}${DEFAULT}-operator`, `${flag}${namespace}`]);
  });

  it('operator/R25.5: is where the leader is elected, however that is written', () => {
    const flag = '--leader-elect-resource-namespace';
    const script = (place: string) =>
      `exec a ${flag}="${place}"; exec b ${flag}='${place}'; exec c ${flag}  ${place}`;
    const args = (place: string) => [flag, place, '--config', DEFAULT, flag, `${DEFAULT}-operator`];
    const given = workload({ command: ['/bin/bash', '-c', script(DEFAULT)], args: args(DEFAULT) });
    const [container] = containersOf(moved(given));
    assert.equal(container?.command?.[2], script(namespace));
    assert.deepEqual(container?.args, args(namespace));
  });

  it('operator/R25.5: is where a binding of a policy has its parameters', () => {
    const at = (place: string) =>
      moved({
        apiVersion: 'admissionregistration.k8s.io/v1',
        kind: 'ValidatingAdmissionPolicyBinding',
        metadata: { name: 'a' },
        spec: { policyName: DEFAULT, paramRef: { name: DEFAULT, namespace: place } },
      }).spec;
    assert.deepEqual(at(DEFAULT), { policyName: DEFAULT, paramRef: { name: DEFAULT, namespace } });
    assert.equal(at('kube-system').paramRef.namespace, 'kube-system');
  });

  it('operator/R25.5: is in the expressions of admission policies, not in other words of them', () => {
    const expression = (place: string) => `request.userInfo.username == "system:serviceaccount:${place}:node"`;
    const spec = (place: string) => ({
      validations: [{ expression: expression(place), message: DEFAULT, messageExpression: `"${place}"` }],
      matchConditions: [
        { name: DEFAULT, expression: `'${place}' != '${DEFAULT}-operator' && name != 'my-${DEFAULT}'` },
      ],
    });
    const object = moved({
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingAdmissionPolicy',
      metadata: { name: `${DEFAULT}-cloud-provider-acme` },
      spec: spec(DEFAULT),
    });
    assert.deepEqual(object.spec, spec(namespace));
    assert.equal(object.metadata.name, `${DEFAULT}-cloud-provider-acme`);
  });
});

describe('what a static pod becomes', () => {
  it('operator/R95: is in kube-system, with its images and nothing else', () => {
    const pod = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'a', namespace: DEFAULT },
      spec: { containers: [{ name: 'cloud-controller-manager', image: 'literal', env: [] }] },
    };
    const context = {
      ...specimenContext(ACME),
      ...proxy({ httpProxy: 'p' }),
      images: new Map([['manager', 'm:1']]),
    };
    assert.deepEqual(substituteStaticPod(pod, ACME, context), {
      ...pod,
      metadata: { name: 'a', namespace: 'kube-system' },
      spec: { containers: [{ name: 'cloud-controller-manager', image: 'm:1', env: [] }] },
    });
  });

  it('operator/R87: is not told of a cloud configuration where the cluster has none; scripts are left alone', () => {
    const args = ['--v=2', '--cloud-config=/etc/kubernetes/configs/cloud.conf'];
    const command = ['/bin/sh', '-c', 'exec manager --cloud-config=/a'];
    const pod = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'a' },
      spec: { containers: [{ name: 'a', command, args }] },
    };
    const context = specimenContext(ACME);
    const rendered = (cloudConfig: { readonly name?: string }): KubeObject =>
      substituteStaticPod(pod, ACME, { ...context, infra: { ...context.infra, spec: { cloudConfig } } });
    const at = (words: readonly string[]) => ({
      ...pod,
      metadata: { name: 'a', namespace: 'kube-system' },
      spec: { containers: [{ name: 'a', command, args: words }] },
    });
    assert.deepEqual(rendered({ name: 'a' }), at(args));
    for (const none of [{}, { name: '' }]) assert.deepEqual(rendered(none), at(['--v=2']));
  });
});
