import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { SystemClock } from '../../base/clock.ts';
import type { VerbContext } from '../verb.ts';
import { runComponent } from './run-component.ts';

const CCM = 'cloud-controller-manager';

function setUp(folder = '/nonexistent') {
  const [out, err]: [string[], string[]] = [[], []];
  const output = {
    result: (text: string) => void out.push(text),
    hint: (text: string) => void err.push(text),
    show: () => ({ [Symbol.dispose]: () => {} }),
  };
  const env = { KUBECONFIG: '/nonexistent/kubeconfig' };
  const context: VerbContext = { output, clock: new SystemClock(), signal: AbortSignal.abort(), folder, env };
  return { run: (...words: string[]) => runComponent(context, words), out, err };
}

describe('slipway run', () => {
  it('names the components when there is none of that name', async () => {
    const { run } = setUp();
    await assert.rejects(run('nope'), { exitCode: 2, message: /there is no component "nope"; there are: cloud-/ });
    await assert.rejects(run('cloud-controler-manager'), { message: /Did you mean cloud-controller-manager/ });
  });

  it('ccm/P4: a wrong flag ends with code 2 and its reason on standard error', async () => {
    const { run, out, err } = setUp();
    assert.equal(await run(CCM, '--cloud-provider=lab', '--concurrent-node-syncs=0'), 2);
    assert.deepEqual(out, []);
    assert.match(err.join('\n'), /concurrent-node-syncs must be a positive number/);
  });

  it('experience/X10: shows a whole command line to whoever gives no flags', async () => {
    const { run, err } = setUp();
    assert.equal(await run(CCM), 2);
    assert.match(err.at(-1) ?? '', /^Example: npx slipway run cloud-controller-manager --cloud-provider=lab /);
    assert.equal(await run(CCM, '--v=1'), 2);
    assert.doesNotMatch(err.at(-1) ?? '', /Example/);
  });

  it('shows the flags of the component', async () => {
    const { run, out } = setUp();
    assert.equal(await run(CCM, '--help'), 0);
    assert.match(out.join(''), /^Usage: slipway run cloud-controller-manager \[flags\]/);
  });

  const flags = ['--configure-cloud-routes=false', '--secure-port=0'];

  it('ccm/P7: knows the provider of the lab, and takes others from files; KUBECONFIG is honoured', async () => {
    const { run, err } = setUp();
    assert.equal(await run(CCM, '--cloud-provider=aws', ...flags), 2);
    assert.match(err.pop() ?? '', /unknown cloud provider "aws"/);
    assert.equal(await run(CCM, '--cloud-provider=lab', ...flags), 2);
    assert.match(err.pop() ?? '', /KUBECONFIG names \/nonexistent\/kubeconfig/);
  });

  it('ccm/P7: says what is wrong with a definition', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'ccm-run-'));
    await writeFile(join(folder, 'provider.mjs'), 'export default { name: "acme" };\n');
    const { run, err } = setUp(folder);
    assert.equal(await run(CCM, '--cloud-provider=acme', '--provider=provider.mjs', ...flags), 2);
    assert.match(err.join(''), /Cannot start.*provider\.mjs/s);
    await rm(folder, { recursive: true });
  });
});
