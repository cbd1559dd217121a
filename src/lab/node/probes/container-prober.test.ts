import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, it } from 'node:test';
import type { Container, Pod, Probe } from '../../../api/generated/core-v1-types.ts';
import { SystemClock, VirtualClock } from '../../../base/clock.ts';
import { Activity } from '../../../kube/quiet/activity.ts';
import { VirtualTime } from '../../../kube/quiet/virtual-time.ts';
import type { ExecResult } from '../../process/process-host.ts';
import type { ContainerExit, RunningContainer } from '../runtime/container-runtime.ts';
import { createProber } from './container-prober.ts';
import type { ProbeEvents } from './prober.ts';

const START = new Date('2030-01-01T00:00:00Z');
const OK: ExecResult = { exitCode: 0, output: 'ok', isTimedOut: false };
const BAD: ExecResult = { exitCode: 1, output: 'bad', isTimedOut: false };

interface Setup {
  readonly container?: Partial<Container>;
  readonly spec?: Partial<Pod['spec']>;
  /** What a command answers; the first word of the command tells which probe asks. */
  readonly answer?: (probe: string) => ExecResult | Promise<ExecResult>;
  readonly run?: Partial<RunningContainer>;
}

/** One container on virtual time; whatever is told is written down with the second of lab time. */
function probing({ container, spec, answer = () => OK, run }: Setup) {
  const clock = new VirtualClock({ start: START });
  const activity = new Activity();
  const time = new VirtualTime({ clock, activity, isBusy: () => false });
  const told: string[] = [];
  const asked: string[] = [];
  const note = (what: string) => void told.push(`${clock.monotonicMs() / 1000}: ${what}`);
  const exit = Promise.withResolvers<ContainerExit>();
  const startProbes = createProber({
    clock: Object.assign(clock, { hold: (reason: string) => activity.hold(reason) }),
    real: new SystemClock(),
    version: '1.36',
    nodeWire: '127.79.1.1',
    plan: {
      mode: 'loopback',
      owns: () => true,
      target: (to) => ({ ...to, host: to.host.replace(/^10\./, '127.') }),
    },
  });
  const events: ProbeEvents = {
    changed: () => note(`changed ${shown()}`),
    mustRestart: (message, grace) => note(`restart (${grace ?? 'pod'}): ${message}`),
    unhealthy: (message) => note(message),
    warned: (message) => note(message),
  };
  const probes = startProbes(
    {
      pod: {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name: 'p' },
        spec: { containers: [], ...spec },
        status: { podIP: '10.79.32.5' },
      },
      container: { name: 'c', ...container },
      run: {
        id: 'slipway://1',
        isSimulated: false,
        startedAt: START,
        exited: exit.promise,
        stop: () => exit.promise,
        execute: async ([probe = '']) => {
          asked.push(`${clock.monotonicMs() / 1000}: ${probe}`);
          await new Promise((resolve) => setImmediate(resolve));
          return answer(probe);
        },
        ...run,
      },
      wire: '127.79.32.5',
    },
    events,
  );
  const shown = () => `${probes.state.isStarted ? 'started' : '-'} ${probes.state.isReady ? 'ready' : '-'}`;
  const ended: ContainerExit = { exitCode: 0, reason: 'Completed', startedAt: START, finishedAt: START };
  return {
    probes,
    told,
    asked,
    shown,
    activity,
    advance: (seconds: number) => time.advance(seconds * 1000),
    exit: () => exit.resolve(ended),
  };
}

const by = (name: string, probe: Probe = {}): Probe => ({ exec: { command: [name] }, ...probe });

describe('createProber', () => {
  it('lab/N19: a container without probes is started and ready at once', async () => {
    const { shown, asked, advance } = probing({});
    assert.equal(shown(), 'started ready');
    await advance(60);
    assert.deepEqual(asked, []);
  });

  it('lab/N19: is not ready until its readiness probe succeeds, and looks every 10 s', async () => {
    let isUp = false;
    const { shown, told, asked, advance } = probing({
      container: { readinessProbe: by('ready') },
      answer: () => (isUp ? OK : BAD),
    });
    assert.equal(shown(), 'started -');
    await advance(20);
    isUp = true;
    await advance(20);
    assert.equal(shown(), 'started ready');
    assert.deepEqual(asked, ['10: ready', '20: ready', '30: ready', '40: ready']);
    assert.deepEqual(told, [
      '10: Readiness probe failed: bad',
      '20: Readiness probe failed: bad',
      '30: changed started ready',
    ]);
  });

  it('lab/N19: the initial delay counts from the start of the container', async () => {
    const livenessProbe = by('alive', { initialDelaySeconds: 25, periodSeconds: 10 });
    const { asked, advance } = probing({ container: { livenessProbe } });
    await advance(40);
    assert.deepEqual(asked, ['30: alive', '40: alive']);
  });

  it('lab/N19: the others are off until the startup probe succeeds, which is then over', async () => {
    let isUp = false;
    const { shown, told, asked, advance } = probing({
      container: {
        startupProbe: by('start', { periodSeconds: 5, failureThreshold: 30 }),
        livenessProbe: by('alive'),
        readinessProbe: by('ready'),
      },
      answer: (probe) => (probe === 'start' && !isUp ? BAD : OK),
    });
    assert.equal(shown(), '- -');
    await advance(10);
    assert.deepEqual(asked, ['5: start', '10: start']);
    isUp = true;
    await advance(20);
    assert.deepEqual(asked.slice(2), ['15: start', '20: alive', '20: ready', '30: alive', '30: ready']);
    assert.deepEqual(told.slice(2), ['15: changed started -', '20: changed started ready']);
  });

  it('lab/N20: readiness changes after the threshold of equal results, in both directions', async () => {
    const answers = [OK, BAD, BAD, OK, BAD, BAD, BAD, OK, OK];
    const readinessProbe = by('ready', { periodSeconds: 1, successThreshold: 2 });
    const { told, advance } = probing({
      container: { readinessProbe },
      answer: () => answers.shift() ?? OK,
    });
    await advance(12);
    assert.deepEqual(
      told.filter((line) => line.includes('changed')),
      ['9: changed started ready'],
    );
  });

  it('lab/N20: a ready container is unready after three failures, not before', async () => {
    const answers = [OK, BAD, BAD, BAD];
    const { told, advance } = probing({
      container: { readinessProbe: by('ready', { periodSeconds: 1 }) },
      answer: () => answers.shift() ?? BAD,
    });
    await advance(5);
    assert.deepEqual(
      told.filter((line) => line.includes('changed')),
      ['1: changed started ready', '4: changed started -'],
    );
  });

  it('lab/N20: a container that is not alive must be restarted, once, and is left alone then', async () => {
    const { told, asked, advance } = probing({
      container: { livenessProbe: by('alive', { terminationGracePeriodSeconds: 7 }) },
      answer: () => BAD,
    });
    await advance(120);
    assert.deepEqual(asked, ['10: alive', '20: alive', '30: alive']);
    assert.deepEqual(told, [
      '10: Liveness probe failed: bad',
      '20: Liveness probe failed: bad',
      '30: Liveness probe failed: bad',
      '30: restart (7): Container c failed liveness probe, will be restarted',
    ]);
  });

  it('lab/N22: so must one that does not start; the grace is that of the pod unless the probe has one', async () => {
    const { told, advance } = probing({
      container: { startupProbe: by('start', { failureThreshold: 1 }) },
      answer: () => BAD,
    });
    await advance(60);
    assert.deepEqual(told, [
      '10: Startup probe failed: bad',
      '10: restart (pod): Container c failed startup probe, will be restarted',
    ]);
  });

  it('lab/N22: promises no restart where there will be none', async () => {
    const container = { livenessProbe: by('alive', { failureThreshold: 1 }) };
    const never = probing({ container, spec: { restartPolicy: 'Never' }, answer: () => BAD });
    await never.advance(10);
    assert.equal(never.told.at(-1), '10: restart (pod): Container c failed liveness probe');
    const sidecar = { ...container, restartPolicy: 'Always' };
    const always = probing({ container: sidecar, spec: { restartPolicy: 'Never' }, answer: () => BAD });
    await always.advance(10);
    assert.equal(always.told.at(-1), '10: restart (pod): Container c failed liveness probe, will be restarted');
  });

  it('lab/N20: a nudge looks at readiness at once, and the next tick is a period later', async () => {
    const { probes, asked, shown, advance } = probing({ container: { readinessProbe: by('ready') } });
    await advance(3);
    probes.nudge();
    await advance(1);
    assert.equal(shown(), 'started ready');
    probes.nudge();
    await advance(10);
    assert.deepEqual(asked, ['3: ready', '13: ready'], 'a ready container needs no extra look');
  });

  it('lab/N20: a nudge does nothing before the container has started, nor within the initial delay', async () => {
    const startupProbe = by('start');
    const early = probing({ container: { startupProbe, readinessProbe: by('ready') }, answer: () => BAD });
    early.probes.nudge();
    const delayed = probing({ container: { readinessProbe: by('ready', { initialDelaySeconds: 5 }) } });
    delayed.probes.nudge();
    await early.advance(1);
    await delayed.advance(1);
    assert.deepEqual([early.asked, delayed.asked], [[], []]);
  });

  it('lab/N20: nudges while one is under way make one more, not many', async () => {
    const { promise, resolve } = Promise.withResolvers<ExecResult>();
    const answers = [promise, BAD];
    const { probes, asked, activity } = probing({
      container: { readinessProbe: by('ready') },
      answer: () => answers.shift() ?? BAD,
    });
    for (let count = 0; count < 5; count++) probes.nudge();
    assert.deepEqual(
      activity.holds.map(({ reason }) => reason),
      ['readiness probe of p/c'],
      'lab time stands still meanwhile',
    );
    resolve(BAD);
    while (activity.holds.length > 0) await new Promise((done) => setImmediate(done));
    assert.deepEqual(asked, ['0: ready', '0: ready']);
  });

  it('lab/N20: a container that has ended is neither started nor ready, and is not probed', async () => {
    const { told, shown, exit, asked, advance } = probing({ container: { readinessProbe: by('ready') } });
    await advance(10);
    exit();
    await advance(60);
    assert.equal(shown(), '- -');
    assert.deepEqual(told, ['10: changed started ready', '10: changed - -']);
    assert.deepEqual(asked, ['10: ready']);
  });

  it('lab/N14: only readiness goes on in a pod that is being deleted', async () => {
    const { probes, asked, told, advance } = probing({
      container: { livenessProbe: by('alive'), readinessProbe: by('ready') },
      answer: () => BAD,
    });
    probes.terminating();
    await advance(40);
    assert.deepEqual(asked, ['10: ready', '20: ready', '30: ready', '40: ready']);
    assert.ok(told.every((line) => line.endsWith('Readiness probe failed: bad')));
  });

  it('tells nothing after it is disposed, whatever was under way', async () => {
    const { promise, resolve } = Promise.withResolvers<ExecResult>();
    const { probes, told, exit, activity, advance } = probing({
      container: { livenessProbe: by('alive', { failureThreshold: 1 }), readinessProbe: by('ready') },
      answer: () => promise,
    });
    probes.nudge();
    probes[Symbol.dispose]();
    resolve(BAD);
    while (activity.holds.length > 0) await new Promise((done) => setImmediate(done));
    exit();
    await advance(60);
    assert.deepEqual(told, []);
  });

  it('lab/N22: a probe that cannot be made is tried three times, and then ignored', async () => {
    const { told, asked, shown, advance } = probing({
      container: { livenessProbe: by('alive', { failureThreshold: 1 }) },
      answer: () => Promise.reject(new Error('no such shell')),
    });
    await advance(20);
    assert.equal(asked.length, 6);
    assert.equal(shown(), 'started ready');
    const message = 'Liveness probe errored and resulted in unknown state: no such shell';
    assert.deepEqual(told, [`10: ${message}`, `20: ${message}`]);
  });

  it('lab/N22: what succeeds at another try counts', async () => {
    let tries = 0;
    const { told, advance } = probing({
      container: { readinessProbe: by('ready') },
      answer: () => (++tries < 3 ? Promise.reject(new Error('busy')) : OK),
    });
    await advance(10);
    assert.deepEqual(told, ['10: changed started ready']);
  });

  it('lab/N23, T6: time between probes is lab time, and it waits for a program that answers in real time', async () => {
    let requests = 0;
    const server = createServer((_request, answer) => {
      requests++;
      setImmediate(() => answer.writeHead(requests === 2 ? 302 : 200, { location: 'http://elsewhere/' }).end('x'));
    });
    server.listen(0, '127.79.32.5');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const { told, advance } = probing({ container: { readinessProbe: { httpGet: { port } } } });
    await advance(1200);
    assert.equal(requests, 120);
    assert.deepEqual(told, [
      '10: changed started ready',
      '20: Readiness probe warning: Probe terminated redirects, Response body: x',
    ]);
    server.close();
    await once(server, 'close');
  });

  const noProbes = {
    container: { livenessProbe: by('alive'), readinessProbe: by('ready'), startupProbe: by('start') },
  };

  it('lab/N23: a simulated container is not probed: it is ready at once', async () => {
    const { shown, asked, probes, advance } = probing({ ...noProbes, run: { isSimulated: true } });
    assert.equal(shown(), 'started ready');
    probes.nudge();
    probes.terminating();
    await advance(60);
    assert.deepEqual(asked, []);
  });

  it('lab/N23: or when it says so, and no longer when it has ended', async () => {
    const simulatedReadyAt = new Date(START.getTime() + 2000);
    const { shown, told, exit, advance } = probing({ ...noProbes, run: { isSimulated: true, simulatedReadyAt } });
    assert.equal(shown(), 'started -');
    await advance(5);
    exit();
    await advance(1);
    assert.deepEqual(told, ['2: changed started ready', '5: changed - -']);
  });

  it('lab/N23: a simulated container that ends before it is ready never becomes so', async () => {
    const simulatedReadyAt = new Date(START.getTime() + 20_000);
    const { told, exit, advance } = probing({ run: { isSimulated: true, simulatedReadyAt } });
    exit();
    await advance(60);
    assert.deepEqual(told, ['0: changed - -']);
  });
});
