// A lab on a file system that becomes full, for a test that gives it one of its own. Tells what it saw as JSON.
import { closeSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ConfigMap, Pod } from '../../src/api/generated/core-v1.ts';
import { messageOf } from '../../src/base/errors.ts';
import { LabTrial, pictureOf } from './lab-trial.ts';

const [, , disk = '', kind = ''] = process.argv;
const ballast = join(disk, 'ballast');

/** Takes all the room there is; what a log or the store gives back meanwhile, the next time. */
function fill(): void {
  const file = openSync(ballast, 'a');
  try {
    for (const size of [65_536, 4096, 1]) writeAll(file, Buffer.alloc(size));
  } finally {
    closeSync(file);
  }
}

function writeAll(file: number, piece: Buffer): void {
  try {
    for (;;) writeSync(file, piece);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOSPC')) throw error;
  }
}

const told = <T>(asked: Promise<T>): Promise<string> =>
  asked.then(
    () => 'done',
    (error: unknown) => messageOf(error),
  );

const sh = (text: string): Pod['spec'] => ({ containers: [{ name: 'c', image: 'sh', args: [text] }] });

const options = { crashLoopMaxMs: 1000, ...(kind === 'durable' && { data: join(disk, 'd') }) };
fill();
const start = await told(LabTrial.start(options));
rmSync(ballast);
const trial = await LabTrial.start(options);
const { cluster } = trial;
await trial.create(
  'chatty',
  sh('i=0; while :; do i=$((i+1)); echo "line $i of many that fill a disk"; sleep 0.01; done'),
);
await trial.create('quiet', sh('exec sleep 600'));
await trial.create('brief', sh('sleep 1; exit 1'));
await trial.untilReady('chatty');
await trial.untilReady('quiet');

const late = {
  ...sh('cat /config/k; exec sleep 600'),
  volumes: [{ name: 'v', configMap: { name: 'config', optional: true } }],
};
const mounted = late.containers.map((one) => ({ ...one, volumeMounts: [{ name: 'v', mountPath: '/config' }] }));

/** Asks while there is no room, and again if there was some after all. */
async function toldWhileFull<T>(ask: (turn: number) => Promise<T>): Promise<string> {
  for (let turn = 0; ; turn++) {
    fill();
    const answer = await told(ask(turn));
    if (answer !== 'done' || kind !== 'durable' || turn > 50) return answer;
  }
}

fill();
await sleep(500);
const configMap = (turn: number) => ({
  metadata: { namespace: 'default', name: turn === 0 ? 'config' : `config-${turn}` },
  data: { k: 'x'.repeat(10_000) },
});
const whileFull = {
  write: await toldWhileFull((turn) => cluster.client.create(ConfigMap, configMap(turn))),
  read: (await cluster.client.list(Pod, { namespace: 'default' })).items.length,
  pod: await told(trial.create('late', { ...late, containers: mounted })),
};
fill();
await sleep(3000);
const pods = async () =>
  Object.fromEntries(
    (await cluster.client.list(Pod, { namespace: 'default' })).items.map((pod) => [
      pod.metadata.name,
      pictureOf(pod),
    ]),
  );
const full = {
  ...whileFull,
  pods: await pods(),
  events: await trial.events('late'),
  brief: await trial.events('brief'),
};

rmSync(ballast);
const again = async (): Promise<boolean> => {
  if ((await trial.pod('late')) === undefined) await told(trial.create('late', { ...late, containers: mounted }));
  return pictureOf(await trial.pod('late')).ready === 'True';
};
const recovered = await told(trial.lab.until(again, { within: '60s' }));
const lines = async () => (await cluster.logs({ namespace: 'default', name: 'chatty' })).trim().split('\n').length;
const starts = () => trial.picture('brief').then(({ restarts }) => restarts);
const startsBefore = await starts();
await trial.lab.until(async () => (await starts()) > startsBefore, { within: '30s' });
const before = await lines();
await sleep(500);
const report = { start, full, recovered, pods: await pods(), isLogging: (await lines()) > before };
const ended = await told(trial[Symbol.asyncDispose]());
process.stdout.write(JSON.stringify({ ...report, ended }));
