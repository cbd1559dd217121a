import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import {
  type AcmeManifest,
  acmeContext,
  acmeText,
  type Breakage,
  lintedText,
} from '../../../test/support/acme-manifests.ts';
import { parseYaml } from '../../object/yaml.ts';
import { WORKLOAD_RULES } from './lint-manifests.ts';

interface Case {
  readonly rule: string;
  readonly when: string;
  readonly manifest: AcmeManifest;
  readonly broken: readonly Breakage[];
  readonly says: string;
  readonly severity?: 'warning';
  readonly context?: {
    readonly hasCloudConfig?: boolean;
    readonly boundContainers?: readonly string[];
    readonly secrets?: readonly string[];
  };
}

const CASES = ['broken-workloads.yaml', 'broken-static-pods.yaml'].flatMap(
  (name) => parseYaml(readFileSync(join(import.meta.dirname, 'testdata', name), 'utf8')) as readonly Case[],
);

function contextOf({ context: { hasCloudConfig, boundContainers, secrets } = {} }: Case) {
  return acmeContext({
    ...(hasCloudConfig !== undefined && { hasCloudConfig }),
    ...(boundContainers !== undefined && { boundContainers: new Set(boundContainers) }),
    ...(secrets !== undefined && { secrets: new Set(secrets) }),
  });
}

/** A second container that is right in everything but, perhaps, its image. */
const sidecar = (image: string): Breakage => [
  '      containers:\n',
  [
    '      containers:',
    `      - {name: side, image: ${image}, imagePullPolicy: IfNotPresent, terminationMessagePolicy: FallbackToLogsOnError,`,
    '         resources: {requests: {cpu: 1m, memory: 1Mi}},',
    '         command: [/bin/bash, -c, "set -a; [ -f /etc/kubernetes/apiserver-url.env ] &&',
    '           . /etc/kubernetes/apiserver-url.env; exec side --leader-elect=false"],',
    '         volumeMounts: [{name: host-etc-kube, mountPath: /etc/kubernetes, readOnly: true},',
    '           {name: trusted-ca, mountPath: /etc/pki/ca-trust/extracted/pem, readOnly: true}]}\n',
  ].join('\n'),
];

describe('the rules for workloads', () => {
  for (const manifest of ['deployment', 'daemonset', 'pod', 'role'] as const) {
    it(`operator/CCM-W01: find nothing in a ${manifest} that is right`, () =>
      assert.deepEqual(lintedText(manifest, acmeText(manifest)), []));
  }

  for (const row of CASES) {
    const { rule, when, manifest, broken, says, severity = 'error' } = row;
    it(`operator/${rule}: finds that, and nothing else, when ${when}`, () => {
      assert.deepEqual(lintedText(manifest, acmeText(manifest, ...broken), contextOf(row)), [
        `${severity} ${rule} ${says}`,
      ]);
    });
  }

  it('operator/CCM-W01: are all seen broken', () => {
    const broken = new Set(CASES.map(({ rule }) => rule));
    assert.deepEqual(
      WORKLOAD_RULES.map(({ id }) => id).filter((id) => !broken.has(id)),
      [],
    );
  });

  const fine: readonly { rule: string; when: string; manifest: AcmeManifest; broken: readonly Breakage[] }[] = [
    {
      rule: 'CCM-W02',
      when: 'an image of the payload is on a container of any name, whose flags are its own',
      manifest: 'deployment',
      broken: [sidecar('payload.invalid/acme')],
    },
    {
      rule: 'CCM-W07',
      when: 'the taint is tolerated by its value',
      manifest: 'deployment',
      broken: [['uninitialized, operator: Exists', 'uninitialized, value: "true"']],
    },
    {
      rule: 'CCM-W09',
      when: 'taints that keep pods away are tolerated at once',
      manifest: 'deployment',
      broken: [
        ['key: node.cloudprovider.kubernetes.io/uninitialized, ', ''],
        ['      - {key: node.kubernetes.io/not-ready, operator: Exists, effect: NoSchedule}\n', ''],
        ['      - {key: node-role.kubernetes.io/master, operator: Exists, effect: NoSchedule}\n', ''],
      ],
    },
    {
      rule: 'CCM-W24',
      when: 'flags are quoted, or true without a value',
      manifest: 'deployment',
      broken: [
        ['--leader-elect=true', '--leader-elect'],
        ['duration=137s', 'duration="137s"'],
      ],
    },
    {
      rule: 'CCM-W34',
      when: 'the Secret is optional',
      manifest: 'deployment',
      broken: [['{secretName: acme-credentials}', '{secretName: other, optional: true}']],
    },
    {
      rule: 'CCM-B11',
      when: 'the port of the probe is named',
      manifest: 'pod',
      broken: [['port: 10258, scheme: HTTPS}', 'port: https}\n    ports: [{name: https, containerPort: 10258}]']],
    },
  ];
  for (const { rule, when, manifest, broken } of fine) {
    it(`operator/${rule}: finds nothing when ${when}`, () =>
      assert.deepEqual(lintedText(manifest, acmeText(manifest, ...broken)), []));
  }

  it('operator/CCM-W01: find ten planted faults, and no eleventh', () => {
    const faults: readonly Breakage[] = [
      ['replicas: 2', 'replicas: 1'],
      ['type: Recreate', 'type: RollingUpdate'],
      ['hostNetwork: true', 'hostNetwork: false'],
      ['serviceAccountName: cloud', 'serviceAccountName: my-cloud'],
      ['system-cluster-critical', 'system-node-critical'],
      ['node-role.kubernetes.io/master: ""', 'kubernetes.io/os: linux'],
      ['containerPort: 10258', 'containerPort: 8080'],
      ['{cpu: 200m, memory: 50Mi}', '{cpu: 200m}'],
      ['--configure-cloud-routes=false', '--configure-cloud-routes=true'],
      ['--leader-elect-retry-period=26s', '--leader-elect-retry-period=2s'],
    ];
    const found = lintedText('deployment', acmeText('deployment', ...faults));
    assert.deepEqual(
      found.map((line) => line.split(' ')[1]),
      ['W03', 'W05', 'W11', 'W12', 'W14', 'W15', 'W16', 'W19', 'W24', 'W25'].map((id) => `CCM-${id}`),
    );
  });
});
