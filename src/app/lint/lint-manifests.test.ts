import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, it } from 'node:test';
import { ACME_MANIFESTS, acmeText } from '../../../test/support/acme-manifests.ts';
import { scratchDirectory } from '../../../test/support/scratch.ts';
import { lintPath } from './lint-path.ts';
import { lintSarif } from './lint-sarif.ts';
import { lintText } from './lint-text.ts';

const CONFIG_MAP = `apiVersion: v1
kind: ConfigMap
metadata:
  name: a
  namespace: default
`;
const NOTHING =
  'looked for slipway.yaml, provider.ts, provider.js, provider.mjs, *.yaml, assets/*.yaml, bootstrap/*.yaml, manifests/*.yaml';

const header = (what: string): string => `# Written by slipway 0.1.0: render ${what} for acme, input sha256:0\n`;

interface Given {
  readonly path?: string;
  readonly files: Readonly<Record<string, string>>;
  readonly hasCloudConfig?: boolean;
  readonly managedNamespace?: string;
}

async function lint({ path = '.', files, hasCloudConfig = false, ...options }: Given) {
  await using folder = await scratchDirectory();
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder.path, name)), { recursive: true });
    await writeFile(join(folder.path, name), text);
  }
  const report = await lintPath(folder.path, path, { hasCloudConfig, ...options });
  return report;
}

const places = async (given: Given): Promise<readonly string[]> =>
  (await lint(given)).findings.map(({ file, line, column, code }) => `${file}:${line}:${column} ${code}`);

describe('lint of manifests', () => {
  it('operator/case 21: finds nothing in a folder that is right', async () => {
    const { findings, files } = await lintPath(ACME_MANIFESTS, '.', { hasCloudConfig: true });
    assert.deepEqual([findings, files], [[], 5]);
  });

  it('experience/X41: lists findings by file and line, each with why and fix, and where it is in the source', async () => {
    const report = await lint({
      path: 'b.yaml',
      files: { 'b.yaml': `${CONFIG_MAP}---\n${CONFIG_MAP}data:\n- x: 1\n  y: yes\n` },
    });
    assert.deepEqual(
      report.findings.map(({ file, line, column, length, code }) => [file, line, column, length, code]),
      [
        ['b.yaml', 5, 3, 9, 'CCM-W31'],
        ['b.yaml', 12, 1, 4, 'CCM-T02'],
      ],
    );
    assert.deepEqual(lintText(report, { durationMs: 0, isFailed: true }).split('\n').slice(0, 6), [
      'b.yaml:5:3  error  CCM-W31  ConfigMap/a: namespace must be openshift-cloud-controller-manager (found default)',
      '    3 │ metadata:',
      '    4 │   name: a',
      '    5 │   namespace: default',
      '      │   ^^^^^^^^^ the managed namespace',
      '      = why   the operator watches its operands in one namespace; roles may be in kube-system, too',
    ]);
    assert.partialDeepStrictEqual(lintSarif(report, '1.2.3'), {
      runs: [
        {
          tool: {
            driver: {
              rules: [
                { id: 'CCM-T02' },
                {
                  id: 'CCM-W31',
                  shortDescription: { text: 'the managed namespace' },
                  fullDescription: {
                    text: 'the operator watches its operands in one namespace; roles may be in kube-system, too',
                  },
                  help: { text: 'set metadata.namespace to the managed namespace (npx slipway explain CCM-W31)' },
                },
              ],
            },
          },
        },
      ],
    });
  });

  const folders: readonly { name: string; given: Given; want: readonly string[] }[] = [
    {
      name: 'assets and bootstrap, in which Pods are static pods and nothing else is',
      given: {
        path: 'acme',
        files: {
          'acme/assets/a.yaml': CONFIG_MAP,
          'acme/assets/ignored.txt': 'x',
          'acme/bootstrap/b.yml': CONFIG_MAP,
          'acme/values.yaml': 'a: 1\n',
        },
      },
      want: ['acme/assets/a.yaml:5:3 CCM-W31', 'acme/bootstrap/b.yml:1:1 CCM-B01'],
    },
    {
      name: 'YAML files, in which Pods are static pods',
      given: {
        files: {
          'a.yaml': acmeText('pod', ['namespace: kube-system', 'namespace: default']),
          'b.yml': CONFIG_MAP,
          '.hidden.yaml': CONFIG_MAP,
        },
        hasCloudConfig: true,
      },
      want: ['a.yaml:5:3 CCM-B07', 'b.yml:5:3 CCM-W31'],
    },
    {
      name: 'a Pod without a cloud configuration',
      given: { path: 'a.yaml', files: { 'a.yaml': acmeText('pod', ['- --cloud-config\n', '- --x\n']) } },
      want: [],
    },
    {
      name: 'a Pod that must use the cloud configuration',
      given: {
        path: 'a.yaml',
        files: { 'a.yaml': acmeText('pod', ['- --cloud-config\n', '- --x\n']) },
        hasCloudConfig: true,
      },
      want: ['a.yaml:11:3 CCM-B04'],
    },
    {
      name: 'YAML files in manifests, where nothing else is',
      given: { files: { 'manifests/a.yaml': CONFIG_MAP, 'README.md': 'x' } },
      want: ['manifests/a.yaml:5:3 CCM-W31'],
    },
    {
      name: 'manifests of an operator of its own',
      given: {
        path: 'a.yaml',
        files: { 'a.yaml': `${CONFIG_MAP}---\n${CONFIG_MAP.replace('default', '{{ .managedNamespace }}')}` },
        managedNamespace: 'default',
      },
      want: [],
    },
    {
      name: 'a request for credentials beside manifests, although it was rendered',
      given: { files: { 'assets/a.yaml': CONFIG_MAP, 'b.yaml': `${header('cloud-operator')}${CONFIG_MAP}` } },
      want: ['assets/a.yaml:5:3 CCM-W31'],
    },
    {
      name: 'an empty file',
      given: { path: 'a.yaml', files: { 'a.yaml': '' } },
      want: ['a.yaml:undefined:undefined CCM-T02'],
    },
    { name: 'no YAML', given: { path: 'a.yaml', files: { 'a.yaml': 'a: b: c\n' } }, want: ['a.yaml:1:1 CCM-T02'] },
  ];
  for (const { name, given, want } of folders) {
    it(`operator/case 21: takes ${name}`, async () => assert.deepEqual(await places(given), want));
  }

  it('experience/X41: leaves a folder with a definition to those who know definitions', async () => {
    const files = { 'provider.ts': 'export const a = 1;\n', 'assets/a.yaml': CONFIG_MAP };
    assert.deepEqual(await places({ files }), ['provider.ts:undefined:undefined SW2103']);
    await assert.rejects(lint({ files, hasCloudConfig: true }), {
      exitCode: 2,
      message: '--cloud-config is about manifests, and the definition of a provider has none',
    });
    await assert.rejects(lint({ files, managedNamespace: 'a' }), {
      exitCode: 2,
      message: '--namespace is about manifests, and the definition of a provider has none',
    });
    await assert.rejects(lint({ path: 'slipway.yaml', files: { 'slipway.yaml': 'spec: {}\n' } }), {
      code: 'SW2103',
    });
  });

  for (const [what, installed] of [
    ['cloud-operator', 'the cloud operator'],
    ['deploy', 'a provider without an operator'],
  ] as const) {
    it(`experience/X41: says of files of render ${what} in one sentence what they are, and what to check`, async () => {
      for (const path of ['out', 'out/manifests', 'out/manifests/a.yaml']) {
        const given = { path, files: { 'out/manifests/a.yaml': `${header(what)}${CONFIG_MAP}` } };
        await assert.rejects(lint(given), {
          exitCode: 2,
          message: `out/manifests/a.yaml is what installs ${installed}, written by slipway render ${what}: there are no rules for it. Check the definition of the provider instead, or manifests that an operator applies`,
        });
      }
    });
  }

  it('experience/X41: refuses a namespace that can be none', () =>
    assert.rejects(lint({ files: { 'a.yaml': CONFIG_MAP }, managedNamespace: 'A b' }), {
      exitCode: 2,
      message: /^--namespace "A b" /,
    }));

  it('experience/X41: writes words such as YAML as they are', async () => {
    const report = await lint({ files: { 'a.yaml': 'null\n' } });
    assert.match(lintText(report, { durationMs: 0, isFailed: true }), / \^+ YAML of one object/);
  });

  const refused: readonly { name: string; given: Given; says: string }[] = [
    {
      name: 'an empty folder',
      given: { path: '.', files: {} },
      says: `there is nothing to check in .: ${NOTHING}`,
    },
    {
      name: 'a folder without YAML',
      given: { path: 'a', files: { 'a/assets/README.md': 'x', 'a/bootstrap': 'x' } },
      says: `there is nothing to check in a: ${NOTHING}`,
    },
    {
      name: 'what is neither file nor folder',
      given: { path: 'nope', files: {} },
      says: 'there is no nope. Name a definition such as provider.ts, manifests, or their folder',
    },
    {
      name: 'a file that is not there',
      given: { path: 'gone.yaml', files: {} },
      says: 'the manifest gone.yaml cannot be read: there is no such file',
    },
    {
      name: 'a folder with the name of a file',
      given: { path: '.', files: { 'x.yaml/a.txt': '' } },
      says: 'the manifest x.yaml cannot be read: it is a folder',
    },
  ];
  for (const { name, given, says } of refused) {
    it(`experience/X41: refuses ${name} with one message`, () =>
      assert.rejects(lint(given), { code: 'SW2105', exitCode: 2, message: says }));
  }
});
