import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { acmeText } from '../../../test/support/acme-manifests.ts';
import { type LooseFile, lintFiles } from './lint-files.ts';

const EXAMPLES = join(import.meta.dirname, '../../../../shared/examples');
const example = (name: string) => {
  const path = join(EXAMPLES, name);
  return { path, skip: existsSync(path) ? false : `${path} is not there` };
};

const AWS = example('guide-aws-deployment.yaml');
const AZURE = example('guide-azure-bootstrap-pod.yaml');

/** `error CCM-W01`, by severity and id. */
const linted = (files: readonly LooseFile[], hasCloudConfig = false): readonly string[] =>
  lintFiles(files, { hasCloudConfig })
    .map(({ severity, rule }) => `${severity} ${rule}`)
    .toSorted();

const file = (text: string, place: LooseFile['place'] = 'any'): LooseFile => ({ file: 'a.yaml', place, text });

const CONFIG_MAP = `apiVersion: v1
kind: ConfigMap
metadata:
  name: a
  namespace: openshift-cloud-controller-manager
`;
const ELSEWHERE = CONFIG_MAP.replace('openshift-cloud-controller-manager', 'default');
const REQUEST = `apiVersion: cloudcredential.openshift.io/v1
kind: CredentialsRequest
metadata: {name: acme}
spec: {secretRef: {name: acme-credentials, namespace: openshift-cloud-controller-manager}}
`;

describe('lintFiles', () => {
  it('operator/case 21: finds in the Deployment of the guide for AWS what OpenShift asks for today', AWS, () => {
    assert.deepEqual(linted([file(readFileSync(AWS.path, 'utf8'))]), [
      ...['W08', 'W16', 'W18', 'W19', 'W20', 'W21', 'W22', 'W23', 'W24', 'W25', 'W27'].map(
        (id) => `error CCM-${id}`,
      ),
      ...['W06', 'W10', 'W32'].map((id) => `warning CCM-${id}`),
    ]);
  });

  it('operator/case 21: only warns of the static pod of the guide for Azure', AZURE, () => {
    assert.deepEqual(
      linted([file(readFileSync(AZURE.path, 'utf8'))], true),
      ['B11', 'W07', 'W08'].map((id) => `warning CCM-${id}`),
    );
  });

  it('operator/R25: takes the containers of the two programs for bound, and images of templates by any name', () => {
    const text = acmeText('deployment').replace('.images.CloudControllerManager', '.images.Whatever');
    assert.deepEqual(linted([file(text), file(REQUEST)], true), []);
    const literal = acmeText('deployment').replace('{{ .images.CloudControllerManager }}', 'registry.invalid/a:1');
    assert.deepEqual(linted([file(literal), file(REQUEST)], true), []);
  });

  it('operator/CCM-W34: takes Secrets for declared by CredentialsRequests beside the manifests, not among them', () => {
    const assets = file(acmeText('deployment'), 'assets');
    assert.deepEqual(linted([assets], true), ['error CCM-W34']);
    assert.deepEqual(linted([assets, file(REQUEST, 'beside')], true), []);
    assert.deepEqual(linted([assets, file(REQUEST, 'assets')], true), ['error CCM-T03', 'error CCM-W34']);
  });

  it('operator/CCM-B07: takes Pods for static pods, unless they are among what the operator applies', () => {
    assert.deepEqual(linted([file(acmeText('pod'))], true), []);
    assert.deepEqual(linted([file(acmeText('pod'), 'bootstrap')], true), []);
    assert.deepEqual(linted([file(acmeText('pod'), 'assets')], true), ['error CCM-T03']);
    assert.deepEqual(linted([file(CONFIG_MAP, 'bootstrap')], true), ['error CCM-B01']);
  });

  it('operator/CCM-W31: looks at every document of a file, each finding at its line', () => {
    const text = [`# first\n${CONFIG_MAP}`, ELSEWHERE, '# nothing\n', ELSEWHERE].join('---\n');
    assert.deepEqual(
      lintFiles([file(text)], { hasCloudConfig: false }).map(({ rule, line }) => [rule, line]),
      [
        ['CCM-W31', 12],
        ['CCM-W31', 20],
      ],
    );
    assert.deepEqual(linted([file(text, 'assets')]), ['error CCM-T02']);
  });

  const places: readonly { name: string; text: string; want: readonly [string, string] }[] = [
    {
      name: 'a template',
      text: acmeText('deployment', ['type: Recreate', 'type: RollingUpdate']),
      want: ['CCM-W16', '  strategy:'],
    },
    {
      name: 'a template with lines that only decide outside of scripts',
      text: `${ELSEWHERE}{{- if .featureGates }}\nimmutable: true\n{{- end }}\n`,
      want: ['CCM-W31', '  namespace: default'],
    },
    {
      name: 'a field that is missing, at the one around it',
      text: acmeText('daemonset', ['      hostNetwork: true\n', '']),
      want: ['CCM-W11', '    spec:'],
    },
    {
      name: 'a value that a template misses',
      text: acmeText('daemonset', ['cpu: 10m', 'cpu: {{ .cpu }}']),
      want: ['CCM-T01', '          requests: {cpu: {{ .cpu }}, memory: 20Mi}'],
    },
    {
      name: 'a label in brackets',
      text: CONFIG_MAP.replace('metadata:', 'metadata:\n  labels:\n    app: a\n    a.b/c: 1'),
      want: ['CCM-T04', '    a.b/c: 1'],
    },
    { name: 'a syntax error', text: `${CONFIG_MAP}data: ]\n`, want: ['CCM-T02', 'data: ]'] },
    {
      name: 'a key that is there twice',
      text: `${CONFIG_MAP}kind: ConfigMap\n`,
      want: ['CCM-T02', 'kind: ConfigMap'],
    },
  ];
  for (const { name, text, want } of places) {
    it(`experience/X41: knows the line of ${name}`, () => {
      const found = lintFiles([file(text)], { hasCloudConfig: true });
      assert.deepEqual(
        found
          .filter(({ rule }) => rule !== 'CCM-W34')
          .map(({ rule, line = 0 }) => [rule, text.split('\n')[line - 1]]),
        [want],
      );
    });
  }

  it('operator/CCM-T02: says that a file holds nothing, once', () => {
    for (const text of ['', '\n# a comment\n---\n', '   \n']) {
      for (const place of ['any', 'assets', 'bootstrap'] as const) {
        assert.deepEqual(
          lintFiles([file(text, place)], { hasCloudConfig: false }).map(({ rule, message }) => [rule, message]),
          [['CCM-T02', 'the file holds no object']],
        );
      }
    }
  });
});
