import { Pod } from '../../api/generated/core-v1.ts';
import type { ImageCatalogue, Lab } from '../../lab/index.ts';
import { slipwayImages } from '../cloud/slipway-image.ts';

const IMAGE = 'slipway.dev/node';
const PORT = 8080;
const PROGRAM = `const { createServer } = require('node:http');
const text = 'hello from ' + process.env.HOSTNAME + ', process ' + process.pid + '\\n';
createServer((request, response) => response.end(text)).listen(${PORT}, () => console.log('listening'));
process.on('SIGTERM', () => process.exit(0));`;

/** What pods of the journey run: programs of Node, and Slipway itself. */
export const helloImages = (): ImageCatalogue => ({ [IMAGE]: { argv: ['node'] }, ...slipwayImages() });

/** One Deployment whose only pod runs as a process of this machine. */
const manifest = JSON.stringify({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'hello', namespace: 'default' },
  spec: {
    replicas: 1,
    selector: { matchLabels: { app: 'hello' } },
    template: {
      metadata: { labels: { app: 'hello' } },
      spec: {
        containers: [
          {
            name: 'hello',
            image: IMAGE,
            args: ['-e', PROGRAM],
            ports: [{ containerPort: PORT }],
            readinessProbe: { httpGet: { port: PORT }, periodSeconds: 1 },
          },
        ],
      },
    },
  },
});

/** Of the Service below. */
export const HELLO_SERVICE = { namespace: 'default', name: 'hello' } as const;

/** Brings the pod to the outside, through a load balancer of the cloud. */
export const helloServiceManifest = JSON.stringify({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: HELLO_SERVICE,
  spec: { type: 'LoadBalancer', selector: { app: 'hello' }, ports: [{ port: 80, targetPort: PORT }] },
});

/** The pod of the Deployment, which has answered. */
export interface Hello {
  readonly pod: string;
  readonly node: string;
  /** Of the process on this machine. */
  readonly pid: string;
}

const ANSWER_MS = 2000;

/** Starts it and waits until it has answered. Rejects with a picture of why it does not. */
export async function startHello(lab: Lab, signal: AbortSignal): Promise<Hello> {
  const cluster = lab.cluster();
  await cluster.apply(manifest);
  let hello: Hello | undefined;
  await lab.until(
    async () => {
      const rollout = await cluster.rolledOut('default', 'hello');
      hello = rollout.isDone ? await answer(lab, signal) : undefined;
      return { ...rollout, isDone: hello !== undefined };
    },
    { within: '1m' },
  );
  if (hello === undefined) throw new Error('the pod of Deployment hello is ready and does not answer');
  return hello;
}

/** Undefined when nobody answers: at a second start, the pod of the first is still shown as ready for a moment. */
async function answer(lab: Lab, signal: AbortSignal): Promise<Hello | undefined> {
  const { items } = await lab.cluster().client.list(Pod, { namespace: 'default', labels: { app: 'hello' } });
  const [found] = items.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  const { podIP } = found?.status ?? {};
  if (found === undefined || podIP === undefined) return undefined;
  const url = lab.urlOf(podIP, PORT);
  try {
    const limit = AbortSignal.any([signal, AbortSignal.timeout(ANSWER_MS)]);
    const said = await (await fetch(url, { signal: limit })).text();
    const [, pid] = /, process (\d+)\n$/.exec(said) ?? [];
    return pid === undefined ? undefined : { pod: found.metadata.name, node: found.spec.nodeName ?? '', pid };
  } catch {
    return undefined;
  }
}
