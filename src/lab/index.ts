/** The lab, for tests and for `slipway up`: one machine that behaves like a cluster and a cloud. */
export type { IdleOptions, LabClock } from './clock/lab-clock.ts';
export type { LabCluster, LabNode } from './cluster/lab-cluster.ts';
export type { CrashOptions } from './crash/crashes.ts';
export { type Metal, startMetal } from './metal/start-metal.ts';
export { describeOpenShift, type OpenShiftFacts } from './metal/workload/openshift-objects.ts';
export type { ImageCatalogue } from './node/runtime/image-catalogue.ts';
export type { InProcessProgram } from './node/runtime/in-process-program.ts';
export type { ClusterSetup, LabOptions } from './setup/lab-options.ts';
export { inspectMachine, type MachineReport } from './setup/machine-report.ts';
export { parseScenario } from './setup/scenario.ts';
export { type Lab, startLab } from './start-lab.ts';
