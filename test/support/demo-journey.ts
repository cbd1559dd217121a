import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Component } from '../../src/app/components.ts';
import { hostOfProcess, interruptionOfProcess } from '../../src/app/host.ts';
import type { Phase, PhaseContext, PhaseId, PhaseOutcome, PhaseSuccess } from '../../src/app/journey/phase.ts';
import { upVerbOf } from '../../src/app/verbs/up.ts';
import { SystemClock } from '../../src/base/clock.ts';
import { CommandLine } from '../../src/cli/command-line.ts';

/** A journey that looks like the real one will, without doing anything: for goldens, terminals and process hygiene. */
export interface DemoOptions {
  /** This one fails. */
  readonly fails?: PhaseId;
  /** This one throws something unforeseen. */
  readonly throws?: PhaseId;
  /** No component registers these. */
  readonly without?: readonly PhaseId[];
  /** How much faster than real. */
  readonly speed?: number;
  /** The hub leaves a real process running. */
  readonly hasChild?: boolean;
  /** What the hub leaves running does not stop. */
  readonly isStubborn?: boolean;
  /** The definition does not notice that it should stop. */
  readonly isDeaf?: boolean;
  /** Something outside any phase throws while the cluster is installed. */
  readonly crashes?: boolean;
}

const STAGES = [
  'Starting installation',
  'Installing',
  'Writing image to disk',
  'Rebooting',
  'Configuring',
  'Joined',
  'Done',
];
const CONTROL_PLANE = ['cp-0', 'cp-1', 'cp-2'];
const WORKERS = ['w-0', 'w-1'];

export function demoComponents(options: DemoOptions = {}): readonly Component[] {
  const without = new Set(options.without);
  return [{ name: 'demo', phases: demoPhases(options).filter(({ id }) => !without.has(id)) }];
}

function demoPhases(options: DemoOptions): readonly Phase[] {
  const phase = (id: PhaseId, needs: readonly PhaseId[], run: Phase['run']): Phase => ({
    id,
    needs,
    run: (context) => sabotaged(id, context, options, run),
    probes: [
      { predicate: 'the API server answers', ask: async () => ({ isTrue: true }) },
      {
        predicate: 'the cloud answers',
        ask: async () => ({
          isTrue: false,
          evidence: 'provider.instances.describe threw "401 token expired" 14 times (last 0.8 s ago, node w-0)',
          look: ['.slipway/logs/acme-ccm-6d9f.log:212'],
          next: ['npx slipway answer credentials.token --from-env ACME_TOKEN'],
        }),
      },
    ],
  });
  const pause = (context: PhaseContext, ms: number) =>
    context.clock.sleep(ms / (options.speed ?? 1), context.signal);
  const quick = (ms: number, outcome: PhaseSuccess) => async (context: PhaseContext) => {
    await pause(context, ms);
    return outcome;
  };
  return [
    phase('hub', [], (context) => hub(context, options, pause)),
    phase(
      'definition',
      ['hub'],
      quick(200, { health: 'done', detail: 'examples/acme-cloud · 9 of 12 capabilities · lint 0 errors' }),
    ),
    phase('cluster', ['hub'], (context) => {
      if (options.crashes === true) context.clock.timer(200, crash);
      return cluster(context, pause);
    }),
    phase(
      'cloud',
      ['cluster'],
      quick(3800, { health: 'done', detail: '5 nodes initialised, LB web → 10.0.4.7:80 OK' }),
    ),
    phase(
      'storage',
      ['cloud'],
      quick(4100, { health: 'done', detail: 'volume + snapshot, MachineSet 2→3, DNS 4/4' }),
    ),
    phase('hardware', ['cluster'], (context) => hardware(context, pause)),
    phase(
      'onboarding',
      [],
      quick(1400, { health: 'attention', detail: '9 of 15 steps have evidence, 6 next actions' }),
    ),
  ];
}

function crash(): never {
  throw new Error('the demo crashes');
}

type Pause = (context: PhaseContext, ms: number) => Promise<void>;

async function sabotaged(
  id: PhaseId,
  context: PhaseContext,
  options: DemoOptions,
  run: Phase['run'],
): Promise<PhaseOutcome> {
  // A timer keeps the process running, as real work would.
  if (options.isDeaf === true && id === 'definition') await context.clock.sleep(60_000);
  if (options.throws === id)
    throw new TypeError("Cannot read properties of undefined (reading 'secretInternals')");
  if (options.fails !== id) return run(context);
  await context.clock.sleep(30_000 / (options.speed ?? 1), context.signal);
  return {
    health: 'failed',
    detail: 'nodes stayed uninitialised',
    what: '3 of 5 nodes still carry node.cloudprovider.kubernetes.io/uninitialized',
    code: 'SW1201',
  };
}

async function hub(
  context: PhaseContext,
  { hasChild, isStubborn }: DemoOptions,
  pause: Pause,
): Promise<PhaseOutcome> {
  const child = hasChild === true ? spawn('sleep', ['600'], { stdio: 'ignore' }) : undefined;
  if (child !== undefined) writeFileSync(join(context.data, 'hub.pid'), String(child.pid));
  const never = new Promise<void>(() => {});
  context.keep('the hub API server', {
    [Symbol.asyncDispose]: () => (isStubborn === true ? never : ended(child)),
    kill: () => void child?.kill('SIGKILL'),
  });
  await pause(context, 400);
  return {
    health: 'done',
    detail: 'API ready on 127.0.0.1:40123 · 61 kinds',
    addresses: [{ label: 'hub', value: 'export KUBECONFIG=$PWD/.slipway/hub.kubeconfig' }],
    tries: [{ kind: 'command', text: 'kubectl --kubeconfig .slipway/hub.kubeconfig get namespaces' }],
  };
}

async function ended(child: ChildProcess | undefined): Promise<void> {
  if (child === undefined) return;
  const exit = once(child, 'exit');
  child.kill();
  await exit;
}

async function cluster(context: PhaseContext, pause: Pause): Promise<PhaseOutcome> {
  const word = 'OpenshiftAssistedControlPlane acme-lab';
  context.progress('acme-lab · 3 control plane + 2 workers');
  context.row({ path: ['control plane'], health: 'working', word, note: '0/3 ready' });
  context.row({
    path: ['workers'],
    health: 'waiting',
    word: 'MachineDeployment acme-lab-workers',
    note: '0/2 ready',
  });
  const waiting = 'known, waiting for control plane';
  for (const host of WORKERS) context.row({ path: ['workers', host], health: 'waiting', word: waiting });
  await Promise.all(
    CONTROL_PLANE.map((host, at) => install(context, ['control plane', host], pause, 700 + at * 150)),
  );
  context.row({ path: ['control plane'], health: 'done', word, note: '3/3 ready' });
  context.waitingFor('2 of 2 workers Ready');
  await Promise.all(WORKERS.map((host, at) => install(context, ['workers', host], pause, 400 + at * 100)));
  context.keep('cluster acme-lab', { [Symbol.asyncDispose]: async () => {} });
  return {
    health: 'done',
    detail: '5 of 5 hosts, OpenShift 4.20.3',
    addresses: [{ label: 'cluster', value: 'export KUBECONFIG=$PWD/.slipway/acme-lab.kubeconfig' }],
    tries: [
      { kind: 'command', text: 'kubectl --kubeconfig .slipway/acme-lab.kubeconfig get nodes -o wide' },
      {
        kind: 'hint',
        text: 'edit examples/acme-cloud/provider.ts, remove `volumes`, and watch step 7 of the board change',
      },
    ],
  };
}

async function install(
  context: PhaseContext,
  path: readonly string[],
  pause: Pause,
  stageMs: number,
): Promise<void> {
  for (const [at, word] of STAGES.entries()) {
    const percent = Math.round((at / (STAGES.length - 1)) * 100);
    const health = percent === 100 ? 'done' : 'working';
    const note = path.at(-1) === 'cp-2' && health === 'working' ? { note: 'bootstrap' } : {};
    context.row({ path, health, word, percent, ...note });
    if (health === 'working') await pause(context, stageMs);
  }
}

async function hardware(context: PhaseContext, pause: Pause): Promise<PhaseOutcome> {
  context.row({ path: ['w-0'], health: 'working', word: 'loading module acme_npu', simulated: true });
  await pause(context, 1600);
  context.row({ path: ['w-0'], health: 'done', word: 'module load recorded', simulated: true });
  return { health: 'done', detail: '2 devices, module load recorded~, pod got 1 of 1' };
}

/** The real program with other components: the options of the demo as one JSON argument, then the usual words. */
if (import.meta.main) {
  const { argv, ...host } = hostOfProcess();
  const [options = '{}', ...words] = argv;
  const verb = upVerbOf(async () => demoComponents(JSON.parse(options)));
  await new CommandLine({ ...host, argv: words }, [verb], interruptionOfProcess(new SystemClock())).run();
}
