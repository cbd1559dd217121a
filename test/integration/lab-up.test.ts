// `slipway up` with its lab, as users start it: what it shows, what it leaves, and what it finds again.
import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type JourneyEvent, WHOLE_JOURNEY } from '../../src/api/journey.ts';
import { ECHO_MS } from '../../src/app/host.ts';
import { scratchDirectory, until } from '../support/scratch.ts';
import {
  descendants,
  helloOf,
  isAlive,
  isInstalling,
  listeners,
  portsOf,
  type Run,
  up,
} from '../support/up-run.ts';

const SCENARIO = join(import.meta.dirname, '..', '..', 'examples', 'lab', 'scenario.yaml');

/** What the load balancer answers. */
async function balancedText(run: Run): Promise<string> {
  const end = run.events().find(({ phase, kind }) => phase === 'cloud' && kind === 'end');
  const url = end?.addresses?.find(({ label }) => label === 'load balancer')?.value ?? '';
  return (await fetch(url)).text();
}

describe('slipway up with its lab', { skip: process.platform !== 'linux' && 'looks into /proc' }, () => {
  it('lab/P15: shows hosts and the process of a pod, ends everything on Ctrl-C, and finds it again', async () => {
    await using folder = await scratchDirectory();
    const first = up(folder.path);
    const end = await first.cluster();
    assert.equal(end.health, 'done', JSON.stringify(end));
    assert.match(end.detail, /^5 of 5 hosts, OpenShift 4\.20\.\d+, no bootstrap node$/);
    assert.deepEqual(
      end.addresses?.map(({ label }) => label),
      ['cluster', 'assisted-service'],
    );
    assert.deepEqual(
      end.tries?.map(({ text }) => text),
      [
        'kubectl --kubeconfig .slipway/lab/acme-lab.kubeconfig get nodes -o wide',
        'npx slipway describe cluster acme-lab --kubeconfig .slipway/kubeconfig',
      ],
    );
    const { pod, pid } = await helloOf(first);
    assert.ok(isAlive(pid));
    const whole = await first.seen(
      'the end of the journey',
      ({ phase, kind }) => phase === WHOLE_JOURNEY && kind === 'end',
    );
    assert.equal(whole.health, 'done', JSON.stringify(whole));
    assert.equal(await balancedText(first), `hello from ${pod}, process ${pid}\n`);
    const [ports, processes] = [portsOf(first.pid), descendants(first.pid)];
    assert.ok(ports.length > 0 && processes.includes(pid), `${ports.join()} ${processes.join()}`);
    first.child.kill('SIGINT');
    assert.equal(await first.exit, 0);
    assert.deepEqual(processes.filter(isAlive), []);
    const left = new Set(listeners().map(({ address }) => address));
    assert.deepEqual(
      ports.filter((port) => left.has(port)),
      [],
    );

    const second = up(folder.path, '--once');
    assert.equal(await second.exit, 0, second.errors());
    const again = await helloOf(second);
    assert.equal(again.pod, pod);
    assert.notEqual(again.pid, pid);
    assert.ok(!isAlive(again.pid));
  });

  for (const { name, isReached } of [
    {
      name: 'the lab starts',
      isReached: ({ phase, kind }: JourneyEvent) => phase === 'cluster' && kind === 'start',
    },
    { name: 'hosts are installed', isReached: isInstalling },
  ])
    it(`lab/P15: is over within seconds when it is interrupted while ${name}, and leaves nothing`, async () => {
      await using folder = await scratchDirectory();
      const run = up(folder.path);
      await run.seen(name, isReached);
      const processes = descendants(run.pid);
      run.child.kill('SIGINT');
      assert.equal(await run.exit, 130, run.errors());
      const end = await run.cluster();
      assert.deepEqual([end.health, end.detail], ['skipped', 'interrupted']);
      const said = run.events().map(({ detail }) => detail);
      assert.ok(said.includes('stopped the lab'), said.join('\n'));
      assert.match(said.at(-1) ?? '', /^everything is stopped; data stays in \.slipway/);
      assert.deepEqual(processes.filter(isAlive), []);
    });

  it('lab/P15: kills the processes of the lab at the second Ctrl-C', async () => {
    await using folder = await scratchDirectory();
    const run = up(folder.path);
    const { pid } = await helloOf(run);
    process.kill(pid, 'SIGSTOP');
    run.child.kill('SIGINT');
    await run.seen('the stop', ({ detail }) => detail === 'stopping…');
    await sleep(2 * ECHO_MS);
    run.child.kill('SIGINT');
    assert.equal(await run.exit, 130);
    await until(() => !isAlive(pid), 'the process of the pod is gone');
  });

  it('lab/B4: starts the lab of a scenario', async () => {
    await using folder = await scratchDirectory();
    const run = up(folder.path, '--once', '--scenario', SCENARIO);
    assert.equal(await run.exit, 0, run.errors());
    const { detail, addresses = [], tries = [] } = await run.cluster();
    assert.equal(detail, '2 clusters, 4 nodes, a cloud');
    assert.deepEqual(
      addresses.map(({ label }) => label),
      ['cluster hub', 'cluster c1', 'cloud'],
    );
    assert.match(tries[1]?.text ?? '', /^kubectl --kubeconfig \.slipway\/lab-scenario\/c1\.kubeconfig get nodes$/);
    const cloud = JSON.parse(readFileSync(join(folder.path, '.slipway/lab-scenario/cloud.json'), 'utf8'));
    assert.equal(cloud.url, addresses.at(-1)?.value);
    const [{ clientSecret }] = cloud.credentials;
    assert.ok(!JSON.stringify(run.events()).includes(clientSecret), 'a secret is in an event');
  });

  it('lab/B4: refuses a scenario before anything is started', async () => {
    await using folder = await scratchDirectory();
    writeFileSync(join(folder.path, 'lab.yaml'), 'clusters:\n  - name: a\n    worker: 2\n');
    const run = up(folder.path, '--scenario', 'lab.yaml');
    assert.equal(await run.exit, 2);
    assert.match(run.errors(), /lab\.yaml:3: clusters\.0\.worker is unknown: did you mean workers\?/);
    assert.ok(!existsSync(join(folder.path, '.slipway')));
  });
});
