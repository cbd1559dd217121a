import { CoreV1Api, KubeConfig, makeInformer } from '@kubernetes/client-node';
import { Arrivals, inputEnd, memory, positionals, requests, say, sleep, stopwatch, values } from './figures.mjs';

const config = new KubeConfig();
config.loadFromDefault();
const core = config.makeApiClient(CoreV1Api);
const { namespace } = values;

const configMaps = () =>
  makeInformer(config, `/api/v1/namespaces/${namespace}/configmaps`, () =>
    core.listNamespacedConfigMap({ namespace }),
  );

const TASKS = {
  requests: () => requests((at) => core.readNamespacedConfigMap({ namespace, name: `read-${at}` })),
  sync: async () => {
    const taken = stopwatch();
    const informer = configMaps();
    await informer.start();
    const { length } = informer.list();
    return { ...taken(length), ...memory() };
  },
  latency: async () => {
    const arrivals = new Arrivals();
    const informer = configMaps();
    informer.on('update', (object) => arrivals.note(object.data?.mark));
    await informer.start();
    await sleep(500);
    const taken = arrivals.start();
    await say('ready');
    await inputEnd();
    return arrivals.figures(taken);
  },
};

const task = TASKS[positionals[0]];
await say(task === undefined ? 'cannot' : await task());
process.exit(0);
