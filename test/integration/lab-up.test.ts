// `slipway up` with its lab, as users start it: what it shows, what it leaves, and what it finds again.
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { type JourneyEvent, WHOLE_JOURNEY } from '../../src/api/journey.ts';
import { scratchDirectory, until } from '../support/scratch.ts';

const MAIN = join(import.meta.dirname, '..', '..', 'src', 'cli', 'main.ts');
const SCENARIO = join(import.meta.dirname, '..', '..', 'examples', 'lab', 'scenario.yaml');

const started = new Set<ChildProcess>();
after(() => {
  for (const child of started) child.kill('SIGKILL');
});

/** A run of the program whose events are read. */
function up(folder: string, ...words: readonly string[]) {
  const args = ['--conditions=slipway-source', MAIN, 'up', '--output', 'json', ...words];
  const { PATH, HOME } = process.env;
  const child = spawn(process.execPath, args, { cwd: folder, env: { PATH, HOME, LANG: 'C.UTF-8' } });
  started.add(child);
  let [text, errors] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
  });
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    errors += chunk;
  });
  const events = (): readonly JourneyEvent[] =>
    text
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line));
  const seen = async (what: string, isSeen: (event: JourneyEvent) => boolean): Promise<JourneyEvent> => {
    await until(() => events().some(isSeen) || child.exitCode !== null, what);
    return events().find(isSeen) ?? assert.fail(`${what}: not seen in\n${text}${errors}`);
  };
  return {
    child,
    events,
    errors: () => errors,
    seen,
    lab: () => seen('the end of the lab', ({ phase, kind }) => phase === 'cluster' && kind === 'end'),
    exit: once(child, 'close').then(([code]) => Number(code)),
  };
}

type Run = ReturnType<typeof up>;

/** The pod and its process, as the row tells them. */
async function helloOf(run: Run) {
  const { row } = await run.seen('the pod', ({ row: one }) => one?.path.at(-1)?.startsWith('hello-') === true);
  const [, pid] = /^process (\d+)$/.exec(row?.note ?? '') ?? [];
  return { pod: row?.path.at(-1), pid: Number(pid ?? assert.fail(JSON.stringify(row))) };
}

const isAlive = (pid: number): boolean =>
  existsSync(`/proc/${pid}/stat`) && !/\) [ZX]/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));

describe('slipway up with its lab', { skip: process.platform !== 'linux' && 'looks into /proc' }, () => {
  it('lab/P15: shows nodes and the process of a pod, ends it on Ctrl-C, and finds everything again', async () => {
    await using folder = await scratchDirectory();
    const first = up(folder.path);
    const end = await first.lab();
    assert.equal(end.health, 'done', JSON.stringify(end));
    assert.match(end.detail, /^2 nodes ready, a pod is process \d+ on w-[12]$/);
    const { pod, pid } = await helloOf(first);
    assert.ok(isAlive(pid));
    const rows = first.events().flatMap(({ row }) => (row === undefined ? [] : [row.path.join(' ')]));
    assert.deepEqual(rows.slice(0, 2), ['w-1', 'w-2']);
    const url = end.addresses?.find(({ label }) => label === 'pod hello')?.value ?? '';
    assert.equal(await (await fetch(url)).text(), `hello from ${pod}, process ${pid}\n`);
    assert.deepEqual(
      end.tries?.map(({ text }) => text.replace(/\d+/g, '0')),
      ['curl http://0.0.0.0:0', 'kill -0 0; kubectl --kubeconfig .slipway/lab/lab.kubeconfig get pods -o wide'],
    );
    await first.seen('the end of the journey', ({ phase, kind }) => phase === WHOLE_JOURNEY && kind === 'end');
    first.child.kill('SIGINT');
    assert.equal(await first.exit, 0);
    assert.ok(!isAlive(pid));

    const second = up(folder.path, '--once');
    assert.equal(await second.exit, 0, second.errors());
    const again = await helloOf(second);
    assert.equal(again.pod, pod);
    assert.notEqual(again.pid, pid);
    assert.ok(!isAlive(again.pid));
  });

  it('lab/P15: is over within seconds when it is interrupted while the lab starts, and leaves nothing', async () => {
    await using folder = await scratchDirectory();
    const run = up(folder.path);
    await run.seen('the start of the lab', ({ phase, kind }) => phase === 'cluster' && kind === 'start');
    run.child.kill('SIGINT');
    assert.equal(await run.exit, 130, run.errors());
    const end = await run.lab();
    assert.deepEqual([end.health, end.detail], ['skipped', 'interrupted']);
    const said = run.events().map(({ detail }) => detail);
    assert.ok(said.includes('stopped the lab'), said.join('\n'));
    assert.match(said.at(-1) ?? '', /^everything is stopped; data stays in \.slipway/);
  });

  it('lab/P15: kills the processes of the lab at the second Ctrl-C', async () => {
    await using folder = await scratchDirectory();
    const run = up(folder.path);
    await run.lab();
    const { pid } = await helloOf(run);
    process.kill(pid, 'SIGSTOP');
    run.child.kill('SIGINT');
    await run.seen('the stop', ({ detail }) => detail === 'stopping…');
    run.child.kill('SIGINT');
    assert.equal(await run.exit, 130);
    await until(() => !isAlive(pid), 'the process of the pod is gone');
  });

  it('lab/B4: starts the lab of a scenario', async () => {
    await using folder = await scratchDirectory();
    const run = up(folder.path, '--once', '--scenario', SCENARIO);
    assert.equal(await run.exit, 0, run.errors());
    const { detail, addresses = [], tries = [] } = await run.lab();
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
