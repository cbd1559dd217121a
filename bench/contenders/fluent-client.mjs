import { K8s, kind } from 'kubernetes-fluent-client';
import { Arrivals, inputEnd, memory, positionals, requests, say, sleep, stopwatch, values } from './figures.mjs';

const { namespace } = values;
const configMaps = () => K8s(kind.ConfigMap).InNamespace(namespace);

const TASKS = {
  requests: () => requests((at) => configMaps().Get(`read-${at}`)),
  // It keeps no objects for its users; what is measured is the time until all were told, and what it holds itself.
  sync: async () => {
    const taken = stopwatch();
    const told = Promise.withResolvers();
    let count = 0;
    const watcher = configMaps().Watch(() => {
      if (++count >= Number(values.count)) told.resolve();
    });
    await watcher.start();
    await told.promise;
    return { ...taken(count), ...memory() };
  },
  latency: async () => {
    const arrivals = new Arrivals();
    const watcher = configMaps().Watch((object) => arrivals.note(object.data?.mark));
    await watcher.start();
    await sleep(2000);
    const taken = arrivals.start();
    await say('ready');
    await inputEnd();
    return arrivals.figures(taken);
  },
};

const task = TASKS[positionals[0]];
await say(task === undefined ? 'cannot' : await task());
process.exit(0);
