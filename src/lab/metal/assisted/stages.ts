/** What a host goes through while it is installed, in the words of assisted-service. */
export const STAGES = [
  'Starting installation',
  'Installing',
  'Writing image to disk',
  'Copying registry data to disk',
  'Waiting for control plane',
  'Waiting for bootkube',
  'Waiting for controller',
  'Rebooting',
  'Waiting for ignition',
  'Configuring',
  'Joined',
  'Done',
] as const;
export type Stage = (typeof STAGES)[number];

export type HostPart = 'bootstrap' | 'master' | 'worker';

const WORKER_STAGES: readonly Stage[] = [
  'Starting installation',
  'Installing',
  'Writing image to disk',
  'Waiting for control plane',
  'Rebooting',
  'Waiting for ignition',
  'Configuring',
  'Joined',
  'Done',
];
const MASTER_STAGES: readonly Stage[] = [
  'Starting installation',
  'Installing',
  'Writing image to disk',
  'Copying registry data to disk',
  'Rebooting',
  'Configuring',
  'Joined',
  'Done',
];
const BOOTSTRAP_STAGES: readonly Stage[] = [
  'Starting installation',
  'Installing',
  'Writing image to disk',
  'Copying registry data to disk',
  'Waiting for control plane',
  'Waiting for bootkube',
  'Waiting for controller',
  'Rebooting',
  'Configuring',
  'Joined',
  'Done',
];

/** In their order (spec section 7). */
export const stagesOf = (part: HostPart): readonly Stage[] =>
  part === 'worker' ? WORKER_STAGES : part === 'master' ? MASTER_STAGES : BOOTSTRAP_STAGES;

/** At a usual pace. Those that wait for others are over when the others are. */
export const STAGE_MS: Readonly<Record<Stage, number>> = {
  'Starting installation': 10_000,
  Installing: 20_000,
  'Writing image to disk': 120_000,
  'Copying registry data to disk': 10_000,
  'Waiting for control plane': 10_000,
  'Waiting for bootkube': 120_000,
  'Waiting for controller': 60_000,
  Rebooting: 180_000,
  'Waiting for ignition': 30_000,
  Configuring: 60_000,
  Joined: 30_000,
  Done: 0,
};

export const percentageOf = (part: HostPart, stage: Stage): number => {
  const stages = stagesOf(part);
  return Math.round((100 * (stages.indexOf(stage) + 1)) / stages.length);
};

export const isStage = (text: string | undefined): text is Stage =>
  (STAGES as readonly string[]).includes(text ?? '');

/** Undefined after the last one. */
export function stageAfter(part: HostPart, stage: Stage): Stage | undefined {
  const stages = stagesOf(part);
  return stages[stages.indexOf(stage) + 1];
}
