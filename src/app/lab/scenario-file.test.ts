import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { scratchDirectory } from '../../../test/support/scratch.ts';
import { readScenario } from './scenario-file.ts';

describe('readScenario', () => {
  async function read(text: string) {
    await using folder = await scratchDirectory();
    const { path } = folder;
    await mkdir(join(path, 'labs'));
    await writeFile(join(path, 'labs', 'two.yaml'), text);
    for (const program of ['labs/plugin.ts', 'tool']) await writeFile(join(path, program), '');
    return { path, scenario: await readScenario(path, 'labs/two.yaml') };
  }

  it('lab/B4: takes paths from the folder of the file, and leaves other words alone', async () => {
    const { path, scenario } = await read(`
clusters:
  - { name: hub, nodes: 1 }
  - { name: real, kubeconfig: ../admin.kubeconfig }
images:
  acme/plugin:
    argv: [node, ./plugin.ts, plugin.ts, --flag=./x]
    workdir: .
    programs: { /bin/tool: ../tool, /bin/other: other }
`);
    assert.deepEqual(scenario, {
      name: 'two',
      options: {
        clusters: [
          { name: 'hub', nodes: 1 },
          { name: 'real', kubeconfig: join(path, 'admin.kubeconfig') },
        ],
        images: {
          'acme/plugin': {
            argv: ['node', join(path, 'labs/plugin.ts'), 'plugin.ts', '--flag=./x'],
            workdir: join(path, 'labs'),
            programs: { '/bin/tool': join(path, 'tool'), '/bin/other': 'other' },
          },
        },
      },
    });
  });

  const wrong = [
    {
      name: 'a misspelt word, with its line',
      text: '\nnode: 2',
      want: 'labs/two.yaml:2: node is unknown: did you mean nodes?',
    },
    {
      name: 'a folder for data, which --data chooses',
      text: 'data: /tmp/x',
      want: /^labs\/two\.yaml: data is for tests: .* choose the folder with --data$/,
    },
    {
      name: 'automatic time',
      text: 'clock: auto',
      want: /^labs\/two\.yaml: clock: auto is for tests: .* real, or scaled:N/,
    },
  ];
  it('lab/B4: refuses a program that is not there', async () => {
    const message = /^labs\/two\.yaml: images\.a names the program .*\/labs\/nope\.ts, which is not there$/;
    await assert.rejects(read('images: { a: { argv: [node, ./nope.ts] } }'), {
      code: 'SW1004',
      exitCode: 2,
      message,
    });
  });

  it('lab/B4: takes arguments that are paths of the container', async () => {
    const argv = ['node', '--no-warnings', './plugin.ts', '--endpoint', '/csi/csi.sock', '--out', './out.json'];
    const { scenario } = await read(`images: { a: { argv: ${JSON.stringify(argv)} }, b: { argv: [tool, /x] } }`);
    assert.deepEqual(scenario.options.images?.['b']?.argv, ['tool', '/x']);
  });

  for (const { name, text, want } of wrong)
    it(`lab/B4: refuses ${name}`, async () => {
      await assert.rejects(read(text), { code: 'SW1004', exitCode: 2, message: want });
    });

  it('lab/B4: says why a file cannot be read', async () => {
    await using folder = await scratchDirectory();
    const message =
      'the scenario lab.yaml cannot be read: there is no such file. Name a YAML file that describes a lab, or leave --scenario out';
    await assert.rejects(readScenario(folder.path, 'lab.yaml'), { code: 'SW1004', exitCode: 2, message });
    await assert.rejects(readScenario(folder.path, '.'), /it is a folder/);
  });
});
