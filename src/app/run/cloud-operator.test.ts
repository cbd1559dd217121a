import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { specimenOf } from '../../../test/support/operator-lint.ts';
import { projectWith } from '../../../test/support/render-verb.ts';
import { scratchDirectory } from '../../../test/support/scratch.ts';
import { SystemClock } from '../../base/clock.ts';
import { chosenProvider } from '../cloud-operator/chosen-provider.ts';
import type { VerbContext } from '../verb.ts';
import { placeInImage } from './cloud-operator.ts';
import { RUN_COMPONENTS } from './components.ts';
import { runComponent } from './run-component.ts';

function setUp(folder: string) {
  const [out, err]: [string[], string[]] = [[], []];
  const output = {
    result: (text: string) => void out.push(text),
    hint: (text: string) => void err.push(text),
    show: () => ({ [Symbol.dispose]: () => {} }),
  };
  const env = { KUBECONFIG: '/nonexistent/kubeconfig' };
  const context: VerbContext = { output, clock: new SystemClock(), signal: AbortSignal.abort(), folder, env };
  const run = async (...words: string[]) => {
    err.length = 0;
    const code = await runComponent(context, words);
    return { code, out: out.join(''), err: err.join('\n') };
  };
  return { run };
}

const PROGRAMS = ['cloud-operator', 'cloud-config-sync'] as const;
/** How far a program comes whose flags are right. */
const NO_CLUSTER = /KUBECONFIG names \/nonexistent\/kubeconfig/;

describe('slipway run, for the programs of the cloud operator', () => {
  it('knows them', () => {
    const names = RUN_COMPONENTS.map(({ name }) => name);
    assert.deepEqual(names, [
      'cloud-controller-manager',
      'cloud-operator',
      'cloud-config-sync',
      'azure-config-credentials-injector',
      'agent-bootstrap',
      'agent-control-plane',
    ]);
  });

  for (const { name, example } of RUN_COMPONENTS) {
    it(`shows the flags of ${name}, and a whole command line that begins with it`, async () => {
      await using folder = await scratchDirectory();
      const { code, out } = await setUp(folder.path).run(name, '--help');
      assert.equal(code, 0);
      assert.match(out, new RegExp(`^Usage: slipway run ${name}`));
      assert.ok(example.startsWith(`slipway run ${name} --`));
      assert.doesNotMatch(out, /SLIPWAY_|One of ,|Default .*Default/);
    });
  }

  for (const name of PROGRAMS) {
    it(`operator/R1: ${name} takes the flags of upstream in both spellings, and no others`, async () => {
      await using folder = await scratchDirectory();
      const { run } = setUp(folder.path);
      const flags = ['--leader-elect=true', '--leader-elect-lease-duration', '137s', '--health-addr=127.0.0.1:0'];
      assert.match((await run(name, ...flags, '-v=2')).err, NO_CLUSTER);
      const { code, err } = await run(name, '--leader-elekt=true');
      assert.equal(code, 2);
      assert.match(err, /leader-elekt/);
    });

    it(`${name} takes a platform by its id`, async () => {
      await using folder = await scratchDirectory();
      const { run } = setUp(folder.path);
      for (const words of [['--provider=aws'], ['--provider', 'aws'], ['-provider=aws']])
        assert.match((await run(name, ...words)).err, NO_CLUSTER, words.join(' '));
      await assert.rejects(run(name, '--provider=awz'), { exitCode: 2, message: /Did you mean aws\?/ });
    });

    it(`${name} takes a definition, the last one when there are several`, async () => {
      await using project = await projectWith();
      const { run } = setUp(project.path);
      for (const words of [
        ['--provider=provider.ts'],
        ['--provider', '.'],
        ['--provider=nowhere.ts', '--provider=provider.ts', '--mode=sidecar'],
        ['--provider', 'aws', '--provider', 'provider.ts', '--mode=sidecar'],
      ])
        assert.match((await run(name, ...words)).err, NO_CLUSTER, words.join(' '));
      await assert.rejects(run(name, '--provider=nowhere.ts'), { exitCode: 2, message: /nowhere\.ts/ });
    });

    it(`${name} says itself that a value is missing, and that a mode does not fit`, async () => {
      await using folder = await scratchDirectory();
      const { run } = setUp(folder.path);
      const { code, err } = await run(name, '--provider');
      assert.equal(code, 2);
      assert.match(err, /provider/);
      assert.match((await run(name, '--mode=sidecar')).err, /--mode=sidecar needs --provider/);
    });
  }

  it('the operand has the definition by its absolute path, or where images have it', async () => {
    await using project = await projectWith();
    const file = join(project.path, 'provider.ts');
    const cases = [
      { word: file, want: file },
      { word: 'provider.ts', want: '/provider/provider.ts' },
      { word: '.', want: '/provider/provider.ts' },
    ];
    for (const { word, want } of cases) {
      const { registry, id } = await chosenProvider(project.path, word, placeInImage(word));
      const provider = registry.providers().find(({ definition }) => definition.id === id);
      assert.ok(provider);
      const [deployment] = provider.getResources(specimenOf(provider.definition));
      assert.match(JSON.stringify(deployment), new RegExp(`"--provider=${want}"`));
    }
  });

  it('operator/R84: azure-config-credentials-injector runs once, with the flags of upstream', async () => {
    await using folder = await scratchDirectory();
    const { run } = setUp(folder.path);
    const file = (name: string) => join(folder.path, name);
    await writeFile(file('cloud.conf'), '{"cloud": "AzurePublicCloud"}');
    for (const name of ['azure_client_id', 'azure_client_secret']) await writeFile(file(name), name);
    const { code, err } = await run(
      'azure-config-credentials-injector',
      `--cloud-config-file-path=${file('cloud.conf')}`,
      `--output-file-path=${file('merged.conf')}`,
      `--creds-path=${folder.path}`,
    );
    assert.equal(code, 0, err);
  });
});
