// A lab that is a process of its own, for tests that kill it. Its options are the first argument, its pods the second.
// It says on standard output what it has come to, one JSON object each line, and ends in order when its input ends.
import { Pod } from '../../src/api/generated/core-v1.ts';
import { type LabOptions, startLab } from '../../src/lab/index.ts';
import { IMAGES, pictureOf } from './lab-trial.ts';

const say = (words: object): void => void process.stdout.write(`${JSON.stringify(words)}\n`);

const options: LabOptions = JSON.parse(process.argv[2] ?? '{}');
const specs: Readonly<Record<string, Pod['spec']>> = JSON.parse(process.argv[3] ?? '{}');

const lab = await startLab({ nodes: 1, images: IMAGES, ...options });
const { client, url } = lab.cluster();
say({ event: 'started', directory: lab.directory, url });
for (const [name, spec] of Object.entries(specs)) {
  const metadata = { namespace: 'default', name };
  if ((await client.find(Pod, metadata)) === undefined) await client.create(Pod, { metadata, spec });
}
const pictures = async () =>
  (await client.list(Pod, { namespace: 'default' })).items.map((pod) => ({
    name: pod.metadata.name,
    address: pod.status?.podIP,
    ...pictureOf(pod),
  }));
await lab.until(async () => (await pictures()).every(({ ready }) => ready === 'True'), { within: '3m' });
say({ event: 'up', pods: await pictures() });
process.stdin.resume().once('end', () => {
  void lab[Symbol.asyncDispose]().then(() => say({ event: 'ended' }));
});
