// Our runtime as a contender, in the form users install (dist/): the same tasks, flags and figures as the others (bench/contenders, oracles/controller-runtime).
import { homedir } from 'node:os';
import process from 'node:process';
import * as apps from 'slipway/api/apps-v1';
import * as batch from 'slipway/api/batch-v1';
import { Lease } from 'slipway/api/coordination-v1';
import * as core from 'slipway/api/core-v1';
import { Ingress } from 'slipway/api/networking-v1';
import { Role, RoleBinding } from 'slipway/api/rbac-v1';
import { StorageClass } from 'slipway/api/storage-v1';
import {
  Channel,
  controllerFor,
  controllerOf,
  createManager,
  DONE,
  loadKubeconfig,
  SILENT_LOG,
  SystemClock,
} from 'slipway/kube';
import {
  Arrivals,
  inputEnd,
  memory,
  positionals,
  requests,
  say,
  sleep,
  stopwatch,
  values,
} from '../contenders/figures.mjs';

const { ConfigMap } = core;
const { namespace } = values;
const clock = new SystemClock();

async function newManager(namespaces = [namespace]) {
  const kube = await loadKubeconfig({ env: process.env, homeDir: homedir(), clock });
  return createManager({
    kube,
    name: 'bench',
    log: SILENT_LOG,
    clock,
    selfCheck: false,
    ...(namespaces.length > 0 && { namespaces }),
  });
}

async function run(manager) {
  manager.start(new AbortController().signal).catch((error) => {
    throw error;
  });
  await manager.whenLeading();
}

const IDLE_KINDS = [
  core.Pod,
  core.Service,
  core.ConfigMap,
  core.Secret,
  core.Node,
  core.Namespace,
  core.ServiceAccount,
  core.PersistentVolume,
  core.PersistentVolumeClaim,
  apps.Deployment,
  apps.ReplicaSet,
  apps.DaemonSet,
  apps.StatefulSet,
  batch.Job,
  batch.CronJob,
  Lease,
  Role,
  RoleBinding,
  Ingress,
  StorageClass,
];

const TASKS = {
  requests: async () => {
    const { client } = await newManager();
    return requests((at) => client.live.get(ConfigMap, { namespace, name: `read-${at}` }));
  },
  sync: async () => {
    const taken = stopwatch();
    const manager = await newManager();
    const informer = manager.cache.informer(ConfigMap);
    const { synced } = informer.subscribe(() => {});
    void manager.start(new AbortController().signal);
    await synced;
    const { length } = informer.list();
    return { ...taken(length), ...memory() };
  },
  latency: async () => {
    const arrivals = new Arrivals();
    const manager = await newManager();
    manager.add(
      controllerFor(ConfigMap).reconcile({
        reconcile: ({ data }) => {
          arrivals.note(data?.mark);
          return Promise.resolve(DONE);
        },
      }),
    );
    await run(manager);
    await sleep(500);
    const taken = arrivals.start();
    await say('ready');
    await inputEnd();
    return arrivals.figures(taken);
  },
  noop: async () => {
    const count = Number(values.count);
    const manager = await newManager();
    const channel = new Channel();
    const finished = Promise.withResolvers();
    let done = 0;
    manager.add(
      controllerOf('noop')
        .watchesChannel(channel)
        .reconcileKeys(() => {
          if (++done === count) finished.resolve();
          return Promise.resolve(DONE);
        }),
    );
    await run(manager);
    const taken = stopwatch();
    for (let at = 0; at < count; at++) channel.send({ namespace, name: `key-${at}` });
    await finished.promise;
    return taken(count);
  },
  idle: async () => {
    const manager = await newManager([]);
    const synced = IDLE_KINDS.map((kind) => manager.cache.informer(kind).subscribe(() => {}).synced);
    void manager.start(new AbortController().signal);
    await Promise.all(synced);
    await sleep(2000);
    const taken = stopwatch();
    await sleep(Number(values.seconds) * 1000);
    const figures = taken(IDLE_KINDS.length);
    return { ...figures, rssBytes: memory().rssBytes };
  },
};

const task = TASKS[positionals[0] ?? ''];
await say(task === undefined ? 'cannot' : await task());
process.exit(0);
