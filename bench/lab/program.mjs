// One task on a lab in the form users install (dist/), in a process of its own. Prints its figures as one line of JSON.
//   program.mjs start|child|memory|pods|hour|rollout [--nodes N] [--pods N] [--manager FILE [--unlimited]]
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    nodes: { type: 'string', default: '0' },
    pods: { type: 'string', default: '0' },
    manager: { type: 'string' },
    unlimited: { type: 'boolean', default: false },
  },
});
const nodes = Number(values.nodes);
const pods = Number(values.pods);

const LATER_STARTS = 5;
const POLL_MS = 10;
const HOUR_MS = 3_600_000;
const CLOCK_TICKS = 100;
const KEY = { namespace: 'default', name: 'web' };

// By its path, since the package does not export it; and so that loading it is measured.
const beforeLoadMs = performance.now();
const { startLab } = await import(new URL('../../dist/lab/index.js', import.meta.url).href);
const loadMs = performance.now() - beforeLoadMs;

const cpuSeconds = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
};

/** Of another process, with what it waited for. Linux only. */
const cpuSecondsOf = (pid) => {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / CLOCK_TICKS;
};

/** Seconds and processor seconds of what is done; `others` are counted in. */
async function timed(act, others = []) {
  const cpu = () => others.reduce((sum, pid) => sum + cpuSecondsOf(pid), cpuSeconds());
  const [startedMs, cpuBefore] = [performance.now(), cpu()];
  const result = await act();
  return { result, seconds: (performance.now() - startedMs) / 1000, cpu: cpu() - cpuBefore };
}

const IMAGES = { 'bench/web': { argv: ['node', join(import.meta.dirname, 'web.mjs')], entrypoint: 2 } };

/** A Deployment that asks for nothing, so that every node has room for it. */
const deployment = ({ image, replicas, name = KEY.name, more = '' }) => `
apiVersion: apps/v1
kind: Deployment
metadata: { name: ${name}, namespace: default }
spec:
  replicas: ${replicas}
  selector: { matchLabels: { app: ${name} } }
  template:
    metadata: { labels: { app: ${name} } }
    spec:
      terminationGracePeriodSeconds: 1
      containers:
        - name: app
          image: ${image}
${more}`;
const PROBE = '          readinessProbe: { httpGet: { port: 8080 }, periodSeconds: 1 }';

/** Asked in short steps and not after every write, which would be most of the work. */
async function rolledOut(cluster, name = KEY.name) {
  while (!(await cluster.rolledOut(KEY.namespace, name)).isDone) await sleep(POLL_MS);
}

/** kube-controller-manager with nothing but what is measured, ready when it has rolled something out. */
function startManager(cluster) {
  const limits = values.unlimited ? ['--kube-api-qps=100000', '--kube-api-burst=100000'] : [];
  const child = spawn(
    values.manager,
    [
      `--kubeconfig=${cluster.kubeconfigPath}`,
      '--leader-elect=false',
      '--secure-port=0',
      '--controllers=deployment-controller,replicaset-controller',
      ...limits,
    ],
    { stdio: 'ignore' },
  );
  const ended = new Promise((resolve) => child.once('exit', resolve));
  return {
    pid: child.pid,
    [Symbol.asyncDispose]: async () => {
      child.kill('SIGKILL');
      await ended;
    },
  };
}

const TASKS = {
  /** The first lab of a process, from its start, and later ones. */
  start: async () => {
    const bootMs = beforeLoadMs;
    const first = await timed(() => startLab({ nodes }));
    const readyMs = performance.now();
    const end = await timed(() => first.result[Symbol.asyncDispose]());
    const later = [];
    for (let round = 0; round < LATER_STARTS; round++) {
      const one = await timed(() => startLab({ nodes }));
      await one.result[Symbol.asyncDispose]();
      later.push(one);
    }
    const middle = (list) => list.toSorted((a, b) => a - b)[Math.floor(list.length / 2)];
    return {
      bootMs,
      loadMs,
      readyMs,
      firstMs: first.seconds * 1000,
      firstCpuMs: first.cpu * 1000,
      laterMs: middle(later.map(({ seconds }) => seconds * 1000)),
      laterCpuMs: middle(later.map(({ cpu }) => cpu * 1000)),
      endMs: end.seconds * 1000,
    };
  },

  /** From the call of `startLab` until programs answer. */
  child: async () => {
    const startedMs = performance.now();
    await using lab = await startLab({ nodes, images: IMAGES });
    const cluster = lab.cluster();
    const { seconds } = await timed(async () => {
      await cluster.apply(deployment({ image: 'bench/web', replicas: pods, more: PROBE }));
      await rolledOut(cluster);
    });
    return { podsMs: seconds * 1000, allMs: performance.now() - startedMs };
  },

  memory: async () => {
    await using lab = await startLab({ nodes });
    await lab.settle();
    await sleep(1000);
    globalThis.gc();
    await sleep(1000);
    globalThis.gc();
    const { rss, heapUsed } = process.memoryUsage();
    return { rssBytes: rss, heapBytes: heapUsed };
  },

  /** Simulated containers. */
  pods: async () => {
    await using lab = await startLab({ nodes });
    const cluster = lab.cluster();
    const { seconds, cpu } = await timed(async () => {
      await cluster.apply(deployment({ image: 'bench/simulated', replicas: pods }));
      await rolledOut(cluster);
    });
    return { seconds, cpuSeconds: cpu };
  },

  /** An hour in which nothing happens, on automatic time. */
  hour: async () => {
    await using lab = await startLab({ nodes, clock: 'auto' });
    await lab.clock.advance(60_000);
    const since = lab.mark();
    const { seconds, cpu } = await timed(() => lab.clock.advance(HOUR_MS));
    const writes = lab.writes({ since });
    const beats = writes.filter(({ path }) => /\/(leases\/[^/]+|nodes\/[^/]+\/status)$/.test(path));
    return {
      seconds,
      cpuSeconds: cpu,
      heartbeats: beats.length,
      otherWrites: writes.length - beats.length,
    };
  },

  /** One Deployment from nothing, then in another form; ours, or by kube-controller-manager. */
  rollout: async () => {
    const replace = values.manager === undefined ? {} : { deployment: 'off', replicaset: 'off' };
    await using lab = await startLab({ nodes, replace });
    const cluster = lab.cluster();
    await using parts = new AsyncDisposableStack();
    const others = values.manager === undefined ? [] : [parts.use(startManager(cluster)).pid];
    await cluster.apply(deployment({ image: 'bench/warm-up', replicas: 1, name: 'warm-up' }));
    await rolledOut(cluster, 'warm-up');
    const rollout = async (image) => {
      await cluster.apply(deployment({ image, replicas: pods }));
      await rolledOut(cluster);
    };
    const create = await timed(() => rollout('bench/one'), others);
    const change = await timed(() => rollout('bench/two'), others);
    return {
      createSeconds: create.seconds,
      createCpuSeconds: create.cpu,
      changeSeconds: change.seconds,
      changeCpuSeconds: change.cpu,
    };
  },
};

const [task = ''] = positionals;
const figures = await TASKS[task]();
process.stdout.write(`${JSON.stringify(figures)}\n`);
