import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { SystemClock } from '../../base/clock.ts';
import type { VerbContext } from '../verb.ts';
import { runComponent } from './run-component.ts';

function setUp(env: VerbContext['env'] = {}) {
  const [out, err]: [string[], string[]] = [[], []];
  const output = {
    result: (text: string) => void out.push(text),
    hint: (text: string) => void err.push(text),
    show: () => ({ [Symbol.dispose]: () => {} }),
  };
  const context: VerbContext = {
    output,
    clock: new SystemClock(),
    signal: AbortSignal.abort(),
    folder: '/nonexistent',
    env: { KUBECONFIG: '/nonexistent/kubeconfig', ...env },
  };
  return { run: (...words: string[]) => runComponent(context, words), out, err };
}

/** How far a program comes whose flags are right. */
const NO_CLUSTER = /KUBECONFIG names \/nonexistent\/kubeconfig/;
const NAMES = ['agent-bootstrap', 'agent-control-plane'] as const;

describe('slipway run, for the Agent providers', () => {
  for (const words of [[NAMES[0]], [NAMES[1]], [...NAMES]]) {
    it(`agent/P1: ${words.join(' ')} takes the flags of upstream, and no others`, async () => {
      const { run, err } = setUp();
      const flags = ['--leader-elect', '--metrics-bind-address=0', '--health-probe-bind-address=:0', '-v=3'];
      assert.equal(await run(...words, ...flags, '--webhook-port=0'), 2);
      assert.match(err.pop() ?? '', NO_CLUSTER);
      assert.equal(await run(...words, '--leader-elekt'), 2);
      assert.match(err.pop() ?? '', /--leader-elekt/);
    });

    it(`agent/P1: ${words.join(' ')} shows its flags`, async () => {
      const { run, out } = setUp();
      assert.equal(await run(...words, '--help'), 0);
      assert.match(out.join(''), new RegExp(`^Usage: slipway run ${words.join(' ')} \\[flags\\]`));
      assert.match(out.join(''), /--webhook-cert-dir/);
    });
  }

  it('agent/E7: reads the variables of upstream', async () => {
    const { run, err } = setUp({ ASSISTED_CA_BUNDLE_NAMESPACE: '' });
    assert.equal(await run('agent-bootstrap', '--webhook-port=0'), 2);
    assert.match(err.join(''), /ASSISTED_CA_BUNDLE_NAME is .*; set both, or make both empty/);
  });

  it('shows a whole command line to whoever gives no flags', async () => {
    const { run, err } = setUp();
    assert.equal(await run('agent-bootstrap'), 2);
    assert.equal(
      err.at(-1),
      'Example: npx slipway run agent-bootstrap --kubeconfig=admin.kubeconfig --webhook-port=0',
    );
  });

  it('runs no others with them', async () => {
    const { run } = setUp();
    await assert.rejects(run('agent-bootstrap', 'cloud-operator'), {
      exitCode: 2,
      message: /do not run in one process: start each by itself \(agent-bootstrap and agent-control-plane can/,
    });
    await assert.rejects(run('cloud-operator', 'cloud-config-sync'), { exitCode: 2 });
  });
});
