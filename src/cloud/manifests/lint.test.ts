import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { acmeDefinition, acmeNeeds, plainDefinition } from '../../../test/support/acme-definition.ts';
import { lintManifests } from '../../../test/support/install-linter.ts';
import type { Deployment } from '../../api/generated/apps-v1.ts';
import type { Container, Pod, PodSpec } from '../../api/generated/core-v1.ts';
import type { Mutable } from '../../api/object.ts';
import type { ProviderDefinition } from '../../sdk/provider/provider-definition.ts';
import { installManifests, installObjects } from './install-manifests.ts';
import { bootstrapPod } from './static-pod.ts';

const IMAGE = 'example.com/acme/ccm:1';

const manifests = (definition: ProviderDefinition = acmeDefinition()) =>
  installManifests(definition, acmeNeeds('acme-cloud-controller-manager'), { image: IMAGE });

type Break = (pod: Mutable<PodSpec>, container: Mutable<Container>, deployment: Mutable<Deployment>) => void;

function brokenDeployment(breakIt: Break): Deployment {
  const copy = structuredClone(manifests().deployment) as Mutable<Deployment>;
  const pod = copy.spec.template.spec ?? assert.fail('no pod');
  breakIt(pod, pod.containers[0] ?? assert.fail('no container'), copy);
  return copy as Deployment;
}

function brokenPod(breakIt: (pod: Mutable<Pod>) => void): Pod {
  const copy = structuredClone(bootstrapPod(acmeDefinition(), { image: IMAGE })) as Mutable<Pod>;
  breakIt(copy);
  return copy as Pod;
}

const replaced = (words: readonly string[] | undefined, from: string, to: string): string[] =>
  (words ?? []).map((word) => word.replace(from, to));

const deployments: readonly { readonly name: string; readonly rule: string; readonly breakIt: Break }[] = [
  { name: 'the pod network', rule: 'ccm/B11', breakIt: (pod) => void delete pod.hostNetwork },
  {
    name: 'the DNS of the cluster',
    rule: 'ccm/B11',
    breakIt: (pod) => void Object.assign(pod, { dnsPolicy: 'ClusterFirstWithHostNet' }),
  },
  {
    name: 'an address that only the DNS of the cluster knows',
    rule: 'ccm/B11',
    breakIt: (_, { env }) => void env?.push({ name: 'PROXY', value: 'http://proxy.infra.svc:8080' }),
  },
  {
    name: 'limits',
    rule: 'ccm/O7',
    breakIt: (_, container) => void Object.assign(container.resources ?? {}, { limits: { cpu: '1' } }),
  },
  { name: 'no requests', rule: 'ccm/O7', breakIt: (_, container) => void delete container.resources },
  { name: 'another name', rule: 'ccm/O7', breakIt: (_, container) => void (container.name = 'manager') },
  {
    name: 'a rolling update',
    rule: 'ccm/O7',
    breakIt: (_, __, { spec }) => void (spec.strategy = { type: 'RollingUpdate' }),
  },
  { name: 'no priority', rule: 'ccm/O7', breakIt: (pod) => void delete pod.priorityClassName },
  { name: 'any node', rule: 'ccm/O7', breakIt: (pod) => void delete pod.nodeSelector },
  { name: 'two replicas on one host', rule: 'ccm/O7', breakIt: (pod) => void delete pod.affinity },
  ...[0, 1, 2, 3].map((at) => ({
    name: `no toleration number ${at + 1}`,
    rule: 'ccm/O8',
    breakIt: (pod: Mutable<PodSpec>) => void pod.tolerations?.splice(at, 1),
  })),
  {
    name: 'a toleration of one value',
    rule: 'ccm/O8',
    breakIt: (pod) => {
      pod.tolerations =
        pod.tolerations?.map(({ operator, ...rest }) => ({ ...rest, value: `was ${operator}` })) ?? [];
    },
  },
  {
    name: 'no environment file',
    rule: 'ccm/O9',
    breakIt: (_, container) => {
      container.args = container.args?.filter((word) => !word.includes('apiserver-url.env')) ?? [];
    },
  },
  {
    name: 'no mounted environment file',
    rule: 'ccm/O9',
    breakIt: (_, { volumeMounts }) => void volumeMounts?.shift(),
  },
  {
    name: 'a writable folder of the host',
    rule: 'ccm/O9',
    breakIt: (_, { volumeMounts: [mount] = [] }) => void Object.assign(mount ?? {}, { readOnly: false }),
  },
  {
    name: 'a ConfigMap that it waits for',
    rule: 'ccm/O10',
    breakIt: ({ volumes = [] }) => volumes.forEach(({ configMap }) => void delete configMap?.optional),
  },
];

const pods: readonly { readonly name: string; readonly breakIt: (pod: Mutable<Pod>) => void }[] = [
  { name: 'another namespace', breakIt: ({ metadata }) => void (metadata.namespace = 'default') },
  { name: 'another priority', breakIt: ({ spec }) => void (spec.priorityClassName = 'system-cluster-critical') },
  { name: 'a service account', breakIt: ({ spec }) => void (spec.serviceAccountName = 'default') },
  {
    name: 'a Secret',
    breakIt: ({ spec }) => void spec.volumes?.push({ name: 'more', secret: { secretName: 'more' } }),
  },
  ...[
    ['--controllers=cloud-node', '--controllers=*'],
    ['--leader-elect=false', '--leader-elect=true'],
    ['--use-service-account-credentials=false', '--use-service-account-credentials'],
    ['--kubeconfig', '--kube-config'],
  ].map(([from = '', to = '']) => ({
    name: to,
    breakIt: ({ spec: { containers } }: Mutable<Pod>) => {
      for (const container of containers) container.args = replaced(container.args, from, to);
    },
  })),
];

describe('the linter of manifests', () => {
  it('ccm/B11: finds nothing in what is generated', () => {
    for (const definition of [acmeDefinition(), plainDefinition()]) {
      const objects = [...installObjects(manifests(definition)), bootstrapPod(definition, { image: IMAGE })];
      assert.deepEqual(lintManifests(objects), []);
    }
  });

  for (const { name, rule, breakIt } of deployments) {
    it(`ccm/B11: finds a Deployment with ${name} (${rule})`, () => {
      const findings = lintManifests([brokenDeployment(breakIt)]);
      assert.ok(
        findings.some((finding) => finding.rule === rule),
        JSON.stringify(findings),
      );
      const [{ object } = { object: '' }] = findings;
      assert.equal(object, 'Deployment acme-cloud-controller-manager/acme-cloud-controller-manager');
    });
  }

  for (const { name, breakIt } of pods) {
    it(`ccm/O17: finds a bootstrap pod with ${name}`, () => {
      assert.deepEqual(
        lintManifests([brokenPod(breakIt)]).map(({ rule }) => rule),
        ['ccm/O17'],
      );
    });
  }

  it('ccm/O12: finds two programs that want one port of the host, unless one has none', () => {
    const [one, two] = [brokenDeployment(() => {}), brokenDeployment(() => {})];
    assert.deepEqual(
      lintManifests([one, two]).map(({ rule }) => rule),
      ['ccm/O12'],
    );
    const silent = brokenDeployment((_, container) => {
      container.args = replaced(container.args, '--secure-port=10258', '--secure-port=0');
    });
    assert.deepEqual(lintManifests([silent, two, silent]), []);
  });

  it('ccm/B11: reads flags that are words of a start script', () => {
    const script = brokenDeployment((_, container) => {
      const words = (container.args ?? []).join(' \\\n  ');
      delete container.args;
      container.command = ['/bin/bash', '-c', `source /etc/kubernetes/apiserver-url.env\nexec /bin/ccm ${words}`];
    });
    assert.deepEqual(lintManifests([script]), []);
  });
});
